package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recordsFile writes n labelled records, bad lines among them, and returns its name.
func recordsFile(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"r%d","state":"ticket number %d","questions":{"team":{"type":"choice","criteria":{"a":null,"b":"x"}},`+
			`"ok":{"type":"noul"},"mood":{"type":"score","criteria":["low","mid","high"]}},"gold":{"team":"%c","ok":%t,"mood":%d}}`+"\n",
			i, i, 'a'+i%2, i%3 == 0, i%3)
	}
	b.WriteString("{not json\n" + `{"state":null,"questions":{}}` + "\n")
	name := filepath.Join(t.TempDir(), "records.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func decode[T any](t *testing.T, r ran) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", r.code, err, r.out, r.err)
	}
	return v
}

func TestEval(t *testing.T) {
	file := recordsFile(t, 8)
	out := filepath.Join(t.TempDir(), "answers.jsonl")
	got := run(t, "", "eval", file, "--model", tiny(t), "--precision", "f32", "--out", out)
	first := decode[evalReport](t, got)
	if got.code != 0 || first.Records != 8 || first.Done != 8 || len(first.Bad) != 2 || first.Bad[0].Line != 9 || first.Kinds["all"].Decisions != 24 {
		t.Fatalf("exit %d: %+v", got.code, first)
	}
	if !strings.Contains(got.err, "line 9: ") || !strings.Contains(got.err, "line 10: ") {
		t.Errorf("the bad lines are not named: %s", got.err)
	}
	written, err := os.ReadFile(out)
	if err != nil || strings.Count(string(written), "\n") != 8 {
		t.Fatalf("--out: got %d lines, %v; want 8", strings.Count(string(written), "\n"), err)
	}
	// An interrupted run has some lines and half of another one.
	lines := strings.SplitAfter(string(written), "\n")
	if err := os.WriteFile(out, []byte(strings.Join(lines[:3], "")+lines[3][:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	again := decode[evalReport](t, run(t, "", "eval", file, "--model", tiny(t), "--precision", "f32", "--out", out, "--resume"))
	if again.Done != 8 || again.Kinds["all"] != first.Kinds["all"] {
		t.Errorf("after --resume: got %+v, want %+v", again.Kinds["all"], first.Kinds["all"])
	}
	resumed, err := os.ReadFile(out)
	if err != nil || strings.Count(string(resumed), "\n") != 8 || !strings.HasPrefix(string(resumed), strings.Join(lines[:3], "")) {
		t.Errorf("--out after --resume: got %s, %v", resumed, err)
	}
	if got := run(t, "", "eval", file, "--out", out, "--resume"); got.code != exitUsage || !strings.Contains(got.err, "etude") {
		t.Errorf("--resume with another model: got %d %s", got.code, got.err)
	}
}

func TestEvalRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.jsonl")
	if err := os.WriteFile(empty, []byte("\n{bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"eval", "none.jsonl"},
		{"eval", empty},
		{"eval", empty, "--resume"},
		{"eval", empty, "--threshold", "0"},
		{"eval", empty, "--threshold", "NaN"},
		{"compare", empty, "f32"},
		{"calibrate"},
	} {
		if got := run(t, "", append(args, "--model", tiny(t))...); got.code != exitUsage {
			t.Errorf("%v: got exit %d, want 2: %s", args, got.code, got.err)
		}
	}
}

// TestEvalLosesNothing: records stay as they are when --out names them by mistake, by whatever name, and what
// can only give figures of nothing is refused with the reason.
func TestEvalLosesNothing(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const record = `{"state":"x","questions":{"a":{"type":"noul"}}`
	gold := write("gold.jsonl", record+`,"gold":{"a":true}}`+"\n")
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(gold, link); err != nil {
		t.Fatal(err)
	}
	bare := write("bare.jsonl", record+"}\n"+record+`,"gold":{"a":null}}`+"\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{gold, "--out", gold}, "holds the records"},
		{[]string{gold, "--out", link}, "holds the records"},
		{[]string{link, "--out", gold, "--resume"}, "holds the records"},
		{[]string{bare}, "no right answers"},
		{[]string{write("csv.jsonl", "state,gold\n"), "--quiet"}, "line 1: The body is not valid JSON"},
		{[]string{write("empty.jsonl", "\n")}, "it is empty"},
	} {
		if got := run(t, "", append([]string{"eval", "--model", tiny(t)}, tt.args...)...); got.code != exitUsage || !strings.Contains(got.err, tt.want) {
			t.Errorf("%v: got exit %d, %s; want 2 and …%s…", tt.args, got.code, got.err, tt.want)
		}
	}
	if left, err := os.ReadFile(gold); err != nil || !strings.HasPrefix(string(left), record) {
		t.Errorf("the records are now %s, %v", left, err)
	}
	out := filepath.Join(dir, "out.jsonl")
	got := run(t, "", "eval", "--model", tiny(t), "--json=false", bare, "--out", out)
	if kept, err := os.ReadFile(out); got.code != 0 || err != nil || strings.Count(string(kept), "\n") != 2 || !strings.Contains(got.out, "nothing to compare with") || strings.Contains(got.out, "0.000") {
		t.Errorf("without gold: got exit %d, %s; %d bytes kept, %v; want probabilities and no figures", got.code, got.out, len(kept), err)
	}
}

func TestCompare(t *testing.T) {
	file := recordsFile(t, 5)
	same := decode[compareReport](t, run(t, "", "compare", file, "f32", tiny(t)+"@f32", "--model", tiny(t)))
	if same.Decisions != 15 || same.Changed != 0 || same.Largest != 0 {
		t.Errorf("a model beside itself: got %+v", same)
	}
	other := decode[compareReport](t, run(t, "", "compare", file, tiny(t), "etude", "--precision", "f32"))
	if other.Decisions != 15 || other.Largest == 0 || other.Changed+other.Crossed == 0 || len(other.Differences) == 0 {
		t.Errorf("two models: got %+v", other.Comparison)
	}
	for i := 1; i < len(other.Differences); i++ {
		if other.Differences[i].Margin < other.Differences[i-1].Margin {
			t.Errorf("margins are not in order: %v", other.Differences)
		}
	}
}

func TestCalibrate(t *testing.T) {
	file := recordsFile(t, 20)
	settings := filepath.Join(t.TempDir(), "settings.json")
	t.Setenv("CLEFBAR_SETTINGS_FOR_TEST", settings)
	got := decode[calibrateReport](t, run(t, "", "calibrate", file, "--model", tiny(t), "--save"))
	if !got.Saved || got.Temperature <= 0 || got.Decisions != 60 || got.Splits != 20 {
		t.Fatalf("got %+v", got)
	}
	ask := []string{"decide", "--state", "x", "--choice", "q: a; b", "--model", tiny(t)}
	plain := run(t, "", append(ask, "--uncalibrated")...)
	tempered := run(t, "", ask...)
	if plain.code != 0 || tempered.code != 0 || plain.out == tempered.out {
		t.Errorf("the saved temperature does not reach the answer: %s and %s", plain.out, tempered.out)
	}
	if few := run(t, "", "calibrate", recordsFile(t, 3), "--model", tiny(t)); few.code != exitFailed || !strings.Contains(few.err, "too few") {
		t.Errorf("9 decisions: got %d %s", few.code, few.err)
	}
}
