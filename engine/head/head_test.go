package head

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/models"
	"clefbar/models/modeltest"
)

const tokens = 24

// counting counts the buffers that were not given back.
type counting struct {
	*scalar.Backend
	live map[backend.Buffer]bool
}

func (c *counting) New(rows, cols int, f backend.Format) backend.Buffer {
	x := c.Backend.New(rows, cols, f)
	c.live[x] = true
	return x
}

func (c *counting) Free(list ...backend.Buffer) {
	for _, x := range list {
		if !c.live[x] {
			panic("freed twice, or a slice was freed")
		}
		delete(c.live, x)
	}
}

func open(t *testing.T) (*Head, *counting) {
	t.Helper()
	f, err := models.OpenFS(modeltest.Small.Files(nil), "small")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := &counting{scalar.New(), map[backend.Buffer]bool{}}
	h, err := Load(b, f)
	if err != nil {
		t.Fatal(err)
	}
	return h, b
}

// score runs the head on the same random rows every time.
func score(ctx context.Context, h *Head, qs []engine.QuestionSpans) ([][]float32, error) {
	r := rand.New(rand.NewPCG(3, 4))
	rows, ids := make([]float32, tokens*modeltest.Small.Hidden), make([]int32, tokens)
	for i := range rows {
		rows[i] = float32(r.NormFloat64())
	}
	for i := range ids {
		ids[i] = int32(r.IntN(modeltest.Small.Vocab))
	}
	h.b.Begin(context.Background())
	hidden := h.b.New(tokens, modeltest.Small.Hidden, backend.Exact)
	defer h.b.Free(hidden)
	h.b.Write(hidden, rows)
	return h.Score(ctx, hidden, ids, qs)
}

func question(kind engine.Kind, from, to int, options ...engine.Span) engine.QuestionSpans {
	q := engine.QuestionSpans{ID: "q", Kind: kind, Field: engine.Span{From: from, To: to}}
	for _, o := range options {
		q.Options = append(q.Options, engine.OptionSpan{Name: "o", Span: o})
	}
	return q
}

var (
	spans = []engine.Span{{From: 4, To: 7}, {From: 8, To: 9}, {From: 10, To: 14}}
	first = question(engine.Choice, 1, 3, spans...)
	other = question(engine.Noul, 15, 18, engine.Span{From: 19, To: 20}, engine.Span{From: 21, To: 24})
)

func mustScore(t *testing.T, h *Head, qs ...engine.QuestionSpans) [][]float32 {
	t.Helper()
	out, err := score(context.Background(), h, qs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }

// TestOrder: the order of options and questions moves no logit, for neither has a
// place of its own; what a question's kind is and which others are asked does.
func TestOrder(t *testing.T) {
	h, _ := open(t)
	want := mustScore(t, h, first, other)
	turned := first
	turned.Options = slices.Clone(first.Options)
	slices.Reverse(turned.Options)
	got := mustScore(t, h, other, turned)
	for i, l := range want[0] {
		if !near(got[1][2-i], l) {
			t.Errorf("option %d: got %v in another order, want %v", i, got[1][2-i], l)
		}
	}
	for i, l := range want[1] {
		if !near(got[0][i], l) {
			t.Errorf("other question, option %d: got %v, want %v", i, got[0][i], l)
		}
	}
	if alone := mustScore(t, h, first); near(alone[0][0], want[0][0]) && near(alone[0][1], want[0][1]) {
		t.Error("the other question has no influence: questions are decided jointly")
	}
	rated := first
	rated.Kind = engine.Score
	if got := mustScore(t, h, rated, other); near(got[0][0], want[0][0]) && near(got[0][1], want[0][1]) {
		t.Error("the kind of question has no influence")
	}
}

// TestShutGate: a head whose gate is shut gives the prior alone, from the rows that it names.
func TestShutGate(t *testing.T) {
	h, b := open(t)
	if got := h.Rows([]engine.QuestionSpans{first, other}, tokens); got != nil {
		t.Errorf("an open head names rows: %v", got)
	}
	h.gate = 1e-30 // too small to show beside the prior
	want := mustScore(t, h, first, other)
	h.gate = sigmoid(-200)
	got := mustScore(t, h, first, other)
	for i := range want {
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("question %d: got %v, want %v", i, got[i], want[i])
		}
	}
	rows := h.Rows([]engine.QuestionSpans{first, other}, tokens)
	if !slices.Equal(rows, []backend.Span{{From: 23, To: 24}, {From: 1, To: 3}, {From: 15, To: 18}}) {
		t.Errorf("got rows %v", rows)
	}
	if len(b.live) > 0 {
		t.Errorf("%d buffers were not given back", len(b.live))
	}
}

