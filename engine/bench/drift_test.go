package bench_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"clefbar/engine"
	"clefbar/engine/cpu"
	"clefbar/engine/goldentest"
	"clefbar/engine/local"
	"clefbar/models/etude"
)

// records is how many requests the drift is measured on.
const records = 60

// domain is one file of the practice model's corpus: a state is a list whose first element is
// the state itself.
type domain struct {
	Questions []struct {
		Type         string
		Instructions []string
		Options      json.RawMessage
	}
	States [][]json.RawMessage
}

// requests makes the records: states of every domain in turn, each with the domain's first choice
// and a noul.
func requests(t *testing.T) (out []*engine.Request) {
	t.Helper()
	dir := filepath.Dir(goldentest.Path(t, "")) // engine/testdata
	files, err := filepath.Glob(filepath.Join(dir, "..", "..", "models", "etude", "data", "corpus", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the corpus of the practice model is not here")
	}
	for i := 0; len(out) < records; i++ {
		var d domain
		data, err := os.ReadFile(files[i%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatalf("%s: %v", files[i%len(files)], err)
		}
		out = append(out, d.request(t, i))
	}
	return out
}

func (d domain) request(t *testing.T, i int) *engine.Request {
	t.Helper()
	questions := map[string]any{"sure": map[string]any{"type": "noul", "instructions": "Is this urgent?"}}
	for _, q := range d.Questions {
		var options map[string]struct{ Descriptions []string }
		if q.Type != "choice" || json.Unmarshal(q.Options, &options) != nil {
			continue
		}
		criteria := map[string]string{}
		for name, o := range options {
			criteria[name] = o.Descriptions[0]
		}
		questions["pick"] = map[string]any{"type": "choice", "instructions": q.Instructions[0], "criteria": criteria}
		break
	}
	body, err := json.Marshal(map[string]any{"state": d.States[7*i%len(d.States)][0], "questions": questions})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.ParseRequest(body, engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEtudeDrift measures how far the faster precisions move the practice model's probabilities
// from the float32 ones. The bound is the golden data's for engines that are not float32.
func TestEtudeDrift(t *testing.T) {
	list := requests(t)
	exact := answers(t, cpu.F32, list)
	for _, precision := range []string{cpu.BF16, cpu.Int8} {
		var worst, sum float64
		n := 0
		for i, a := range answers(t, precision, list) {
			for k := range a {
				d := math.Abs(a[k] - exact[i][k])
				worst, sum, n = max(worst, d), sum+d, n+1
			}
		}
		t.Logf("%s: %d probabilities move by up to %.2g, %.2g on average", precision, n, worst, sum/float64(n))
		if worst > 0.05 {
			t.Errorf("%s moves a probability by %v, more than 0.05", precision, worst)
		}
	}
}

// answers returns the raw probabilities of every request, one after the other.
func answers(t *testing.T, precision string, list []*engine.Request) (out [][]float64) {
	t.Helper()
	m, err := local.OpenFS(context.Background(), etude.FS(), "etude", local.Options{Precision: precision})
	if err != nil {
		t.Skipf("the practice model does not open: %v", err)
	}
	defer m.Close()
	for _, r := range list {
		resp, err := m.Decide(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		var p []float64
		for _, a := range resp.Answers {
			p = append(p, a.Raw...)
		}
		out = append(out, p)
	}
	return out
}
