package probes

import (
	"strings"
	"testing"

	"clefbar/engine"
)

func TestBuiltInData(t *testing.T) {
	all, err := All()
	if err != nil || len(all) < 5 {
		t.Fatalf("got %d probes, %v", len(all), err)
	}
	kinds := map[engine.Kind]bool{}
	names := map[string]map[string]bool{}
	for _, p := range all {
		names[p.ID] = map[string]bool{}
		for _, q := range p.Request.Questions {
			kinds[q.Kind] = true
			names[p.ID][q.ID] = true
		}
	}
	if len(kinds) != 3 {
		t.Errorf("the probes ask %d kinds of question, want 3", len(kinds))
	}
	for _, of := range []string{"9b bf16", "9b 4-bit", "27b bf16"} {
		size, layout, _ := strings.Cut(of, " ")
		r, ok := Published(size, layout)
		if !ok || r.Source == "" || r.Tolerance <= 0 {
			t.Errorf("no published numbers of %s", of)
		}
		for probe, questions := range r.Answers {
			for q := range questions {
				if !names[probe][q] {
					t.Errorf("%s speaks of %s, %s, which is not asked", of, probe, q)
				}
			}
		}
	}
	if _, ok := Published("", "bf16"); ok {
		t.Error("an unknown size has published numbers")
	}
	etude, err := Etude()
	if err != nil || len(etude.Answers) != len(all) || etude.Precision != "f32" {
		t.Errorf("Etude's record: %d probes of %d, %s, %v", len(etude.Answers), len(all), etude.Precision, err)
	}
}

func TestCompare(t *testing.T) {
	want := Answers{"p": {"q": {"a": 0.9, "b": 0.1}, "r": {"true": 0.5}}}
	got := Answers{"p": {"q": {"a": 0.88, "b": 0.12}, "r": {"true": 0.53}}, "more": {}}
	d := Compare(got, want)
	if d.Compared != 3 || d.Missing != 0 || d.Question != "r" || d.Size() < 0.0299 || d.Size() > 0.0301 {
		t.Errorf("got %+v", d)
	}
	if d := Compare(Answers{}, want); d.Compared != 0 || d.Missing != 3 {
		t.Errorf("nothing: got %+v", d)
	}
}
