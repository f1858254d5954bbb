package metal

import (
	"context"
	"math"
	"os"
	"slices"
	"testing"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/engine/goldentest"
	"clefbar/engine/local"
	"clefbar/metal/emu"
)

// probTolerance is for fp16 operands against the float32 oracle.
const probTolerance = 2e-3

// everyCase in the environment runs all golden cases, not only the short ones.
const everyCase = "CLEFBAR_EMU_ALL"

// quick are the golden cases of the normal suite; together they have every kind of question.
var quick = []string{"short", "kitchen", "empty_state", "same_options"}

// emulator is the device for local.Open.
func emulator(o emu.DeviceOptions) local.Device {
	return local.Device{Name: "emu", Open: func(string) (backend.Backend, error) {
		dev, err := emu.NewDevice(o)
		if err != nil {
			return nil, err
		}
		return New(dev, Options{})
	}}
}

func openGolden(t *testing.T, dir string, o emu.DeviceOptions) *local.Model {
	t.Helper()
	if err := emu.Available(); err != nil {
		t.Skip(err)
	}
	m, err := local.Open(context.Background(), goldentest.Path(t, dir), local.Options{Device: emulator(o)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return m
}

func request(t *testing.T, c goldentest.Case) *engine.Request {
	t.Helper()
	r, err := engine.ParseRequest(c.Request, engine.Limits{KeepNullSides: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGoldenRequests runs golden requests through the emulator, from JSON to probabilities.
func TestGoldenRequests(t *testing.T) {
	cases := goldentest.Cases(t)
	for _, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-8bit", "tiny-9b-shape-mlx-4bit", "tiny-27b-shape-mlx-4bit"} {
		expected := goldentest.Results(t, dir)
		m := openGolden(t, dir, emu.DeviceOptions{})
		for _, name := range goldentest.Names(cases, expected) {
			if name == "json_state" || os.Getenv(everyCase) == "" && !slices.Contains(quick, name) {
				continue // our parser refuses json_state by rule
			}
			t.Run(dir+"/"+name, func(t *testing.T) {
				got, err := m.Decide(context.Background(), request(t, cases[name]))
				if err != nil {
					t.Fatal(err)
				}
				if got.Usage.InputTokens != len(cases[name].IDs) {
					t.Errorf("got %d tokens, want %d", got.Usage.InputTokens, len(cases[name].IDs))
				}
				worst := 0.0
				for i, q := range cases[name].Questions {
					worst = max(worst, farthest(t, got.Answers[i], q, expected[name].Probs[i]))
				}
				if worst > probTolerance {
					t.Errorf("probabilities differ by %g, want at most %g", worst, probTolerance)
				}
				t.Logf("%d tokens, probabilities differ by %.1e, %v", got.Usage.InputTokens, worst, got.Timing.Total)
			})
		}
	}
}

// farthest compares an answer, in request order, with probabilities in prompt order.
func farthest(t *testing.T, a engine.Answer, q goldentest.Question, want []float64) (worst float64) {
	t.Helper()
	for k, name := range q.OptionIDs {
		i := slices.Index(a.Options, name)
		if i < 0 {
			t.Fatalf("%s: option %q has no answer", q.ID, name)
		}
		worst = max(worst, math.Abs(a.Raw[i]-want[k]))
	}
	return worst
}
