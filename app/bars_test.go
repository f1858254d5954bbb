package main

import (
	"bytes"
	"testing"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
)

func TestBars(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	question := func(kind engine.Kind, id string, options ...string) *engine.Question {
		q := &engine.Question{ID: id, Kind: kind}
		for _, o := range options {
			q.Options = append(q.Options, engine.Option{Name: o, Description: engine.Text(o)})
		}
		return q
	}
	resp := &engine.Response{
		Model: "etude", Practice: true, Usage: engine.Usage{InputTokens: 303},
		Timing: engine.Timing{Encode: 400 * time.Microsecond, Prefill: 35 * time.Millisecond, Head: 2 * time.Millisecond, Total: 38 * time.Millisecond},
		Answers: []engine.Answer{
			answer.FromProbabilities(question(engine.Choice, "team", "billing", "日本語", "evil\x1b[31m\nline"), []float64{0.0625, 0.875, 0.0625}),
			answer.FromProbabilities(question(engine.Score, "urgency", "Can wait", "Today"), []float64{0.25, 0.75}),
			answer.FromProbabilities(question(engine.Noul, "outage", "true", "false"), []float64{1, 0}),
		},
	}
	var out bytes.Buffer
	printBars(&out, resp, engine.ModelInfo{Limit: 16384}, 60)
	want := "" +
		"team  pick one · confidence 0.81\n" +
		"  billing        ██▏                                0.06\n" +
		"● 日本語         █████████████████████████████▊     0.88\n" +
		"  evil\ufffd[31m line ██▏                                0.06\n" +
		"\n" +
		"urgency  rate · 0.75 of 1\n" +
		"  Can wait       ████████▌                          0.25\n" +
		"● Today          █████████████████████████▌         0.75\n" +
		"\n" +
		"outage  yes or no\n" +
		"● yes            ██████████████████████████████████ 1.00\n" +
		"  no                                                0.00\n" +
		"\n" +
		"38 ms (encode 0.4 ms · read 35 ms · head 2.0 ms) · 303 of 16384 tokens · etude, a practice model\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"abc", 5, "abc  "},
		{"abcdef", 4, "abc…"},
		{"日本語", 4, "日… "},
		{"é", 2, "é "},
		{"", 1, " "},
	} {
		if got := fit(c.s, c.n); got != c.want || columns(got) != c.n {
			t.Errorf("fit(%q, %d): got %q of %d columns, want %q", c.s, c.n, got, columns(got), c.want)
		}
	}
}