func TestScoreRefusesNonsense(t *testing.T) {
	h, _ := open(t)
	for name, tt := range map[string]struct {
		qs   []engine.QuestionSpans
		want string
	}{
		"no questions":        {nil, "no questions"},
		"no options":          {[]engine.QuestionSpans{question(engine.Choice, 1, 2)}, "no options"},
		"empty instruction":   {[]engine.QuestionSpans{question(engine.Choice, 2, 2, spans...)}, "question q spans [2, 2)"},
		"empty option":        {[]engine.QuestionSpans{question(engine.Choice, 1, 2, engine.Span{From: 5, To: 5})}, "option o of question q"},
		"option past the end": {[]engine.QuestionSpans{question(engine.Choice, 1, 2, engine.Span{From: 23, To: 25})}, "[23, 25) of 24"},
		"negative span":       {[]engine.QuestionSpans{question(engine.Choice, -1, 2, spans...)}, "[-1, 2)"},
	} {
		if _, err := score(context.Background(), h, tt.qs); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want …%s…", name, err, tt.want)
		}
	}
	hidden := h.b.New(3, modeltest.Small.Hidden, backend.Exact)
	if _, err := h.Score(context.Background(), hidden, make([]int32, 4), []engine.QuestionSpans{first}); err == nil {
		t.Error("3 rows for 4 tokens were accepted")
	}
}

// TestBuffersComeBack: also when the run is cancelled.
func TestBuffersComeBack(t *testing.T) {
	h, b := open(t)
	mustScore(t, h, first, other)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := score(ctx, h, []engine.QuestionSpans{first}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if len(b.live) > 0 {
		t.Errorf("%d buffers were not given back", len(b.live))
	}
}

func TestSummary(t *testing.T) {
	options := rows{2, []float32{9, 9, 1, 0, 0, 1}}
	got := make([]float32, 2)
	summary(got, options, backend.Span{From: 1, To: 3}, []float32{3, 1})
	// Scores 3/√2 and 1/√2: their softmax weighs (1, 0) and (0, 1).
	p := 1 / (1 + math.Exp(-2/math.Sqrt2))
	if math.Abs(float64(got[0])-p) > 1e-6 || math.Abs(float64(got[1])-(1-p)) > 1e-6 {
		t.Errorf("got %v, want [%v %v]", got, p, 1-p)
	}
}

func TestCosineOfNothing(t *testing.T) {
	if got := cosine([]float32{0, 0}, []float32{3, 4}, 1e-8); got != 0 {
		t.Errorf("got %v, want 0", got)
	}
	if got := cosine([]float32{3, 4}, []float32{6, 8}, 1e-8); math.Abs(got-1) > 1e-12 {
		t.Errorf("got %v, want 1", got)
	}
}

func TestLogitScale(t *testing.T) {
	for raw, want := range map[float32]float64{0: 1, 2: math.Exp(2), 5: 100, 80: 100} {
		if got := logitScale([]float32{raw}); math.Abs(float64(got)-want) > 1e-5*want {
			t.Errorf("%v: got %v, want %v", raw, got, want)
		}
	}
}
