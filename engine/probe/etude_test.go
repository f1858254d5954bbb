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

	"clefbar/engine/local"
	"clefbar/models/etude"
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
	m, err := local.OpenFS(t.Context(), etude.FS(), "etude", local.Options{Precision: precision, Temperature: 3})
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
