package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/engine"
)

// ask returns the request that flags make, as JSON.
func askFlags(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var f caseFlags
	cmd := newDecide(&common{})
	cmd.ResetFlags()
	f.register(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return "", err
	}
	r, err := f.request(t.Context())
	if err != nil {
		return "", err
	}
	return string(r.JSON()), r.Check(engine.Limits{})
}

func TestCaseFlags(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	twice := write("twice.json", `{"a":1,"a":2}`)
	text, object := write("a.txt", "\ufeffline one\nline two\n"), write("a.json", `{"b": 1.0, "a": [1e5]}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{
			[]string{"--state", "x", "--noul", "b: Is it?", "--choice", "a: billing=Payments or invoices; technical = Bugs, outages ;other", "--score", "c: Can wait | This week|Today"},
			`{"state":"x","questions":{"b":{"type":"noul","instructions":"Is it?"},` +
				`"a":{"type":"choice","criteria":{"billing":"Payments or invoices","technical":"Bugs, outages","other":null}},` +
				`"c":{"type":"score","criteria":["Can wait","This week","Today"]}}}`,
		},
		{
			[]string{"--state", "x", "--choice", "a: Which team? :: b=c=d; e", "--score", "s: How bad: really? :: lo | hi", "--noul", "q"},
			`{"state":"x","questions":{"a":{"type":"choice","instructions":"Which team?","criteria":{"b":"c=d","e":null}},` +
				`"s":{"type":"score","instructions":"How bad: really?","criteria":["lo","hi"]},"q":{"type":"noul"}}}`,
		},
		{[]string{"--state", "", "--noul", "질문 🎯: x: y"}, `{"state":"","questions":{"질문 🎯":{"type":"noul","instructions":"x: y"}}}`},
		{[]string{"--state", "@" + text, "--noul", "q"}, `{"state":"line one\nline two\n","questions":{"q":{"type":"noul"}}}`},
		{[]string{"--state", "@" + object, "--noul", "q"}, `{"state":{"b":1.0,"a":[1e5]},"questions":{"q":{"type":"noul"}}}`},
		{
			[]string{"--state", "x", "--choice", `a\:b: Which\: one? :: c\;d=e\=f \; g; h\\; C:\dir=i:j`, "--score", `s: lo\|er | C:\dir \d | hi`, "--noul", `q\:r: \d;|=\\`},
			`{"state":"x","questions":{"a:b":{"type":"choice","instructions":"Which: one?","criteria":{"c;d":"e=f ; g","h\\":null,"C:\\dir":"i:j"}},` +
				`"s":{"type":"score","criteria":["lo|er","C:\\dir \\d","hi"]},"q:r":{"type":"noul","instructions":"\\d;|=\\\\"}}}`,
		},
		{[]string{"--state", "@@home", "--noul", "q"}, `{"state":"@home","questions":{"q":{"type":"noul"}}}`},
	} {
		if got, err := askFlags(t, c.args...); err != nil || got != c.want {
			t.Errorf("%q:\n got %s, %v\nwant %s", c.args, got, err, c.want)
		}
	}
	for _, args := range [][]string{
		{"--noul", "q"},
		{"--state", "x"},
		{"--state", "x", "--state", "y", "--noul", "q"},
		{"--state", "@" + filepath.Join(dir, "none"), "--noul", "q"},
		{"--state", "@" + twice, "--noul", "q"},
		{"--state", "x", "--choice", "a"},
		{"--state", "x", "--choice", `a\: b`},
		{"--state", "x", "--choice", ": b"},
		{"--state", "x", "--choice", "a: ;"},
		{"--state", "x", "--choice", "a: =b"},
		{"--state", "x", "--choice", "a: b; b"},
		{"--state", "x", "--choice", "a: " + strings.Repeat("b;", 2)},
		{"--state", "x", "--score", "a: " + strings.Repeat("b|", 11) + "c"},
		{"--state", "\xff", "--noul", "q"},
		{"--state", "x", "--noul", "\xff"},
	} {
		if got, err := askFlags(t, args...); err == nil {
			t.Errorf("%q: got %s, want an error", args, got)
		}
	}
}
