package metal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/models"
)

// TuneSize is one product that candidates are timed on.
type TuneSize struct{ Rows, Depth, Outputs int }

// TuneSizes are what the autotuner times by default: the products of a 9B layer with
// the row counts of short suffixes, usual prompts and full blocks.
func TuneSizes() (list []TuneSize) {
	for _, rows := range []int{8, 32, 64, 128, 256, 512, 1024} {
		list = append(list, TuneSize{rows, 4096, 12288}, TuneSize{rows, 4096, 4096})
	}
	return list
}

// Timing is what one candidate needed.
type Timing struct {
	TuneSize
	Rule  Rule
	Took  time.Duration // best of a few runs, as the GPU says
	Wrong string        // why it is never used, "" if it may be
}

// tuneRuns is how often each candidate is timed.
const tuneRuns = 3

// Tune times every way to compute a product on every size, in turn, and returns the best
// table. What gives wrong numbers is left out, whatever its speed.
func Tune(ctx context.Context, dev gpu.Device, sizes []TuneSize) (*Table, []Timing, error) {
	var all []Timing
	for _, s := range sizes {
		timings, err := timeSize(ctx, dev, s)
		if err != nil {
			return nil, nil, fmt.Errorf("tune the GPU: %w", err)
		}
		all = append(all, timings...)
	}
	return best(all), all, nil
}

// timeSize times the candidates on one size.
func timeSize(ctx context.Context, dev gpu.Device, s TuneSize) ([]Timing, error) {
	rules := candidates(dev.Info(), s.Rows)
	timings := make([]Timing, len(rules))
	for i, r := range rules {
		timings[i] = Timing{TuneSize: s, Rule: r}
	}
	for range tuneRuns {
		// The reference, which also warms the clocks.
		want, _, err := timeRule(ctx, dev, s, Rule{Tile: tileTall})
		if err != nil {
			return nil, err
		}
		tensor := want
		for i := range timings {
			t := &timings[i]
			if t.Wrong != "" {
				continue // what failed once is not asked again
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			got, took, err := timeRule(ctx, dev, s, t.Rule)
			if err != nil {
				t.Wrong = err.Error()
				continue
			}
			if t.Rule.Unit == TensorUnits && t.Rule.Tile == tensorTall {
				tensor = got
			}
			t.Wrong = wrong(t.Rule, got, want, tensor)
			if t.Took == 0 || took < t.Took {
				t.Took = took
			}
		}
	}
	return timings, nil
}

// wrong compares a candidate's numbers with the reference, "" if they are right. Tiles of
// one unit have the same bits; units differ in their last bits.
func wrong(r Rule, got, want, tensor []float32) string {
	switch {
	case r.Unit == Simdgroups && !sameBits(got, want):
		return "other bits than the reference tile"
	case differ(got, want) > unitError:
		return fmt.Sprintf("differs from the reference by %.1e", differ(got, want))
	case r.Unit == TensorUnits && !sameBits(got, tensor):
		return "other bits than the reference tile of tensor units"
	}
	return ""
}

// timeRule multiplies once by a rule and says what came out and how long the GPU took.
func timeRule(ctx context.Context, dev gpu.Device, s TuneSize, r Rule) ([]float32, time.Duration, error) {
	r.Rows = 1 << 30
	b, err := New(keepOpen{dev}, Options{Table: &Table{Rules: []Rule{r}}})
	if err != nil {
		return nil, 0, err
	}
	defer b.Close() //nolint:errcheck // the device stays open
	w, err := b.Load(tuneWeight(s), backend.Matrix)
	if err != nil {
		return nil, 0, err
	}
	b.Begin(ctx)
	x, y := b.New(s.Rows, s.Depth, backend.Exact), b.New(s.Rows, s.Outputs, backend.Exact)
	values := make([]float32, s.Rows*s.Depth)
	for i := range values {
		values[i] = float32(i*7919%65536-32768) / 32768 // more bits than a half or bfloat has
	}
	b.Write(x, values)
	b.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
	got := make([]float32, s.Rows*s.Outputs)
	if err := b.Read(got, y); err != nil {
		return nil, 0, err
	}
	if r.Unit == TensorUnits && b.noTensor != nil {
		return nil, 0, b.noTensor
	}
	return got, b.rec.gpu, nil
}

// tuneWeight is the 4-bit matrix that candidates multiply by.
func tuneWeight(s TuneSize) models.Tensor {
	codes := make([]byte, s.Outputs*s.Depth/2)
	for i := range codes {
		codes[i] = byte(i * 131)
	}
	same := func(name string, v uint16) models.Tensor {
		data := make([]byte, s.Outputs*s.Depth/64*2)
		for i := 0; i < len(data); i += 2 {
			data[i], data[i+1] = byte(v), byte(v>>8)
		}
		return models.Tensor{Name: name, DType: models.BF16, Shape: []int{s.Outputs, s.Depth / 64}, Data: data}
	}
	const scale, bias = 0x3c00, 0xbd80 // 2^-7 and -2^-4
	return models.Tensor{
		Name: "tuned", DType: models.U32, Shape: []int{s.Outputs, s.Depth}, Data: codes,
		Quant: &models.Quant{Bits: 4, Group: 64, Scales: same("scales", scale), Biases: same("biases", bias)},
	}
}

// keepOpen is a device that its backend does not close.
type keepOpen struct{ gpu.Device }

// Close does nothing.
func (keepOpen) Close() error { return nil }

// best makes a table of timings: for each number of rows the way with the least total.
// Tensor units serve all products or none, because a row's bits would otherwise depend on
// how many rows are computed with it.
func best(all []Timing) *Table {
	var rows []int
	for _, t := range all {
		if !slices.Contains(rows, t.Rows) {
			rows = append(rows, t.Rows)
		}
	}
	slices.Sort(rows)
	plain, took := fastest(all, rows, func(r Rule) bool { return r.Unit != TensorUnits })
	tensor, least := fastest(all, rows, func(r Rule) bool { return r.Unit == TensorUnits })
	if tensor != nil && least < took {
		return tensor
	}
	return plain
}

// fastest chooses among the allowed rules for each number of rows, and says how long all
// sizes take then. It returns nil if nothing allowed is left for some rows.
func fastest(all []Timing, rows []int, allowed func(Rule) bool) (*Table, time.Duration) {
	type key struct {
		rows int
		rule Rule
	}
	total, bad := map[key]time.Duration{}, map[Rule]bool{}
	var order []Rule
	for _, t := range all {
		if !allowed(t.Rule) {
			continue
		}
		if !slices.Contains(order, t.Rule) {
			order = append(order, t.Rule)
		}
		total[key{t.Rows, t.Rule}] += t.Took
		bad[t.Rule] = bad[t.Rule] || t.Wrong != ""
	}
	table, sum := &Table{}, time.Duration(0)
	for i, n := range rows {
		choice, least := Rule{}, time.Duration(-1)
		for _, r := range order {
			if took, timed := total[key{n, r}]; timed && !bad[r] && (least < 0 || took < least) {
				choice, least = r, took
			}
		}
		if least < 0 {
			return nil, 0
		}
		choice.Rows = 1 << 30
		if i+1 < len(rows) {
			choice.Rows = (n + rows[i+1]) / 2
		}
		table.Rules, sum = append(table.Rules, choice), sum+least
	}
	return table, sum
}
