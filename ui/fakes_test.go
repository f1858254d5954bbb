package ui

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clefbar/engine"
)

// scripted answers with probabilities by option name: the engine's part of a test
// of the window. What it was asked is kept.
type scripted struct {
	mu      sync.Mutex
	probs   map[string]float64 // by "question/option"; else all alike
	err     error
	took    time.Duration
	hold    chan struct{} // closed or fed to let a decision go; nil: at once
	asked   []*engine.Request
	ended   int // decisions that were cancelled
	tokens  int // 0: a token is four bytes
	limit   int
	control []engine.Control
	info    engine.ModelInfo
}

func (s *scripted) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, r)
	hold, err := s.hold, s.err
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			s.mu.Lock()
			s.ended++
			s.mu.Unlock()
			return nil, ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	out := &engine.Response{Model: s.info.Name, Practice: s.info.Practice, Timing: engine.Timing{
		Total: s.took, Encode: 2 * time.Millisecond, Prefill: s.took - 22*time.Millisecond, Head: 20 * time.Millisecond,
	}}
	for _, q := range r.Questions {
		out.Answers = append(out.Answers, s.answer(q))
	}
	return out, nil
}

func (s *scripted) answer(q engine.Question) engine.Answer {
	a := engine.Answer{ID: q.ID, Kind: q.Kind}
	for _, o := range q.Options {
		p, ok := s.probs[q.ID+"/"+o.Name]
		if !ok {
			p = 1 / float64(len(q.Options))
		}
		a.Options = append(a.Options, o.Name)
		a.Probs = append(a.Probs, p)
		if p > a.Probs[a.Best] {
			a.Best = len(a.Probs) - 1
		}
	}
	a.Raw = a.Probs
	n := float64(len(a.Probs))
	a.Confidence = math.Max(0, (a.Probs[a.Best]-1/n)/(1-1/n))
	for i, p := range a.Probs {
		a.Score += float64(i) * p
		if a.Options[i] == "true" {
			a.Noul = p
		}
	}
	return a
}

func (s *scripted) Encode(r *engine.Request) (*engine.Encoding, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if engine.ReasonOf(s.err) == engine.TooLong {
		return nil, s.err
	}
	n := s.tokens
	if n == 0 {
		n = len(r.State.Text) / 4
	}
	return &engine.Encoding{Model: s.info.Name, Limit: s.limit, IDs: make([]int32, n), Control: s.control, State: engine.Span{From: 30, To: max(30, n-100)}, Text: r.State.Text}, nil
}

func (s *scripted) count() (asked, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked), s.ended
}

// shelf is the models' part of a test.
type shelf struct {
	state  ModelState
	models []Model
	watch  func()
	opened []string
}

func (s *shelf) List() []Model     { return s.models }
func (s *shelf) State() ModelState { return s.state }
func (s *shelf) Open(id string) {
	s.opened = append(s.opened, id)
	for _, m := range s.models {
		if m.ID == id {
			s.state.ID, s.state.Phase = id, PhaseReady
			s.state.Info.Name, s.state.Info.Layout, s.state.Info.Practice = m.Name, m.Layout, m.Practice
		}
	}
	s.changed()
}
func (s *shelf) Stop()                { s.state.Phase = PhaseNone; s.changed() }
func (s *shelf) Unload()              { s.state.Phase = PhaseNone; s.changed() }
func (s *shelf) AddFolder(string)     {}
func (s *shelf) Raise(limit int)      { s.state.Info.Limit = limit; s.changed() }
func (s *shelf) Watch(changed func()) { s.watch = changed }
func (s *shelf) changed() {
	if s.watch != nil {
		s.watch()
	}
}

// switchboard is the endpoint's part of a test.
type switchboard struct {
	state EndpointState
	watch func()
}

