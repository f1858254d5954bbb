package goldentest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/engine/cpu"
	"clefbar/engine/head"
	"clefbar/engine/qwen"
	"clefbar/models"
	"clefbar/models/modeltest"
)

// engineUnderTest is a loaded checkpoint on one backend.
type engineUnderTest struct {
	b    backend.Backend
	qwen *qwen.Model
	head *head.Head
}

func load(t *testing.T, b backend.Backend, f *models.Folder) engineUnderTest {
	t.Helper()
	q, err := qwen.Load(context.Background(), b, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := head.Load(b, f)
	if err != nil {
		t.Fatal(err)
	}
	return engineUnderTest{b, q, h}
}

// probes gathers what the model shows, block by block.
type probes struct {
	t    *testing.T
	b    backend.Backend
	want Expected
	seen map[string][]float32
}

func (p *probes) add(name string, _ int, x backend.Buffer) {
	if _, ok := p.want.Stats[name]; !ok && !strings.HasSuffix(name, ".conv") {
		return
	}
	rows := make([]float32, x.Rows()*x.Cols())
	if err := p.b.Read(rows, x); err != nil {
		p.t.Fatal(err)
	}
	p.seen[name] = append(p.seen[name], rows...)
}

// split makes conv_q, conv_k and conv_v of the convolution's output.
func (p *probes) split(keys int) {
	conv, ok := p.seen["L0.conv"]
	if !ok || p.want.Stats["L0.conv_q"] == nil {
		return
	}
	q, _ := p.want.Stat(p.t, "L0.in_proj_qkv")
	width := q.Shape[1]
	for at := 0; at < len(conv); at += width {
		row := conv[at : at+width]
		p.seen["L0.conv_q"] = append(p.seen["L0.conv_q"], row[:keys]...)
		p.seen["L0.conv_k"] = append(p.seen["L0.conv_k"], row[keys:2*keys]...)
		p.seen["L0.conv_v"] = append(p.seen["L0.conv_v"], row[2*keys:]...)
	}
}

// unprobed are recorded inside the reference's modules at places that our fused operations do not show.
var unprobed = map[string]bool{
	"L0.out_proj": true, "L0.mlp": true, "L3.mlp": true, "L3.o_proj": true, "L3.q_norm": true, "L3.k_norm": true,
}

func (e engineUnderTest) check(t *testing.T, c Case, want Expected) {
	t.Helper()
	p := &probes{t: t, b: e.b, want: want, seen: map[string][]float32{}}
	e.qwen.SetProbe(p.add)
	e.head.SetProbe(func(name string, x backend.Buffer) { p.add(name, 0, x) })
	hidden, err := e.qwen.Forward(context.Background(), qwen.Input{IDs: c.IDs})
	if err != nil {
		t.Fatal(err)
	}
	last := make([]float32, hidden.Cols())
	if err := e.b.Read(last, hidden.Slice(hidden.Rows()-1, hidden.Rows())); err != nil {
		t.Fatal(err)
	}
	for i, w := range want.LastRow {
		near(t, "last hidden row", float64(last[i]), float64(w), RowTolerance)
	}
	logits, err := e.head.Score(context.Background(), hidden, c.IDs, c.Spans())
	if err != nil {
		t.Fatal(err)
	}
	e.b.Free(hidden)
	cfg := e.qwen.Config()
	p.split(cfg.KeyHeads * cfg.KeyDim)
	for name := range want.Stats {
		got, ok := p.seen[name]
		if !ok {
			if !unprobed[name] {
				t.Errorf("probe %s was not shown", name)
			}
			continue
		}
		s, _ := want.Stat(t, name)
		s.Check(t, name, got)
	}
	want.CheckLogits(t, logits)
}

// backends lists what every golden case runs on. Slow ones take the short cases only.
var backends = []struct {
	name    string
	longest int
	open    func(t *testing.T) backend.Backend
}{
	{"scalar", 300, func(*testing.T) backend.Backend { return scalar.New() }},
	{"cpu", 1 << 20, func(t *testing.T) backend.Backend {
		b, err := cpu.New(cpu.Options{Precision: cpu.F32})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}},
}

func TestTextCheckpoints(t *testing.T) {
	cases := Cases(t)
	for _, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit", "tiny-9b-shape-mlx-8bit", "tiny-27b-shape-mlx-4bit", "tiny-27b-shape-generated"} {
		expected := Results(t, dir)
		f := openCheckpoint(t, dir)
		for _, b := range backends {
			t.Run(b.name+"/"+dir, func(t *testing.T) {
				e := load(t, b.open(t), f)
				for _, name := range Names(cases, expected) {
					if len(cases[name].IDs) > b.longest && !(b.name == "scalar" && name == "short" && dir == "tiny-9b-shape-hf") {
						continue
					}
					t.Run(name, func(t *testing.T) { e.check(t, cases[name], expected[name]) })
				}
			})
		}
	}
}

