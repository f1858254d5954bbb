// Package goldentest reads the golden data for tests: recorded results of the
// reference on synthetic weights, with the tolerances of its README.
package goldentest

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clefbar/engine"
)

// The absolute tolerances of a float32 engine (README of the golden data). They are
// never widened to make a result pass.
const (
	RowTolerance   = 1e-3
	LogitTolerance = 5e-4
	ProbTolerance  = 1e-4
)

// Path returns the path of a golden file, from any package's folder.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "engine", "testdata", "golden", name)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// Load decodes a golden JSON file.
func Load[T any](t testing.TB, name string) T {
	t.Helper()
	data, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// Case is one request of cases.json or vision_cases.json with its tokens.
type Case struct {
	Request   json.RawMessage `json:"request"`
	IDs       []int32         `json:"input_ids"`
	Questions []Question      `json:"questions"`
}

// Question locates one question. Options are in prompt order.
type Question struct {
	ID        string   `json:"id"`
	Type      int      `json:"type"`
	Span      [2]int   `json:"span"`
	Options   [][2]int `json:"options"`
	OptionIDs []string `json:"option_ids"`
}

// Spans returns the questions as the head takes them.
func (c Case) Spans() []engine.QuestionSpans {
	var out []engine.QuestionSpans
	for _, q := range c.Questions {
		s := engine.QuestionSpans{ID: q.ID, Kind: engine.Kind(q.Type), Field: engine.Span{From: q.Span[0], To: q.Span[1]}}
		for i, o := range q.Options {
			name := ""
			if i < len(q.OptionIDs) {
				name = q.OptionIDs[i]
			}
			s.Options = append(s.Options, engine.OptionSpan{Name: name, Span: engine.Span{From: o[0], To: o[1]}})
		}
		out = append(out, s)
	}
	return out
}

// Cases returns the nine text cases.
func Cases(t testing.TB) map[string]Case { return Load[map[string]Case](t, "cases.json") }

// Expected holds what the reference computes for one case.
type Expected struct {
	Stats     map[string]json.RawMessage `json:"stats"`
	LastRow   []float32                  `json:"hidden_last_row"`
	Logits    [][]float32                `json:"logits"`
	Probs     [][]float64                `json:"probs"`
	Positions [][]int32                  `json:"position_ids"`
}

// Stat summarises one probe: a few rows, and means over all of it.
type Stat struct {
	Shape   []int                `json:"shape"`
	Mean    float64              `json:"mean"`
	AbsMean float64              `json:"absmean"`
	Rows    map[string][]float64 `json:"rows"`
}

// Results returns the expected results of a checkpoint by case.
func Results(t testing.TB, checkpoint string) map[string]Expected {
	return Load[map[string]Expected](t, "expected/"+checkpoint+".json")
}

// Names returns the sorted names of cases that are expected, shortest first.
func Names(cases map[string]Case, expected map[string]Expected) []string {
	var names []string
	for n := range expected {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := len(cases[a].IDs) - len(cases[b].IDs); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// Stat returns the summary of a probe and whether it was recorded.
func (e Expected) Stat(t testing.TB, probe string) (Stat, bool) {
	t.Helper()
	raw, ok := e.Stats[probe]
	if !ok {
		return Stat{}, false
	}
	var s Stat
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("probe %s: %v", probe, err)
	}
	return s, true
}

// Check compares a matrix of rows of the given width with a probe.
func (s Stat) Check(t testing.TB, probe string, got []float32) {
	t.Helper()
	width := s.Shape[len(s.Shape)-1]
	size := width
	for _, d := range s.Shape[:len(s.Shape)-1] {
		size *= d
	}
	if len(got) != size {
		t.Errorf("%s: got %d numbers, want shape %v", probe, len(got), s.Shape)
		return
	}
	var sum, abs float64
	for _, v := range got {
		sum += float64(v)
		abs += math.Abs(float64(v))
	}
	near(t, probe+" mean", sum/float64(size), s.Mean, RowTolerance)
	near(t, probe+" mean of absolutes", abs/float64(size), s.AbsMean, RowTolerance)
	for key, want := range s.Rows {
		var row int
		if err := json.Unmarshal([]byte(key), &row); err != nil {
			t.Fatalf("%s: row %q", probe, key)
		}
		for c, w := range want {
			if !near(t, probe+" row "+key, float64(got[row*width+c]), w, RowTolerance) {
				break
			}
		}
	}
}

// CheckLogits compares logits and their softmax with the reference's.
func (e Expected) CheckLogits(t testing.TB, got [][]float32) {
	t.Helper()
	if len(got) != len(e.Logits) {
		t.Errorf("got logits for %d questions, want %d", len(got), len(e.Logits))
		return
	}
	for i, row := range e.Logits {
		if len(got[i]) != len(row) {
			t.Errorf("question %d: got %d logits, want %d", i, len(got[i]), len(row))
			continue
		}
		p := Softmax(got[i])
		for k, want := range row {
			near(t, "logit", float64(got[i][k]), float64(want), LogitTolerance)
			if e.Probs != nil {
				near(t, "probability", p[k], e.Probs[i][k], ProbTolerance)
			}
		}
	}
}

// Softmax returns the probabilities of logits.
func Softmax(logits []float32) []float64 {
	top := slices.Max(logits)
	out := make([]float64, len(logits))
	var sum float64
	for i, l := range logits {
		out[i] = math.Exp(float64(l - top))
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func near(t testing.TB, what string, got, want, tolerance float64) bool {
	t.Helper()
	if d := math.Abs(got - want); !(d <= tolerance) {
		t.Errorf("%s: got %v, want %v (off by %.2g, allowed %.0e)", what, got, want, d, tolerance)
		return false
	}
	return true
}
