package document

import (
	"strings"
	"testing"

	"clefbar/engine"
)

// keys hands out keys for trees made by hand.
func keys() func() Key {
	k := firstKey
	return func() Key { k++; return k }
}

func mustTree(t *testing.T, text string) *node {
	t.Helper()
	_, root, _, err := parseTree([]byte(text), keys())
	if err != nil {
		t.Fatalf("parse %q: %v", text, err)
	}
	return root
}

func TestTreeKeepsEveryByte(t *testing.T) {
	for _, text := range []string{
		`{}`, `[ ]`, "{\t}\r\n", `"a"`, `-0.0`, `1E+2`, `null`,
		` { "a" : 1e2 , "b":[ 1,2 , {"c": null} ], "a":"\u00e9\/\ud83d\ude00" } `,
		"{\r\n\t\"x\"\t:\t[\r\n]\r\n}",
		`{"\ud83d":"\ude00 half"}`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth),
	} {
		lead, root, tail, err := parseTree([]byte(text), keys())
		if err != nil {
			t.Errorf("parse %q: %v", text, err)
			continue
		}
		if got := lead + string(appendNode(nil, root)) + tail; got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestTreeRefusesWithPlace(t *testing.T) {
	for _, c := range []struct {
		text, message string
		line, column  int
	}{
		{`{not json`, "a name in double quotes", 1, 2},
		{`{'a': 1}`, "a name in double quotes", 1, 2},
		{`{"a": 1, }`, "a name in double quotes", 1, 10},
		{`{"a" 1}`, "a colon", 1, 6},
		{`{"a": 1 "b": 2}`, "a comma or }", 1, 9},
		{`[1 2]`, "a comma or ]", 1, 4},
		{`["\x"]`, "no escape", 1, 4},
		{`["\u12g4"]`, "hexadecimal", 1, 7},
		{`[01]`, "a comma or ]", 1, 3},
		{`[1.]`, "no number", 1, 4},
		{`[` + "\n" + `'a']`, "text in double quotes", 2, 1},
		{"{\n  \"é\": nul\n}", "true, false or null", 2, 11},
		{"{\"a\": NaN}", "a value was expected", 1, 7},
		{`{"a": 1} x`, "after the end", 1, 10},
		{`{"a": 1`, "ends too early", 1, 8},
		{" \n", "no JSON here yet", 2, 1},
		{"{\"a\": \"\xff\"}", "not UTF-8", 1, 8},
		{"{\"a\": \"\t\"}", "control character", 1, 8},
		{strings.Repeat("[", maxDepth+1), "64 levels", 1, 65},
	} {
		_, _, _, err := parseTree([]byte(c.text), keys())
		e, ok := err.(*SyntaxError)
		if !ok {
			t.Errorf("%q: got %v, want a SyntaxError", c.text, err)
			continue
		}
		if e.Line != c.line || e.Column != c.column || !strings.Contains(e.Message, c.message) {
			t.Errorf("%q: got %d:%d %s, want %d:%d with %q", c.text, e.Line, e.Column, e.Message, c.line, c.column, c.message)
		}
	}
}

func TestInsertTakesTheSpacingOfItsNeighbours(t *testing.T) {
	for _, c := range []struct {
		name, text string
		at         int
		want       string
	}{
		{"pretty, end", "{\n  \"a\": 1,\n  \"b\": 2\n}", 2, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"n\": 0\n}"},
		{"pretty, start", "{\n  \"a\": 1,\n  \"b\": 2\n}", 0, "{\n  \"n\": 0,\n  \"a\": 1,\n  \"b\": 2\n}"},
		{"pretty, middle", "{\n  \"a\": 1,\n  \"b\": 2\n}", 1, "{\n  \"a\": 1,\n  \"n\": 0,\n  \"b\": 2\n}"},
		{"pretty, one", "{\n\t\"a\" : 1\n}", 1, "{\n\t\"a\" : 1,\n\t\"n\" : 0\n}"},
		{"compact", `{"a":1,"b":2}`, 1, `{"a":1,"n":0,"b":2}`},
		{"one line", `{"a": 1, "b": 2}`, 0, `{"n": 0, "a": 1, "b": 2}`},
		{"one line, end", `{ "a": 1, "b": 2 }`, 2, `{ "a": 1, "b": 2, "n": 0 }`},
		{"comma first", "{ \"a\": 1\n, \"b\": 2\n}", 2, "{ \"a\": 1\n, \"b\": 2\n, \"n\": 0\n}"},
		{"empty", `{}`, 0, "{\n  \"n\": 0\n}"},
	} {
		root := mustTree(t, c.text)
		e := entry{id: "n", value: &node{typ: engine.Number, raw: "0"}}
		if got := string(appendNode(nil, root.insert(c.at, e, styleOf(root)))); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := string(appendNode(nil, root.insert(c.at, e, styleOf(root)).remove(c.at))); got != c.text && c.text != "{}" {
			t.Errorf("%s: after removing it again got %q, want %q", c.name, got, c.text)
		}
	}
}

func TestMoveAndRemoveKeepThePlaces(t *testing.T) {
	root := mustTree(t, "[ 1 ,\n2,\n  3\n]")
	if got, want := string(appendNode(nil, root.move(0, 2))), "[ 2 ,\n3,\n  1\n]"; got != want {
		t.Errorf("move: got %q, want %q", got, want)
	}
	if got, want := string(appendNode(nil, root.remove(2))), "[ 1 ,\n2\n]"; got != want {
		t.Errorf("remove last: got %q, want %q", got, want)
	}
	if got, want := string(appendNode(nil, root.remove(0))), "[ 2,\n  3\n]"; got != want {
		t.Errorf("remove first: got %q, want %q", got, want)
	}
}

func TestSpellingEscapesOnlyWhatItMust(t *testing.T) {
	in := "<b>5 & 6</b> \u2028 \u2029 é 😀 / \x7f \" \\ \n\r\t\b\f\x00\x1f \xff"
	want := "\"<b>5 & 6</b> \u2028 \u2029 é 😀 / \x7f \\\" \\\\ \\n\\r\\t\\b\\f\\u0000\\u001f \ufffd\""
	if got := string(appendQuoted(nil, in)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
