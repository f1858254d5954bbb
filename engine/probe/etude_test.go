package probe

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"clefbar/engine/local"
	"clefbar/models"
	"clefbar/models/etude"
	"clefbar/models/modeltest"
)

var update = flag.Bool("update", false, "record Etude's references again")

const etudeSource = "recorded from Etude on the float32 path"

// etudeTolerance says how far each precision may be from float32 (see the golden data's README).
var etudeTolerance = map[string]float64{"f32": 1e-4, "": 0.05}

// TestEtudeReferences records Etude's answers again and compares them with the stored ones. After Etude was trained anew run
// go test ./engine/probe -update.
func TestEtudeReferences(t *testing.T) {
	model := etudeModel(t)
	answers := ask(t, "f32")
	if *update {
		record(t, Reference{Source: etudeSource, Head: model.Head, Weights: model.Weights, Tolerance: etudeTolerance, Answers: answers})
		return
	}
	refs := For(model)
	if len(refs) != 1 || len(refs[0].Answers) != len(Probes()) {
		t.Fatal("Etude's references are of other files than the embedded ones: run go test ./engine/probe -update")
	}
	for _, r := range Compare(answers, refs, "f32") {
		if !r.OK || r.Source != etudeSource {
			t.Errorf("%s: difference %g at %s, want at most %g", r.Probe, r.Largest, r.Where, r.Tolerance)
		}
	}
	for _, r := range Compare(ask(t, "auto"), refs, "bf16") {
		if !r.OK {
			t.Errorf("fast path, %s: difference %g at %s, want at most %g", r.Probe, r.Largest, r.Where, r.Tolerance)
		}
	}
	other := model
	other.Weights = strings.Repeat("0", 64)
	if For(other) != nil {
		t.Error("the references fit other weights too")
	}
}

func ask(t *testing.T, precision string) Answers {
	t.Helper()
	return askOf(t, etude.FS(), precision)
}

func askOf(t *testing.T, files fs.FS, precision string) Answers {
	t.Helper()
	m, err := local.OpenFS(t.Context(), files, "etude", local.Options{Precision: precision, Temperature: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	answers, err := Ask(context.Background(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestEtudeInBothLayouts: the same weights in the Hugging Face layout, not quantised, give the same answers.
func TestEtudeInBothLayouts(t *testing.T) {
	here, err := models.OpenFS(etude.FS(), "etude")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	files := fstest.MapFS{}
	for _, name := range []string{"joint_head_config.json", "joint_head.safetensors", "tokenizer.json", "tokenizer_config.json", "clefbar.json"} {
		data, err := fs.ReadFile(etude.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	c := here.Config
	backbone, _ := modeltest.Shape{
		Vocab: c.Vocab, Hidden: c.Hidden, MLP: c.MLP, Layers: c.Layers(), Interval: 2, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		KeyHeads: c.KeyHeads, ValueHeads: c.ValueHeads, KeyDim: c.KeyDim, ValueDim: c.ValueDim,
	}.Plan()
	for i := range backbone {
		b := &backbone[i]
		w := here.Tensor(strings.TrimPrefix(b.Name, "model.language_model."))
		b.DType, b.Data = "F32", w.Floats()
		if modeltest.Centred(b.Name) {
			for k := range b.Data {
				b.Data[k]--
			}
		}
	}
	files["model.safetensors"] = &fstest.MapFile{Data: modeltest.Safetensors(backbone, 8)}
	config, err := fs.ReadFile(etude.FS(), "config.json")
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(config, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "quantization")
	delete(fields, "quantization_config")
	if config, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	files["config.json"] = &fstest.MapFile{Data: config}

	want, got := ask(t, "f32"), askOf(t, files, "f32")
	if worst := Compare(got, []Reference{{Source: "MLX layout", Tolerance: map[string]float64{"f32": 1e-4}, Answers: want}}, "f32"); len(worst) != len(Probes()) {
		t.Errorf("%d of %d probes were compared", len(worst), len(Probes()))
	} else {
		for _, r := range worst {
			if !r.OK {
				t.Errorf("%s: difference %g at %s", r.Probe, r.Largest, r.Where)
			}
		}
	}
}

func etudeModel(t *testing.T) Model {
	t.Helper()
	sums := map[string]string{}
	for _, name := range []string{"joint_head.safetensors", "model.safetensors"} {
		data, err := fs.ReadFile(etude.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		sums[name] = hex.EncodeToString(sum[:])
	}
	return Model{Name: "etude", Head: sums["joint_head.safetensors"], Weights: WeightsSum(sums)}
}

// record puts Etude's reference first in the file.
func record(t *testing.T, ref Reference) {
	t.Helper()
	var all []Reference
	if err := json.Unmarshal(referencesFile, &all); err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(r Reference) bool { return r.Source == etudeSource })
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", " ")
	if err := e.Encode(append([]Reference{ref}, all...)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("references.json", out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
