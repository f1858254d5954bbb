package probe

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"clefbar/engine"
)

const (
	head9B  = "19cdcec8c81dc9212be320fff47462ab342fbc1278be4368fb3da71241cf5ba0"
	head27B = "a010ac04f078e699988e4049cbea5e62c962393f59fec366640b64e8d69a4953"
)

func TestWhichReferences(t *testing.T) {
	tests := []struct {
		model Model
		probe string // of the one reference, "" for none
	}{
		{Model{Head: head9B, Layout: "4-bit"}, "kitchen"},
		{Model{Head: head9B, Layout: "8-bit"}, "empty"},
		{Model{Head: head9B, Layout: "bf16"}, "empty"},
		{Model{Head: head9B, Layout: "mixed 4-bit"}, ""},
		{Model{Head: head27B, Layout: "8-bit"}, "empty"},
		{Model{Head: head27B, Layout: "4-bit"}, ""},
		{Model{Layout: "4-bit"}, ""},
	}
	for _, tt := range tests {
		refs := For(tt.model)
		if tt.probe == "" {
			if len(refs) != 0 {
				t.Errorf("%+v: got %d references, want none", tt.model, len(refs))
			}
			continue
		}
		if len(refs) != 1 || refs[0].Answers[tt.probe] == nil {
			t.Errorf("%+v: got %+v, want one for %s", tt.model, refs, tt.probe)
		}
	}
}

func TestCompare(t *testing.T) {
	refs := For(Model{Head: head9B, Layout: "4-bit"})
	good := Answers{"kitchen": {
		"action":   {"lights_on": 0.98, "lights_off": 0.012, "other": 0.008},
		"question": {"true": 0.02, "false": 0.98},
		"urgency":  {"0": 0.77, "1": 0.23},
	}}
	results := Compare(good, refs, "f32")
	if len(results) != len(Probes()) {
		t.Fatalf("got %d results for %d probes", len(results), len(Probes()))
	}
	for _, r := range results {
		if !r.OK || (r.Source != "") != (r.Probe == "kitchen") {
			t.Errorf("got %+v", r)
		}
	}
	if worst, ok := Largest(results); !ok || worst.Probe != "kitchen" || math.Abs(worst.Largest-0.00512) > 1e-5 || worst.Where != "action, lights_on" {
		t.Errorf("largest: got %+v", worst)
	}
	for name, bad := range map[string]float64{"far": 0.70, "not a number": math.NaN()} {
		good["kitchen"]["urgency"]["0"] = bad
		if worst, _ := Largest(Compare(good, refs, "f32")); worst.OK || worst.Where != "urgency, 0" {
			t.Errorf("%s: got %+v", name, worst)
		}
	}
	delete(good["kitchen"], "urgency")
	if worst, _ := Largest(Compare(good, refs, "f32")); worst.OK || worst.Largest != 1 {
		t.Errorf("an answer is missing: got %+v", worst)
	}
	if _, ok := Largest(Compare(good, nil, "f32")); ok {
		t.Error("a largest difference without any reference")
	}
}

func TestRecording(t *testing.T) {
	answers := ask(t, "f32")
	var file bytes.Buffer
	if err := Write(&file, Model{Name: "etude", Layout: "4-bit", Precision: "f32"}, answers); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	rec, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Compare(answers, []Reference{rec.Reference("mine.json", 0)}, "f32") {
		if !r.OK || r.Largest != 0 || r.Source != "mine.json (etude, 4-bit, f32)" {
			t.Errorf("got %+v", r)
		}
	}
	if rec.Missing() != nil {
		t.Errorf("missing: %v", rec.Missing())
	}
	for name, bad := range map[string]string{
		"empty": "", "cut": text[:len(text)/2], "other format": strings.Replace(text, "probes 1", "probes 9", 1),
		"no answers": `{"format":"clefbar probes 1","answers":{}}`, "not a probability": `{"format":"clefbar probes 1","answers":{"kitchen":{"q":{"a":1.5}}}}`,
		"too long": `{"format":"` + strings.Repeat("x", maxRecording) + `"}`,
	} {
		if _, err := Read(strings.NewReader(bad)); engine.ReasonOf(err) != engine.Invalid || len(err.Error()) > 300 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// wrong is a decider that does something wrong in its n-th answer.
type wrong struct {
	n, at int
	what  func(*engine.Response) error
}

func (w *wrong) Decide(_ context.Context, r *engine.Request) (*engine.Response, error) {
	resp := &engine.Response{}
	for _, q := range r.Questions {
		a := engine.Answer{ID: q.ID}
		for _, o := range q.Options {
			a.Options, a.Raw = append(a.Options, o.Name), append(a.Raw, 1/float64(len(q.Options)))
		}
		resp.Answers = append(resp.Answers, a)
	}
	if w.n++; w.n == w.at {
		return resp, w.what(resp)
	}
	return resp, nil
}

func TestAskStopsAtAFailure(t *testing.T) {
	probes := Probes()
	device := &engine.Error{Reason: engine.Device, Message: "no number"}
	tests := []struct {
		name string
		w    wrong
		want string
	}{
		{"fails", wrong{at: 2, what: func(*engine.Response) error { return device }}, probes[1].ID + ": no number"},
		{"not a distribution", wrong{at: 3, what: func(r *engine.Response) error { r.Answers[0].Raw[0] += 0.1; return nil }}, "sum to"},
		{"not a number", wrong{at: 1, what: func(r *engine.Response) error { r.Answers[0].Raw[0] = math.NaN(); return nil }}, "sum to NaN"},
		{"other numbers", wrong{at: len(probes) + 1, what: func(r *engine.Response) error {
			r.Answers[0].Raw[0] += 1e-9
			return nil
		}}, "two runs"},
		{"right", wrong{}, ""},
	}
	for _, tt := range tests {
		_, err := Ask(context.Background(), &tt.w, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if at := tt.w.at; at > 0 && tt.w.n != at {
			t.Errorf("%s: %d requests, want %d", tt.name, tt.w.n, at)
		}
		if tt.name == "fails" && !errors.Is(err, error(device)) {
			t.Errorf("the reason is lost: %v", err)
		}
	}
}