func (s *switchboard) State() EndpointState { return s.state }
func (s *switchboard) SetOn(on bool)        { s.state.On = on; s.watch() }
func (s *switchboard) SetPort(port int)     { s.state.Port = port; s.watch() }
func (s *switchboard) Watch(f func())       { s.watch = f }
func (s *switchboard) SetKey(on bool)       { s.state.Key = on; s.watch() }
func (s *switchboard) Key() (string, error) { return "clef_key", nil }

func testDeps() (Deps, *scripted, *shelf, *switchboard) {
	info := engine.ModelInfo{Name: "clef-flash", Layout: "4-bit", Device: "Metal", Limit: 16384}
	e := &scripted{took: 800 * time.Millisecond, limit: 16384, info: info, tokens: 412, probs: ticketProbs}
	m := &shelf{
		state: ModelState{Phase: PhaseReady, ID: "flash4", Info: info},
		models: []Model{
			{ID: "flash8", Name: "Clef-flash", Layout: "8-bit", Note: "11.4 GB, fits", Usable: true},
			{ID: "flash4", Name: "Clef-flash", Layout: "4-bit", Note: "6.2 GB, fits", Usable: true},
			{ID: "etude", Name: "Etude", Layout: "mixed 4-bit", Note: "practice model", Usable: true, Practice: true},
		},
	}
	b := &switchboard{state: EndpointState{On: true, Port: 2533, Today: 3}}
	d := Deps{
		Engine: e, Models: m, Endpoint: b, Settings: DefaultSettings(), Version: "test",
		Memory: func() int64 { return 6_200_000_000 }, Quit: func() {}, Samples: testSamples(), History: &fakeHistory{},
	}
	return d, e, m, b
}

// fakeHistory remembers whether it is on.
type fakeHistory struct{ on atomic.Bool }

func (h *fakeHistory) On() bool      { return h.on.Load() }
func (h *fakeHistory) SetOn(on bool) { h.on.Store(on) }
func (h *fakeHistory) Note() string  { return "Keep what programs ask, at most 30 days" }

var ticketProbs = map[string]float64{
	"team/billing": 0.04, "team/technical": 0.94, "team/sales": 0.02,
	"urgency/0": 0.02, "urgency/1": 0.11, "urgency/2": 0.87,
	"service_down/true": 0.97, "service_down/false": 0.03,
}

const ticketState = `Our checkout started returning errors about twenty minutes ago and orders are blocked. Customers see “Payment service unavailable” after they enter a card.

We have not changed anything on our side. The sale runs until midnight, so every minute costs us.

Please call me back.
Dana Whitfield, Northlake Outdoor`

const ticketQuestions = `"questions": {
    "team": {"type": "choice", "instructions": "Which team should handle it?", "criteria": {
      "billing": "Payments, invoices or refunds", "technical": "Bugs, errors or outages", "sales": "Plans, quotes or upgrades"}},
    "urgency": {"type": "score", "instructions": "How urgent is it?", "criteria": [
      "Can wait: nothing is blocked", "This week: work is slower, not stopped", "Today: money or people are affected"]},
    "service_down": {"type": "noul", "instructions": "Is a service down?", "criteria": {"true": "A service is unreachable"}}
  }`

func ticketJSON(state string) []byte {
	quoted := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n").Replace(state)
	return []byte("{\n  \"state\": \"" + quoted + "\",\n  " + ticketQuestions + "\n}\n")
}

func testSamples() []Sample {
	s := []Sample{{Title: "Support ticket", Note: "Which team, how urgent", JSON: ticketJSON(ticketState)}}
	for _, x := range [][2]string{
		{"Shell command", "Safe to run, or ask first"},
		{"Invoice risk", "Duplicate, overdue, large"},
		{"Prompt router", "Small or large model"},
		{"Review mood", "One to five stars"},
		{"Meeting intent", "Yes, no, or new time"},
	} {
		s = append(s, Sample{Title: x[0], Note: x[1], JSON: ticketJSON("x")})
	}
	return s
}
