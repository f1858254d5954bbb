package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// details returns a request's faults as "type loc" lines.
func details(err error) string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return fmt.Sprint(err)
	}
	lines := []string{}
	for _, d := range e.Details {
		path := []string{}
		for _, step := range d.Loc[1:] {
			path = append(path, fmt.Sprint(step))
		}
		if len(path) == 0 {
			path = []string{fmt.Sprint(d.Loc[0])}
		}
		lines = append(lines, d.Type+" "+strings.Join(path, "."))
	}
	if len(lines) == 0 {
		return fmt.Sprint(e.Reason, " ", e.Message)
	}
	return strings.Join(lines, "; ")
}

func TestParseValueRefuses(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct{ name, json, want string }{
		{"empty", ``, "json_invalid 0"},
		{"white space", " \n", "json_invalid 2"},
		{"not json", `{not json`, "json_invalid 1"},
		{"cut", `{"a":[1,2`, "json_invalid 9"},
		{"cut string", `{"a`, "json_invalid 3"},
		{"cut escape", `"a\`, "json_invalid 2"},
		{"cut unicode", `"\u12`, "json_invalid 1"},
		{"bad hex", `"\u12g4"`, "json_invalid 1"},
		{"bad escape", `"\x"`, "json_invalid 1"},
		{"raw newline", "\"a\nb\"", "json_invalid 2"},
		{"trailing comma", `[1,]`, "json_invalid 3"},
		{"trailing comma in object", `{"a":1,}`, "json_invalid 7"},
		{"trailing data", `{} {}`, "json_invalid 3"},
		{"trailing nul", "{}\x00", "json_invalid 2"},
		{"comment", `{} // x`, "json_invalid 3"},
		{"single quotes", `{'a':1}`, "json_invalid 1"},
		{"byte order mark", "\xef\xbb\xbf{}", "json_invalid 0"},
		{"utf-16", "{\x00}\x00", "json_invalid 1"},
		{"invalid utf-8", "\"ab\xff\"", "json_invalid 3"},
		{"overlong utf-8", "\"\xc0\xaf\"", "json_invalid 1"},
		{"surrogate in utf-8", "\"\xed\xa0\x80\"", "json_invalid 1"},
		{"NaN", `{"a":NaN}`, "json_invalid 5"},
		{"Infinity", `[Infinity]`, "json_invalid 1"},
		{"-Infinity", `[-Infinity]`, "json_invalid 2"},
		{"overflow", `[1e999]`, "json_invalid 1"},
		{"negative overflow", `[0, -1.5E+400]`, "json_invalid 4"},
		{"leading zero", `[01]`, "json_invalid 2"},
		{"plus", `[+1]`, "json_invalid 1"},
		{"bare point", `[.5]`, "json_invalid 1"},
		{"point without digits", `[1.]`, "json_invalid 3"},
		{"exponent without digits", `[1e]`, "json_invalid 3"},
		{"minus alone", `[-]`, "json_invalid 2"},
		{"hex", `[0x10]`, "json_invalid 2"},
		{"wrong word", `[trie]`, "json_invalid 1"},
		{"65 levels", deep(65), "json_too_deep 64"},
		{"a million levels", strings.Repeat(`{"a":`, 1e6), "json_too_deep 320"},
		{"duplicate", `{"a":{"b":1,"c":2,"b":3}}`, "json_duplicate_key a.b"},
		{"duplicate by escape", `{"\u0061":1,"a":2}`, "json_duplicate_key a"},
		{"duplicate in an array", `[0,{"x":1,"x":1}]`, "json_duplicate_key 1.x"},
		{"two duplicates", `{"a":1,"a":1,"b":{"":0,"":0}}`, "json_duplicate_key a; json_duplicate_key b."},
		{"late duplicate", `{"1":0,"2":0,"3":0,"4":0,"5":0,"6":0,"7":0,"8":0,"9":0,"a":0,"b":0,"c":0,"d":0,"e":0,"2":0,"e":0}`, "json_duplicate_key 2; json_duplicate_key e"},
		{"high surrogate", `{"state":{"t":"\ud83d"}}`, "json_invalid state.t"},
		{"low surrogate", `["\ude00x"]`, "json_invalid 0"},
		{"two high surrogates", `{"a":"\ud83d\ud83d\ude00"}`, "json_invalid a"},
		{"surrogate in a name", `{"x\ud800":1}`, "json_invalid x\ufffd"},
		{"surrogate before escape", `["\ud83d\n"]`, "json_invalid 0"},
	} {
		v, err := ParseValue([]byte(c.json), Limits{})
		if got := details(err); got != strings.TrimSpace(c.want) {
			t.Errorf("%s: got %q and %v, want %q", c.name, got, v.Type, c.want)
		}
		if ReasonOf(err) != Invalid {
			t.Errorf("%s: got reason %v, want Invalid", c.name, ReasonOf(err))
		}
	}
	if _, err := ParseValue([]byte(deep(64)), Limits{}); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

func TestParseValueCaps(t *testing.T) {
	for _, c := range []struct {
		json   string
		limits Limits
		want   string
	}{
		{`"12345678"`, Limits{Body: 9}, "too_long body"},
		{`"1234567"`, Limits{Body: 9}, ""},
		{`[1,2,3]`, Limits{Values: 3}, "too_long 5"},
		{`[1,2]`, Limits{Values: 3}, ""},
		{`[[1]]`, Limits{Depth: 1}, "json_too_deep 1"},
	} {
		_, err := ParseValue([]byte(c.json), c.limits)
		got := ""
		if err != nil {
			got = details(err)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.json, got, c.want)
		}
	}
}

func TestFaultsAreBounded(t *testing.T) {
	_, err := ParseValue([]byte("{"+strings.Repeat(`"a":0,`, 5000)+`"a":0}`), Limits{})
	if e, ok := errors.AsType[*Error](err); !ok || len(e.Details) != maxDetails {
		t.Errorf("got %v, want %d details", err, maxDetails)
	}
}

func TestSentences(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for json, want := range map[string]string{
		`{"a":1,}`:                            "The body is not valid JSON: expected a name in quotes (at byte 7)",
		`{"a":{"b":"\ud800"}}`:                `a.b: The text holds half of a surrogate pair, \ud800, which is no character (at byte 11)`,
		`{"a":1,"a":2,"b":1,"b":2}`:           `a: The name "a" appears twice in one object (and 1 more)`,
		`{"` + long + `":1,"` + long + `":2}`: strings.Repeat("é", 512) + `…: The name "` + strings.Repeat("é", 30) + `…" appears twice in one object`,
	} {
		if _, err := ParseValue([]byte(json), Limits{}); err == nil || err.Error() != want {
			t.Errorf("%.80s: got %q, want %q", json, err, want)
		}
	}
}

// TestRefusalsSayWhere: what a person has to look for in a long body is in the sentence.
func TestRefusalsSayWhere(t *testing.T) {
	for body, want := range map[string]string{
		"":             "The body is empty",
		" \r\n\t":      "The body is empty",
		"\"ab\xff\"":   "not valid UTF-8 (at byte 3)",
		`{"a":[1,2`:    "ends too early (at byte 9)",
		`{"a":1,"a":2`: `"a" appears twice`,
	} {
		_, err := ParseValue([]byte(body), Limits{})
		e, ok := errors.AsType[*Error](err)
		if !ok || len(e.Details) == 0 || !strings.Contains(e.Details[0].Msg, want) {
			t.Errorf("%q: got %v, want …%s…", body, err, want)
		}
	}
}
