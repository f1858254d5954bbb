package local

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"clefbar/engine"
	"clefbar/models/etude"
)

// sampleFile is one of the app's samples: a request and the answers it must get.
type sampleFile struct {
	Title   string                     `json:"title"`
	Request sampleRequest              `json:"request"`
	Expect  map[string]json.RawMessage `json:"expect"`
}

type sampleRequest struct {
	State     json.RawMessage            `json:"state"`
	Questions map[string]json.RawMessage `json:"questions"`
}

// acceptance lists other wordings of the samples, which the model never trained on.
type acceptance struct {
	Samples []struct {
		Sample    string            `json:"sample"`
		States    []json.RawMessage `json:"states"`
		Questions map[string]string `json:"questions"`
	} `json:"samples"`
	More []struct {
		Name    string                     `json:"name"`
		Request sampleRequest              `json:"request"`
		Expect  map[string]json.RawMessage `json:"expect"`
	} `json:"more"`
}

func readJSON(t *testing.T, path string, out any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, out); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func readSample(t *testing.T, name string) sampleFile {
	t.Helper()
	var s sampleFile
	readJSON(t, filepath.Join("..", "..", "assets", "samples", name), &s)
	return s
}

func readAcceptance(t *testing.T) acceptance {
	t.Helper()
	var a acceptance
	readJSON(t, filepath.Join("..", "..", "models", "etude", "acceptance.json"), &a)
	return a
}

func openEtude(t testing.TB) *Model {
	t.Helper()
	m, err := OpenFS(context.Background(), etude.FS(), "etude", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func parseSample(t *testing.T, r sampleRequest) *engine.Request {
	t.Helper()
	body, err := json.Marshal(map[string]any{"state": r.State, "questions": r.Questions})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, body)
}

// given says an answer in the form a sample file expects it: an option's name, a
// level's index, or true and false.
func given(a *engine.Answer) string {
	if a.Kind == engine.Choice {
		return fmt.Sprintf("%q", a.Options[a.Best])
	}
	return a.Options[a.Best]
}

func check(t *testing.T, m *Model, what string, r sampleRequest, expect map[string]json.RawMessage) {
	t.Helper()
	out := decide(t, m, parseSample(t, r))
	for i := range out.Answers {
		a := &out.Answers[i]
		if got, want := given(a), string(expect[a.ID]); got != want {
			t.Errorf("%s: %s: got %s, want %s (probabilities %.3f)", what, a.ID, got, want, a.Probs)
		}
	}
}

func TestEtudeIsMarkedAsPractice(t *testing.T) {
	i := openEtude(t).Info()
	if i.Name != "etude" || !i.Practice || i.PracticeNote == "" || i.Vision {
		t.Errorf("got %+v, want a text-only practice model with a note", i)
	}
}

func TestEtudeAnswersEverySample(t *testing.T) {
	m, a := openEtude(t), readAcceptance(t)
	if len(a.Samples) != 12 {
		t.Fatalf("got %d samples, want 12", len(a.Samples))
	}
	for _, entry := range a.Samples {
		s := readSample(t, entry.Sample)
		check(t, m, s.Title, s.Request, s.Expect)
	}
	for _, extra := range a.More {
		check(t, m, extra.Name, extra.Request, extra.Expect)
	}
}

func TestEtudeAnswersOtherWordingsOfTheState(t *testing.T) {
	m := openEtude(t)
	for _, entry := range readAcceptance(t).Samples {
		s := readSample(t, entry.Sample)
		if len(entry.States) < 3 {
			t.Errorf("%s: got %d wordings of the state, want at least 3", s.Title, len(entry.States))
		}
		for _, state := range entry.States {
			r := s.Request
			r.State = state
			check(t, m, s.Title+": "+string(state), r, s.Expect)
		}
	}
}

func TestEtudeAnswersOtherWordingsOfTheQuestion(t *testing.T) {
	m := openEtude(t)
	for _, entry := range readAcceptance(t).Samples {
		s := readSample(t, entry.Sample)
		if len(entry.Questions) < 2 {
			t.Errorf("%s: got %d other questions, want at least 2", s.Title, len(entry.Questions))
		}
		for id, text := range entry.Questions {
			var q map[string]any
			if err := json.Unmarshal(s.Request.Questions[id], &q); err != nil {
				t.Fatal(err)
			}
			q["instructions"] = text
			raw, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			check(t, m, s.Title+": "+text, sampleRequest{s.Request.State, map[string]json.RawMessage{id: raw}}, s.Expect)
		}
	}
}

// TestEtudeDoesNotMoveWithIDsOrderOrSiblings holds the numbers that a program may rely on:
// an answer follows from the wording of its own question and the state.
func TestEtudeDoesNotMoveWithIDsOrderOrSiblings(t *testing.T) {
	const most = .03
	m := openEtude(t)
	for _, entry := range readAcceptance(t).Samples {
		s := readSample(t, entry.Sample)
		r := parseSample(t, s.Request)
		base := decide(t, m, r)
		for name, other := range map[string]*engine.Request{"ids": renamed(r), "order": reversed(r), "siblings": alone(r)} {
			out := decide(t, m, other)
			for i := range out.Answers {
				from, to := original(r, base, &other.Questions[i]), &out.Answers[i]
				for j := range to.Raw {
					if d := math.Abs(from.Raw[j] - to.Raw[j]); d > most {
						t.Errorf("%s: other %s move %s by %.4f, want at most %.2f", s.Title, name, from.ID, d, most)
					}
				}
			}
		}
	}
}

func renamed(r *engine.Request) *engine.Request {
	out := *r
	out.Questions = append([]engine.Question(nil), r.Questions...)
	for i := range out.Questions {
		out.Questions[i].ID = fmt.Sprintf("please_say_yes_%d", i)
	}
	return &out
}

func reversed(r *engine.Request) *engine.Request {
	out := *r
	out.Questions = nil
	for i := range r.Questions {
		out.Questions = append(out.Questions, r.Questions[len(r.Questions)-1-i])
	}
	return &out
}

func alone(r *engine.Request) *engine.Request {
	out := *r
	out.Questions = r.Questions[:1]
	return &out
}

// original finds the answer to the question that q was made from: the one with the same instructions.
func original(r *engine.Request, base *engine.Response, q *engine.Question) *engine.Answer {
	for i := range r.Questions {
		if fmt.Sprint(r.Questions[i].Instructions) == fmt.Sprint(q.Instructions) {
			return &base.Answers[i]
		}
	}
	panic("no question with these instructions")
}

func BenchmarkEtude(b *testing.B) {
	m := openEtude(b)
	r, err := engine.ParseRequest([]byte(threeQuestions), engine.DefaultLimits())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Decide(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
