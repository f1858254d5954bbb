package remote

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"clefbar/engine"
	"clefbar/engine/answer"
)

// Servers round probabilities, some to two decimals: each may be off by half of
// that, and so may everything that derives from them.
const (
	roundingError = 0.005
	slack         = 0.01
)

// readResponse reads a System One response to r and checks it: exactly the ids that
// were asked, their types, exactly their options, numbers that are probabilities.
func readResponse(r *engine.Request, got *reply) (*engine.Response, error) {
	v, err := engine.ParseValue(got.body, engine.Limits{})
	if err != nil {
		return nil, err
	}
	if inner := v.Get("result"); inner.Type == engine.Object { // Workers AI's envelope
		v = inner
	}
	answers := v.Get("answers")
	if answers.Type != engine.Object {
		return nil, errors.New("there are no answers")
	}
	if len(answers.Fields) != len(r.Questions) {
		return nil, fmt.Errorf("%d questions have %d answers", len(r.Questions), len(answers.Fields))
	}
	out := &engine.Response{Model: v.Get("model").Text, Practice: got.header.Get(engine.PracticeHeader) == "true"}
	for i := range r.Questions {
		q := &r.Questions[i]
		a, err := readAnswer(q, answers.Get(q.ID))
		if err != nil {
			return nil, fmt.Errorf("answers.%s: %w", q.ID, err)
		}
		out.Answers = append(out.Answers, a)
	}
	out.Usage.InputTokens = count(v.Get("usage").Get("input_tokens"))
	out.Truncated = count(v.Get("x_truncated_tokens"))
	if v.Get("x_truncated").Bool {
		out.Truncated = max(out.Truncated, 1) // at least one
	}
	out.Timing = serverTiming(got.header)
	return out, nil
}

func readAnswer(q *engine.Question, v engine.Value) (engine.Answer, error) {
	if v.Type != engine.Object {
		return engine.Answer{}, errors.New("it is missing")
	}
	if kind := v.Get("type").Text; kind != q.Kind.String() {
		return engine.Answer{}, fmt.Errorf("the type is %q, not %q", kind, q.Kind)
	}
	if q.Kind == engine.Noul {
		p, err := probability(v.Get("noul"))
		if err != nil {
			return engine.Answer{}, fmt.Errorf("noul: %w", err)
		}
		return answer.FromProbabilities(q, []float64{p, 1 - p}), nil
	}
	p, err := distribution(q, v.Get("probabilities"))
	if err != nil {
		return engine.Answer{}, fmt.Errorf("probabilities%w", err)
	}
	a := answer.FromProbabilities(q, p)
	if q.Kind == engine.Score {
		return a, checkScore(p, v.Get("score"))
	}
	return a, checkChoice(&a, v.Get("choice"))
}

// checkChoice holds the server's choice against its probabilities, and takes it where
// several options look equally probable after rounding: the server knows more.
func checkChoice(a *engine.Answer, v engine.Value) error {
	i := slices.Index(a.Options, v.Text)
	if v.Type != engine.String || i < 0 {
		return errors.New("choice: it is none of the options")
	}
	most := slices.Max(a.Raw)
	if a.Raw[i] < most-slack {
		return fmt.Errorf("choice: %q is not the most probable option", v.Text)
	}
	if a.Raw[i] == most {
		a.Best = i
	}
	return nil
}

func checkScore(p []float64, v engine.Value) error {
	got, err := finite(v)
	if err != nil {
		return fmt.Errorf("score: %w", err)
	}
	want := 0.0
	for i, x := range p {
		want += float64(i) * x
	}
	n := float64(len(p))
	if math.Abs(got-want) > 2*slack+roundingError*(1+n*(n-1)/2) {
		return fmt.Errorf("score: %v does not follow from the probabilities, which give %v", got, want)
	}
	return nil
}

// distribution reads the probabilities of exactly q's options. Its errors begin with
// what follows the field's name.
func distribution(q *engine.Question, v engine.Value) ([]float64, error) {
	if v.Type != engine.Object || len(v.Fields) != len(q.Options) {
		return nil, fmt.Errorf(": %d options were asked about, %d are there", len(q.Options), len(v.Fields))
	}
	p := make([]float64, len(q.Options))
	sum := 0.0
	for i, o := range q.Options {
		x, err := probability(v.Get(o.Name))
		if err != nil {
			return nil, fmt.Errorf(".%s: %w", o.Name, err)
		}
		p[i] = x
		sum += x
	}
	if sum <= 0 || math.Abs(sum-1) > slack+roundingError*float64(len(p)) {
		return nil, fmt.Errorf(": they sum to %v", sum)
	}
	return p, nil
}

func probability(v engine.Value) (float64, error) {
	x, err := finite(v)
	if err != nil {
		return 0, err
	}
	if x < -1e-6 || x > 1+1e-6 {
		return 0, fmt.Errorf("%v is not a probability", x)
	}
	return min(max(x, 0), 1), nil
}

// finite reads a number; the decoder refuses those that are not.
func finite(v engine.Value) (float64, error) {
	if v.Type == engine.Missing {
		return 0, errors.New("it is missing")
	}
	if v.Type != engine.Number {
		return 0, fmt.Errorf("it is %s, not a number", v.Type)
	}
	x, err := strconv.ParseFloat(v.Text, 64)
	return x, err
}

// count reads a number of tokens; what is none counts as 0.
func count(v engine.Value) int {
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || v.Type != engine.Number || n < 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// serverTiming reads "load;dur=MS, queue;dur=MS, run;dur=MS". The run counts as
// prefill, which it nearly is.
func serverTiming(h http.Header) (t engine.Timing) {
	for entry := range strings.SplitSeq(strings.Join(h.Values("Server-Timing"), ","), ",") {
		name, rest, _ := strings.Cut(strings.TrimSpace(entry), ";")
		for param := range strings.SplitSeq(rest, ";") {
			text, ok := strings.CutPrefix(strings.TrimSpace(param), "dur=")
			ms, err := strconv.ParseFloat(strings.Trim(text, `"`), 64)
			if !ok || err != nil || !(ms >= 0) || ms > 1e9 {
				continue
			}
			dur := time.Duration(ms * float64(time.Millisecond))
			switch name {
			case "load":
				t.Load = dur
			case "queue":
				t.Queue = dur
			case "run":
				t.Prefill = dur
			}
		}
	}
	return t
}

// readModels reads a list of models in TypeSafe's shape or in OpenAI's.
func readModels(got *reply) ([]engine.ModelInfo, error) {
	v, err := engine.ParseValue(got.body, engine.Limits{})
	if err != nil {
		return nil, err
	}
	list, name := v.Get("models"), "name"
	if list.Type != engine.Array {
		list, name = v.Get("data"), "id"
	}
	if list.Type != engine.Array {
		return nil, errors.New("there is no list of models")
	}
	var models []engine.ModelInfo
	for _, item := range list.Items {
		if n := item.Get(name); n.Type == engine.String && n.Text != "" {
			models = append(models, engine.ModelInfo{
				Name: n.Text, Description: item.Get("description").Text, Released: item.Get("release_date").Text,
			})
		}
	}
	return models, nil
}
