package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// ask wraps questions in a request with a state.
func ask(questions string) string { return `{"state":"s","questions":` + questions + `}` }

func numbered(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

func TestParseRequestRefuses(t *testing.T) {
	one := `{"q":{"type":"noul"}}`
	for _, c := range []struct{ name, json, want string }{
		{"not an object", `[]`, "dict_type body"},
		{"null", `null`, "dict_type body"},
		{"nothing", `{}`, "missing state; missing questions"},
		{"no state", `{"questions":` + one + `}`, "missing state"},
		{"null state", `{"state":null,"questions":` + one + `}`, "union_type state"},
		{"false state", `{"state":false,"questions":` + one + `}`, "union_type state"},
		{"number state", `{"state":0,"questions":` + one + `}`, "union_type state"},
		{"no questions", `{"state":""}`, "missing questions"},
		{"null questions", ask(`null`), "dict_type questions"},
		{"empty questions", ask(`{}`), "too_short questions"},
		{"list of questions", ask(`[]`), "dict_type questions"},
		{"string of questions", ask(`"q"`), "dict_type questions"},
		{"string question", ask(`{"q":"Is it urgent?"}`), "dict_type questions.q"},
		{"null question", ask(`{"q":null}`), "dict_type questions.q"},
		{"257 questions", ask(`{` + numbered(257, `"q%d":{"type":"noul"}`) + `}`), "too_long questions"},
		{"empty id", ask(`{"":{"type":"noul"}}`), "string_too_short questions."},
		{"long id", ask(`{"` + strings.Repeat("é", 513) + `":{"type":"noul"}}`), "string_too_long questions." + strings.Repeat("é", 30) + "…"},
		{"no type", ask(`{"q":{"instructions":"x"}}`), "union_tag_not_found questions.q.type"},
		{"null type", ask(`{"q":{"type":null}}`), "union_tag_invalid questions.q.type"},
		{"type rank", ask(`{"q":{"type":"rank"}}`), "union_tag_invalid questions.q.type"},
		{"type Choice", ask(`{"q":{"type":"Choice","criteria":{"a":null}}}`), "union_tag_invalid questions.q.type"},
		{"type box", ask(`{"q":{"type":"box"}}`), "union_tag_invalid questions.q.type"},
		{"number instruction", ask(`{"q":{"type":"noul","instructions":1}}`), "union_type questions.q.noul.instructions"},
		{"false instruction", ask(`{"q":{"type":"score","instructions":false,"criteria":["a"]}}`), "union_type questions.q.score.instructions"},
		{"noul list", ask(`{"q":{"type":"noul","criteria":[]}}`), "dict_type questions.q.noul.criteria"},
		{"noul yes", ask(`{"q":{"type":"noul","criteria":{"yes":"x"}}}`), "extra_forbidden questions.q.noul.criteria.yes"},
		{"noul number", ask(`{"q":{"type":"noul","criteria":{"true":1}}}`), "union_type questions.q.noul.criteria.true"},
		{"choice without criteria", ask(`{"q":{"type":"choice"}}`), "missing questions.q.choice.criteria"},
		{"choice null", ask(`{"q":{"type":"choice","criteria":null}}`), "missing questions.q.choice.criteria"},
		{"choice list", ask(`{"q":{"type":"choice","criteria":["a","b"]}}`), "dict_type questions.q.choice.criteria"},
		{"choice empty", ask(`{"q":{"type":"choice","criteria":{}}}`), "too_short questions.q.choice.criteria"},
		{"256 options", ask(`{"q":{"type":"choice","criteria":{` + numbered(256, `"o%d":null`) + `}}}`), "too_long questions.q.choice.criteria"},
		{"boolean description", ask(`{"q":{"type":"choice","criteria":{"a":true,"b":2}}}`), "union_type questions.q.choice.criteria.a; union_type questions.q.choice.criteria.b"},
		{"score without criteria", ask(`{"q":{"type":"score"}}`), "missing questions.q.score.criteria"},
		{"score map", ask(`{"q":{"type":"score","criteria":{"0":"a"}}}`), "list_type questions.q.score.criteria"},
		{"score string", ask(`{"q":{"type":"score","criteria":"abc"}}`), "list_type questions.q.score.criteria"},
		{"score empty", ask(`{"q":{"type":"score","criteria":[]}}`), "too_short questions.q.score.criteria"},
		{"11 levels", ask(`{"q":{"type":"score","criteria":[` + numbered(11, `"%d"`) + `]}}`), "too_long questions.q.score.criteria"},
		{"null level", ask(`{"q":{"type":"score","criteria":["a",null]}}`), "union_type questions.q.score.criteria.1"},
		{"number level", ask(`{"q":{"type":"score","criteria":[3]}}`), "union_type questions.q.score.criteria.0"},
		{"model number", `{"model":1,"state":"s","questions":` + one + `}`, "string_type model"},
		{"duplicate option", ask(`{"q":{"type":"choice","criteria":{"yes":"A","no":"B","yes":"C"}}}`), "json_duplicate_key questions.q.criteria.yes"},
		{"duplicate question", ask(`{"q":{"type":"noul"},"q":{"type":"noul"}}`), "json_duplicate_key questions.q"},
		{"lone surrogate", `{"state":"\ud83d","questions":` + one + `}`, "json_invalid state"},
		{"x_mode", `{"state":"","questions":` + one + `,"x_mode":"fast"}`, "literal_error x_mode"},
		{"x_ids", `{"state":"","questions":` + one + `,"x_ids":true}`, "literal_error x_ids"},
		{"x_truncate", `{"state":"","questions":` + one + `,"x_truncate":"yes"}`, "bool_type x_truncate"},
		{"video", `{"state":"","questions":` + one + `,"videos":["x"]}`, "media_unsupported videos"},
		{"audio", `{"state":"","questions":` + one + `,"audio":{}}`, "media_unsupported audio"},
		{
			"many faults in order",
			`{"state":1,"model":2,"questions":{"a":{},"b":{"type":"score","criteria":[null,1]},"c":3}}`,
			"union_type state; string_type model; union_tag_not_found questions.a.type; union_type questions.b.score.criteria.0; " +
				"union_type questions.b.score.criteria.1; dict_type questions.c",
		},
	} {
		r, err := ParseRequest([]byte(c.json), Limits{})
		if err == nil {
			t.Errorf("%s: got %+v, want %s", c.name, r, c.want)
		} else if got := details(err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseRequestAccepts(t *testing.T) {
	for _, c := range []struct {
		name, json string
		want       Request
	}{
		{
			"empty strings are kept, null and missing told apart",
			ask(`{"q":{"type":"choice","instructions":null,"criteria":{"b":null,"a":"","":{}}}}`),
			Request{State: Text("s"), Questions: []Question{{
				ID: "q", Kind: Choice, Instructions: Value{Type: Null},
				Options: []Option{{"b", Value{Type: Null}}, {"a", Text("")}, {"", Value{Type: Object}}},
			}}},
		},
		{
			"a null side of a noul is the default",
			ask(`{"질문 🎯":{"type":"noul","criteria":{"false":"no","true":null}}}`),
			Request{State: Text("s"), Questions: []Question{{
				ID: "질문 🎯", Kind: Noul, Options: []Option{{"true", Value{}}, {"false", Text("no")}},
			}}},
		},
		{
			"one option, one level, unknown fields",
			`{"seed":1,"temperature":0,"store":null,"x_nonce":"1","model":null,"state":[],"images":[],"videos":null,"audio":[],
			"questions":{"a":{"type":"choice","criteria":{"true":"x"},"weight":2},"b":{"type":"score","criteria":[["l"]]}}}`,
			Request{State: Value{Type: Array}, Questions: []Question{
				{ID: "a", Kind: Choice, Options: []Option{{"true", Text("x")}}},
				{ID: "b", Kind: Score, Options: []Option{{"0", Value{Type: Array, Items: []Value{Text("l")}}}}},
			}},
		},
		{
			"our own options",
			`{"model":"jev-latest","state":{},"questions":{"q":{"type":"noul"}},"x_truncate":true,"x_mode":"independent","x_ids":"neutral","x_control":"literal"}`,
			Request{
				Model: "jev-latest", State: Value{Type: Object}, Truncate: true, Independent: true, NeutralIDs: true, Literal: true,
				Questions: []Question{{ID: "q", Kind: Noul, Options: []Option{{Name: "true"}, {Name: "false"}}}},
			},
		},
	} {
		got, err := ParseRequest([]byte(c.json), Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.name, details(err))
			continue
		}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, *got, c.want)
		}
		again, err := ParseRequest(got.JSON(), Limits{})
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: got %+v and %v from %s", c.name, again, err, got.JSON())
		}
	}
}