// openCheckpoint opens a golden folder, or rebuilds the one that has no files.
func openCheckpoint(t *testing.T, dir string) *models.Folder {
	t.Helper()
	var f *models.Folder
	var err error
	if dir == "tiny-27b-shape-generated" {
		f, err = models.OpenFS(modeltest.Tiny27B.Files(nil), dir)
	} else {
		f, err = models.Open(Path(t, dir))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWeightSamples guards the generator: if it drifts, every other failure is noise.
func TestWeightSamples(t *testing.T) {
	golden := Load[struct {
		Backbone map[string][]float32 `json:"weight_samples"`
		Head     map[string][]float32 `json:"head_weight_samples"`
	}](t, "golden.json")
	f, err := models.OpenFS(modeltest.Golden.Files(nil), "golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, want := range golden.Backbone {
		canon := strings.TrimPrefix(strings.ReplaceAll(name, "model.visual.", "vision."), "model.language_model.")
		tensor := f.Tensor(canon)
		if got := tensor.Floats()[:4]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for name, want := range golden.Head {
		tensor := f.HeadTensor(name)
		if got := tensor.Floats()[:4]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("head %s: got %v, want %v", name, got, want)
		}
	}
}

// generatorCase is a case of golden.json.
type generatorCase struct {
	IDs    []int32 `json:"ids"`
	Fields []struct {
		Type    int      `json:"type"`
		Span    [2]int   `json:"span"`
		Options [][2]int `json:"options"`
	} `json:"fields"`
	Layers []edge      `json:"layers"`
	Hidden edge        `json:"hidden"`
	Logits [][]float32 `json:"logits"`
	Probs  [][]float64 `json:"probs"`
}

// edge holds the beginnings of the first and of the last row.
type edge struct {
	First []float64 `json:"first8"`
	Last  []float64 `json:"last8"`
}

func (c generatorCase) toCase() Case {
	out := Case{IDs: c.IDs}
	for _, f := range c.Fields {
		out.Questions = append(out.Questions, Question{Type: f.Type, Span: f.Span, Options: f.Options})
	}
	return out
}

func TestGeneratorModel(t *testing.T) {
	f, err := models.OpenFS(modeltest.Golden.Files(nil), "golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, b := range backends {
		e := load(t, b.open(t), f)
		for _, name := range []string{"text_150", "text_23"} {
			t.Run(b.name+"/"+name, func(t *testing.T) { e.checkGenerator(t, generatorCases(t, name)) })
		}
		t.Run(b.name+"/head_only", func(t *testing.T) { e.checkHeadOnly(t) })
	}
}

func generatorCases(t *testing.T, name string) generatorCase {
	t.Helper()
	var c generatorCase
	raw := Load[map[string]json.RawMessage](t, "golden.json")[name]
	if name == "head_only" { // its ids and fields are words that point at text_150
		var h struct {
			Logits [][]float32 `json:"logits"`
			Probs  [][]float64 `json:"probs"`
		}
		if err := json.Unmarshal(raw, &h); err != nil {
			t.Fatal(err)
		}
		c.Logits, c.Probs = h.Logits, h.Probs
		return c
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (e engineUnderTest) checkGenerator(t *testing.T, c generatorCase) {
	layer := 0
	e.qwen.SetProbe(func(name string, _ int, x backend.Buffer) {
		if strings.HasPrefix(name, "layer") {
			e.checkEdge(t, name, x, c.Layers[layer])
			layer++
		}
		if name == "hidden" {
			e.checkEdge(t, name, x, c.Hidden)
		}
	})
	hidden, err := e.qwen.Forward(context.Background(), qwen.Input{IDs: c.IDs})
	if err != nil {
		t.Fatal(err)
	}
	logits, err := e.head.Score(context.Background(), hidden, c.IDs, c.toCase().Spans())
	if err != nil {
		t.Fatal(err)
	}
	Expected{Logits: c.Logits, Probs: c.Probs}.CheckLogits(t, logits)
}

func (e engineUnderTest) checkEdge(t *testing.T, name string, x backend.Buffer, want edge) {
	t.Helper()
	got := make([]float32, x.Rows()*x.Cols())
	if err := e.b.Read(got, x); err != nil {
		t.Fatal(err)
	}
	for i := range want.First {
		near(t, name+" first", float64(got[i]), want.First[i], RowTolerance)
		near(t, name+" last", float64(got[len(got)-x.Cols()+i]), want.Last[i], RowTolerance)
	}
}

// checkHeadOnly feeds generated hidden rows to the head.
func (e engineUnderTest) checkHeadOnly(t *testing.T) {
	c := generatorCases(t, "text_150")
	want := generatorCases(t, "head_only")
	hidden := e.b.New(len(c.IDs), modeltest.Golden.Hidden, backend.Exact)
	rows := make([]float32, len(c.IDs)*modeltest.Golden.Hidden)
	for i, u := range modeltest.Uniform("hidden", len(rows)) {
		rows[i] = float32((2*u - 1) * 2)
	}
	e.b.Begin(context.Background())
	e.b.Write(hidden, rows)
	logits, err := e.head.Score(context.Background(), hidden, c.IDs, c.toCase().Spans())
	if err != nil {
		t.Fatal(err)
	}
	Expected{Logits: want.Logits, Probs: want.Probs}.CheckLogits(t, logits)
}
