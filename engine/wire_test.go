package engine

import (
	"encoding/json"
	"testing"
)

func TestResponseJSON(t *testing.T) {
	r := Response{
		Model: "clef-flash", Usage: Usage{InputTokens: 304}, Truncated: 7, Practice: true,
		Answers: []Answer{
			{ID: "z<>", Kind: Noul, Options: []string{"true", "false"}, Probs: []float64{1e-6, 0.999999}, Noul: 1e-6, Best: 1},
			{ID: "team", Kind: Choice, Options: []string{"sales\u2028", "billing"}, Probs: []float64{0.12, 0.88}, Best: 1, Confidence: 0.76},
			{
				ID: "a", Kind: Score, Options: []string{"0", "1"}, Probs: []float64{0, 1}, Best: 1, Score: 1,
				Confidence: negativeZero(), Legend: []Value{Text("Calm"), {Type: Object, Fields: []Member{{"n", Value{Type: Number, Text: "1.50"}}}}},
			},
		},
	}
	want := `{"model":"clef-flash","answers":{"z<>":{"type":"noul","noul":0.000001},` +
		`"team":{"type":"choice","choice":"billing","probabilities":{"sales` + "\u2028" + `":0.12,"billing":0.88},"confidence":0.76},` +
		`"a":{"type":"score","score":1,"legend":{"0":"Calm","1":{"n":1.50}},"probabilities":{"0":0,"1":1},"confidence":0}},` +
		`"usage":{"input_tokens":304,"output_tokens":0},"x_truncated":true,"x_truncated_tokens":7}`
	if got := string(r.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid(r.JSON()) {
		t.Error("the response is not JSON")
	}
	r = Response{Model: "m"}
	if got, want := string(r.JSON()), `{"model":"m","answers":{},"usage":{"input_tokens":0,"output_tokens":0}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func negativeZero() float64 { z := 0.0; return -z }

func TestRequestJSONIsWhatWasSent(t *testing.T) {
	for _, text := range []string{
		`{"model":"m","state":{"z":1.50,"a":["<b>",null]},"questions":{"q 1":{"type":"noul"},"b":{"type":"noul","instructions":null,` +
			`"criteria":{"false":[]}},"c":{"type":"choice","instructions":{"k":1},"criteria":{"z":null,"a":""}},"d":{"type":"score",` +
			`"instructions":"","criteria":["l",{"n":1e2}]}},"x_truncate":true,"x_mode":"independent","x_ids":"neutral","x_control":"literal"}`,
		`{"state":"","questions":{"q":{"type":"choice","criteria":{"":null}}}}`,
	} {
		r, err := ParseRequest([]byte(text), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.JSON()); got != text {
			t.Errorf("got  %s\nwant %s", got, text)
		}
	}
}

func TestCheckSeesWhatAFormCanBuild(t *testing.T) {
	twice := []Option{{Name: "a"}, {Name: "a"}}
	for want, r := range map[string]Request{
		"missing state; too_short questions":        {},
		"json_duplicate_key questions.q.criteria.a": {State: Text(""), Questions: []Question{{ID: "q", Kind: Choice, Options: twice}}},
		"json_invalid 10":                           {State: Text("\xff"), Questions: []Question{{ID: "q"}}},
		"too_short questions.q.score.criteria":      {State: Text(""), Questions: []Question{{ID: "q", Kind: Score}}},
	} {
		if got := details(r.Check(Limits{})); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	ok := Request{State: Text(""), Questions: []Question{{ID: "q"}}}
	if err := ok.Check(Limits{}); err != nil {
		t.Errorf("got %v, want none", err)
	}
}