func TestLimitsSayWhatIsLeftOut(t *testing.T) {
	limits := Limits{Questions: 1, Options: 2, Levels: 1, IDBytes: 2, NeutralIDs: true, Independent: true}
	r, err := ParseRequest([]byte(`{"state":"","questions":{"q":{"type":"noul"}},"x_ids":"verbatim"}`), limits)
	if err != nil || r.NeutralIDs || !r.Independent {
		t.Errorf("got %+v, %v, want independent with the caller's ids", r, err)
	}
	for json, want := range map[string]string{
		ask(`{"a":{"type":"noul"},"b":{"type":"noul"}}`):                               "too_long questions",
		ask(`{"abc":{"type":"noul"}}`):                                                 "string_too_long questions.abc",
		ask(`{"a":{"type":"choice","criteria":{"a":null,"b":null,"c":null}}}`):         "too_long questions.a.choice.criteria",
		ask(`{"a":{"type":"score","criteria":["a","b"]}}`):                             "too_long questions.a.score.criteria",
		`{"state":"","questions":{"a":{"type":"noul"}},"x_ids":"neutral","x_mode":""}`: "literal_error x_mode",
	} {
		if _, err := ParseRequest([]byte(json), limits); details(err) != want {
			t.Errorf("%s: got %q, want %q", json, details(err), want)
		}
	}
}

func TestNullSides(t *testing.T) {
	const text = `{"state":"s","questions":{"q":{"type":"noul","criteria":{"true":null}}}}`
	for keep, want := range map[bool]string{false: `{"state":"s","questions":{"q":{"type":"noul"}}}`, true: text} {
		r, err := ParseRequest([]byte(text), Limits{KeepNullSides: keep})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(r.JSON()); got != want {
			t.Errorf("keep %v: got %s, want %s", keep, got, want)
		}
	}
}

// A megabyte of small values is the worst case; a megabyte of text is the usual one.
func BenchmarkParseRequest1MB(b *testing.B) {
	var values, text strings.Builder
	for i := 0; values.Len() < 1<<20; i++ {
		fmt.Fprintf(&values, `{"id":%d,"name":"item \"%d\" — naïve","price":%d.50,"tags":["a","b"],"ok":true},`, i, i, i)
		fmt.Fprintf(&text, `Line %d: the \"order\" was damaged, and the customer wants a refund — today.\n`, i)
	}
	for name, state := range map[string]string{"values": "[" + values.String() + "null]", "text": `"` + text.String() + `"`} {
		data := []byte(`{"state":` + state + `,"questions":{"q":{"type":"noul"}}}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := ParseRequest(data, Limits{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
