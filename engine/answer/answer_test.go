package answer

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clefbar/engine"
)

func parse(t testing.TB, json string) *engine.Request {
	t.Helper()
	r, err := engine.ParseRequest([]byte(json), engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// choice is a question with options, and score one with levels.
func choice(names ...string) *engine.Question {
	q := &engine.Question{ID: "q", Kind: engine.Choice}
	for _, n := range names {
		q.Options = append(q.Options, engine.Option{Name: n})
	}
	return q
}

func score(n int) *engine.Question {
	q := &engine.Question{ID: "q", Kind: engine.Score}
	for i := range n {
		q.Options = append(q.Options, engine.Option{Name: strconv.Itoa(i), Description: engine.Text("level")})
	}
	return q
}

func TestBuild(t *testing.T) {
	r := parse(t, `{"state":"s","questions":{"n":{"type":"noul"},"c":{"type":"choice","criteria":{"b":null,"a":null,"c":null}},"s":{"type":"score","criteria":["lo",{"k":1},"hi"]}}}`)
	spans := []engine.QuestionSpans{{Order: []int{0, 1}}, {Order: []int{1, 0, 2}}, {Order: []int{0, 1, 2}}}
	log := func(p ...float64) []float32 {
		z := make([]float32, len(p))
		for i, x := range p {
			z[i] = float32(math.Log(x)) + 3
		}
		return z
	}
	// The prompt has the options a, b, c; the answer b, a, c.
	_, err := Build(r, spans, [][]float32{log(0.953121, 0.046879), log(0.12, 0.86, 0.02), log(0, 0.95, 0.05)}, Options{})
	if engine.ReasonOf(err) != engine.Device {
		t.Errorf("got %v for a logit of -Inf, want Device", err)
	}
	got, err := Build(r, spans, [][]float32{log(0.953121, 0.046879), log(0.12, 0.86, 0.02), log(1e-9, 0.95, 0.05)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, c, s := got[0], got[1], got[2]
	if n.ID != "n" || n.Noul != 0.953121 || !slices.Equal(n.Options, []string{"true", "false"}) || n.Confidence != 0 {
		t.Errorf("noul: got %+v", n)
	}
	if !slices.Equal(c.Options, []string{"b", "a", "c"}) || !slices.Equal(c.Probs, []float64{0.86, 0.12, 0.02}) || c.Best != 0 || c.Confidence != 0.79 {
		t.Errorf("choice: got %+v", c)
	}
	if s.Score != 1.05 || s.Confidence != 0.925 || s.Best != 1 || s.Legend[1].Render() != `{"k":1}` || !slices.Equal(s.Probs, []float64{0, 0.95, 0.05}) {
		t.Errorf("score: got %+v", s)
	}
	if math.Abs(c.Raw[0]-0.86) > 1e-6 || c.Logits[0] != log(0.86)[0] {
		t.Errorf("got raw %v and logits %v, want request order", c.Raw, c.Logits)
	}
}

func TestBuildRefusesWhatDoesNotFit(t *testing.T) {
	r := &engine.Request{Questions: []engine.Question{*choice("a", "b")}}
	order := []engine.QuestionSpans{{Order: []int{0, 1}}}
	nan := float32(math.NaN())
	for _, c := range []struct {
		spans  []engine.QuestionSpans
		logits [][]float32
		t      float64
		want   engine.Reason
	}{
		{nil, nil, 0, engine.Failed},
		{order, nil, 0, engine.Failed},
		{order, [][]float32{{1}}, 0, engine.Failed},
		{[]engine.QuestionSpans{{Order: []int{0}}}, [][]float32{{1, 2}}, 0, engine.Failed},
		{order, [][]float32{{1, nan}}, 0, engine.Device},
		{order, [][]float32{{float32(math.Inf(1)), 0}}, 0, engine.Device},
		{order, [][]float32{{float32(math.Inf(-1)), 0}}, 0, engine.Device},
		{order, [][]float32{{1, 2}}, -1, engine.Failed},
		{order, [][]float32{{1, 2}}, math.NaN(), engine.Failed},
		{order, [][]float32{{1, 2}}, math.Inf(1), engine.Failed},
	} {
		_, err := Build(r, c.spans, c.logits, Options{Temperature: [3]float64{1, c.t, 1}})
		if err == nil || engine.ReasonOf(err) != c.want {
			t.Errorf("%v %v: got %v, want reason %v", c.spans, c.logits, err, c.want)
		}
	}
}

func TestTemperature(t *testing.T) {
	r := &engine.Request{Questions: []engine.Question{*choice("a", "b")}}
	order := []engine.QuestionSpans{{Order: []int{0, 1}}}
	logits := [][]float32{{2, 0}}
	plain, err := Build(r, order, logits, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for temperature, want := range map[float64]float64{1: 0.880797, 2: 0.731059, 0.5: 0.982014, 1e-9: 1, 1e9: 0.5} {
		got, err := Build(r, order, logits, Options{Temperature: [3]float64{0, temperature, 0}})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got[0].Probs[0]-want) > 2e-6 || got[0].Best != 0 || !slices.Equal(got[0].Raw, plain[0].Raw) {
			t.Errorf("T = %v: got %v and raw %v, want %v and the model's own", temperature, got[0].Probs, got[0].Raw, want)
		}
	}
}

// consistent checks what strict clients check of an answer.
func consistent(t *testing.T, a engine.Answer) {
	t.Helper()
	sum, expect, n := int64(0), 0.0, len(a.Probs)
	for i, p := range a.Probs {
		u := math.Round(p * one)
		if p < 0 || p > 1 || math.Abs(p*one-u) > 1e-6 || len(strconv.FormatFloat(p, 'f', -1, 64)) > 8 {
			t.Fatalf("%v is not a probability of six decimals", p)
		}
		sum += int64(u)
		expect += float64(i) * p
		if p > a.Probs[a.Best] || p == a.Probs[a.Best] && i < a.Best {
			t.Fatalf("best is %d of %v", a.Best, a.Probs)
		}
	}
	if sum != one {
		t.Fatalf("%v sums to %d millionths", a.Probs, sum)
	}
	if a.Kind == engine.Score && (a.Score < 0 || a.Score > float64(n-1) || math.Abs(a.Score-expect) > 1e-9) {
		t.Fatalf("got score %v of %v, want %v", a.Score, a.Probs, expect)
	}
	if a.Confidence < 0 || a.Confidence > 1 || math.IsNaN(a.Confidence) {
		t.Fatalf("got confidence %v of %v", a.Confidence, a.Probs)
	}
	// Rounding keeps the order.
	for i := range a.Raw {
		for j := range a.Raw {
			if a.Raw[i] > a.Raw[j] && a.Probs[i] < a.Probs[j] {
				t.Fatalf("%v became %v", a.Raw, a.Probs)
			}
		}
	}
}

func TestRoundingIsConsistent(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 4000 {
		n := 1 + r.IntN(12)
		if r.IntN(50) == 0 {
			n = 255
		}
		logits := make([]float32, n)
		spread := math.Exp(r.NormFloat64() * 3)
		for i := range logits {
			logits[i] = float32(r.NormFloat64() * spread)
			if r.IntN(4) == 0 {
				logits[i] = logits[0] // ties
			}
		}
		q := score(n)
		if r.IntN(2) == 0 {
			q.Kind = engine.Choice
		}
		consistent(t, FromProbabilities(q, softmax(logits, 1)))
	}
	for _, p := range [][]float64{{1}, {1, 0}, {0, 1}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {1e-300, 1e-300}, {0.1, 0.2, 0.7}, {5, 5}, {4e-7, 1 - 4e-7}, {math.SmallestNonzeroFloat64}} {
		consistent(t, FromProbabilities(score(len(p)), p))
	}
}

func TestTiesGoToTheFirst(t *testing.T) {
	for n := 1; n <= 255; n++ {
		a := FromProbabilities(score(n), softmax(make([]float32, n), 1))
		consistent(t, a)
		if a.Best != 0 {
			t.Errorf("%d equal options: got %d, want the first", n, a.Best)
		}
	}
	a := FromProbabilities(choice("b", "a"), []float64{0.5, 0.5})
	if a.Options[a.Best] != "b" || a.Confidence != 0 {
		t.Errorf("got %+v, want b without confidence", a)
	}
}

func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		q    *engine.Question
		p    []float64
		want float64
	}{
		{choice("a"), []float64{1}, 1},
		{choice("a", "b"), []float64{0.88, 0.12}, 0.76},
		{choice("a", "b", "c", "d"), []float64{0.25, 0.25, 0.25, 0.25}, 0},
		{choice("a", "b", "c"), []float64{0.2, 0.5, 0.3}, 0.25},
		{score(1), []float64{1}, 1},
		{score(2), []float64{0.5, 0.5}, 0},
		{score(3), []float64{0, 0.95, 0.05}, 0.925},
		{score(3), []float64{0.5, 0, 0.5}, 0},
		{score(3), []float64{0, 0, 1}, 1},
		{score(5), []float64{0.1, 0.1, 0.6, 0.1, 0.1}, 0.5},
	} {
		if got := FromProbabilities(c.q, c.p).Confidence; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v %v: got %v, want %v", c.q.Kind, c.p, got, c.want)
		}
	}
}

// reference is the answer object of the reference code (clef.md 7.2): four decimals,
// and the top probability for a confidence.
func reference(a engine.Answer) map[string]any {
	four := func(x float64) float64 {
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', 4, 64), 64)
		return f
	}
	if a.Kind == engine.Noul {
		return map[string]any{"type": "noul", "noul": four(a.Raw[0])}
	}
	best, expect := 0, 0.0
	probabilities := map[string]any{}
	for i, p := range a.Raw {
		if p > a.Raw[best] {
			best = i
		}
		expect += float64(i) * p
		probabilities[a.Options[i]] = four(p)
	}
	out := map[string]any{"type": a.Kind.String(), "confidence": four(a.Raw[best]), "probabilities": probabilities}
	if a.Kind == engine.Choice {
		out["choice"] = a.Options[best]
		return out
	}
	out["score"] = four(expect)
	legend := map[string]any{}
	for i, level := range a.Legend {
		var v any
		if err := json.Unmarshal(level.JSON(), &v); err != nil {
			panic(err)
		}
		legend[a.Options[i]] = v
	}
	out["legend"] = legend
	return out
}

func TestReferenceAnswers(t *testing.T) {
	data, err := os.ReadFile("../testdata/golden/answer_golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Answers []struct {
			Question struct {
				Type     string
				Criteria json.RawMessage
			}
			Probabilities map[string]float64
			Answer        map[string]any
		}
		Round4 [][2]float64
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Answers) != 12 || len(file.Round4) != 13 {
		t.Fatalf("got %d answers and %d numbers, want 12 and 13", len(file.Answers), len(file.Round4))
	}
	for _, c := range file.Answers {
		q := &engine.Question{ID: "q"}
		criteria, err := engine.ParseValue(append([]byte(" "), c.Question.Criteria...), engine.Limits{})
		if err != nil && c.Question.Type != "noul" {
			t.Fatal(err)
		}
		switch c.Question.Type {
		case "choice":
			q.Kind = engine.Choice
			for _, m := range criteria.Fields {
				q.Options = append(q.Options, engine.Option{Name: m.Name, Description: m.Value})
			}
		case "score":
			q.Kind = engine.Score
			for i, item := range criteria.Items {
				q.Options = append(q.Options, engine.Option{Name: strconv.Itoa(i), Description: item})
			}
			for i, m := range criteria.Fields {
				q.Options = append(q.Options, engine.Option{Name: strconv.Itoa(i), Description: engine.Text(m.Name)})
			}
		}
		var p []float64
		for _, name := range optionNames(q) {
			p = append(p, c.Probabilities[name])
		}
		got, _ := json.Marshal(reference(FromProbabilities(q, p)))
		want, _ := json.Marshal(c.Answer)
		if string(got) != string(want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		consistent(t, FromProbabilities(q, p))
	}
	for _, row := range file.Round4 {
		got := reference(engine.Answer{Raw: []float64{row[0]}})["noul"]
		if got != row[1] {
			t.Errorf("round(%v) = %v, want %v", row[0], got, row[1])
		}
	}
}

func TestResponseIsPlain(t *testing.T) {
	r := engine.Response{Model: "m", Answers: []engine.Answer{FromProbabilities(choice("a", "b", "c"), []float64{1e-7, 3e-7, 1})}}
	if text := string(r.JSON()); strings.ContainsAny(text, "eE") && strings.Contains(text, "e-") || strings.Contains(text, "-0") {
		t.Errorf("got %s", text)
	}
}
