package document

import (
	"encoding/csv"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/engine"
)

// nasty are texts that break careless quoting.
var nasty = []string{
	"it's \"quoted\" `cmd` $(cmd) $HOME ${x} !! \\ \\n %s {0} #{x}",
	"line\nCLEFBAR\nCLEFBAR_\n\ttab\r\nend '''\"\"\"",
	"emoji 😀 👨\u200d👩\u200d👧 🇩🇪 e\u0301 中文 العربية",
	"controls \x00\x01\x1f\x7f\u0085\u2028\u2029\ufeff\u202e\ufffd\U000e0001",
	"</script><!-- &lt; \\u0041 \\x41 \\U00000041 \\N{BULLET} \\`",
	"", "'", "\\", "`", "@/etc/hosts", "-x", "__proto__", "True", "null",
}

// nastyCase puts them into every place of a request.
func nastyCase(t *testing.T, levels []string) *Case {
	t.Helper()
	c := mustCase(t, `{"state":"","seed":7,"big":[true,false,null,{"deep":"x"}],"questions":{}}`)
	c.SetText(strings.Join(nasty, "\n"))
	q := c.AddQuestion(0, engine.Choice)
	c.SetID(q, nasty[0])
	c.SetInstructions(q, nasty[1])
	for i, s := range nasty {
		o := c.AddOption(q, 99)
		c.SetDescription(q, o, s)
		c.SetName(q, o, nasty[len(nasty)-1-i]+".")
	}
	q = c.AddQuestion(1, engine.Score)
	c.SetInstructions(q, nasty[2])
	for _, s := range levels {
		c.SetDescription(q, c.AddOption(q, 99), s)
	}
	q = c.AddQuestion(2, engine.Noul)
	c.SetInstructions(q, nasty[3])
	c.SetDescription(q, KeyFalse, nasty[4])
	if _, p := c.Request(); len(p) > 0 {
		t.Fatalf("the nasty case is no request: %+v", p)
	}
	return c
}

// exactCase holds what only some languages can spell: names that are numbers,
// numbers that floats round, __proto__.
func exactCase(t *testing.T) *Case {
	t.Helper()
	return mustCase(t, `{"state":{"id":9007199254740993,"one":1.0,"__proto__":{"a":1}},"questions":{"q":{"type":"choice","criteria":{"10":"ten","9":"nine"}}}}`)
}

// program looks a tool up and skips without it.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// run runs a program and returns the request that a server got, or that a stub
// of an SDK wrote down.
func run(t *testing.T, c *Case, source func(Snapshot, Target) string, file string, command ...string) string {
	t.Helper()
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/systemone" && r.Method == "POST" && r.Header.Get("Content-Type") == "application/json" && r.Header.Get("Authorization") == "Bearer s3cret" {
			got, _ = io.ReadAll(r.Body)
		}
		_, _ = w.Write([]byte(`{"answers":{}}`))
	}))
	defer server.Close()
	dir := t.TempDir()
	text := source(c.Snapshot(), Target{BaseURL: server.URL, Model: "jev-latest", Key: true})
	if strings.Contains(text, "s3cret") {
		t.Error("the key is in the text")
	}
	if err := os.CopyFS(dir, os.DirFS("testdata/stub")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t, command[0]), append(command[1:], file)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), keyVariable+"=s3cret", "PYTHONPATH="+dir, "PYTHONIOENCODING=utf-8", "GOFLAGS=", "no_proxy=*")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s\n%s", command, err, out, text)
	}
	if sent, err := os.ReadFile(filepath.Join(dir, "sent.json")); err == nil {
		got = sent
	}
	return string(got)
}

func wantRequest(t *testing.T, name, got string, c *Case) {
	t.Helper()
	r, err := engine.ParseRequest([]byte(got), engine.Limits{})
	if err != nil {
		t.Fatalf("%s sent %q: %v", name, got, err)
	}
	want, err := engine.ParseRequest(c.JSON(), engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if want.Model == "" {
		want.Model = "jev-latest"
	}
	if string(r.JSON()) != string(want.JSON()) {
		t.Errorf("%s: sent\n%s\nwant\n%s", name, r.JSON(), want.JSON())
	}
}

func TestCopiedProgramsSendTheRequest(t *testing.T) {
	long := New()
	long.Attach("", strings.Repeat("a long log's line\n", 10000)+"CLEFBAR\nCLEFBAR")
	long.SetInstructions(long.AddQuestion(0, engine.Noul), "Is it long?")
	cases := map[string]*Case{"nasty": nastyCase(t, nasty[:10]), "exact": exactCase(t), "kitchen": mustCase(t, kitchen), "long": long}
	for _, tool := range []struct {
		name    string
		source  func(Snapshot, Target) string
		file    string
		command []string
	}{
		{"curl in sh", Snapshot.AsCurl, "a.sh", []string{"sh"}},
		{"curl in bash", Snapshot.AsCurl, "a.sh", []string{"bash"}},
		{"curl in zsh", Snapshot.AsCurl, "a.sh", []string{"zsh"}},
		{"Python", Snapshot.AsPython, "a.py", []string{"python3"}},
		{"JavaScript", Snapshot.AsJavaScript, "a.mjs", []string{"node"}},
		{"Go", Snapshot.AsGo, "main.go", []string{"go", "run"}},
	} {
		t.Run(tool.name, func(t *testing.T) {
			program(t, tool.command[0])
			if strings.HasPrefix(tool.name, "curl") {
				program(t, "curl")
			}
			for name, c := range cases {
				if tool.name == "Go" && testing.Short() && name != "nasty" {
					continue
				}
				wantRequest(t, name, run(t, c, tool.source, tool.file, tool.command...), c)
			}
		})
	}
}

func TestCopiedProgramsReadWell(t *testing.T) {
	c := mustCase(t, `{"state":"Our checkout is down.","questions":{"team":{"type":"choice","instructions":"Which team?","criteria":{"billing":"Payments","ops":null}}}}`)
	at := Target{BaseURL: "http://127.0.0.1:2533"}
	for name, pair := range map[string][2]string{
		"curl": {c.Snapshot().AsCurl(at), `curl -sS 'http://127.0.0.1:2533/v1/systemone' \
  -H 'Content-Type: application/json' \
  --data-binary '{"state":"Our checkout is down.","questions":{"team":{"type":"choice","instructions":"Which team?","criteria":{"billing":"Payments","ops":null}}}}'
`},
		"Python": {c.Snapshot().AsPython(at), `# pip install typesafe-sdk
from typesafe_sdk import TypeSafeClient

with TypeSafeClient(base_url="http://127.0.0.1:2533", api_key="local", timeout=60) as client:
    result = client.system_one(
        state="Our checkout is down.",
        questions={
            "team": {
                "type": "choice",
                "instructions": "Which team?",
                "criteria": {"billing": "Payments", "ops": None},
            },
        },
    )

for name, answer in result.answers.items():
    print(name, answer)
`},
		"JavaScript": {c.Snapshot().AsJavaScript(at), `// npm install @typesafe-ai/sdk
import { TypeSafeClient } from "@typesafe-ai/sdk";

const client = new TypeSafeClient({ baseURL: "http://127.0.0.1:2533", apiKey: "local", timeout: 60_000 });
const result = await client.systemOne({
  "state": "Our checkout is down.",
  "questions": {
    "team": {
      "type": "choice",
      "instructions": "Which team?",
      "criteria": {"billing": "Payments", "ops": null},
    },
  },
});

console.log(result.answers);
`},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got\n%s\nwant\n%s", name, pair[0], pair[1])
		}
	}
}

func TestResultsAsCSV(t *testing.T) {
	c := mustCase(t, `{"state":"s","questions":{"a, \"b\"":{"type":"choice","criteria":{"x\ny":"d;e","=1+1":null}},"r":{"type":"score","criteria":["low",["high"]]},"n":{"type":"noul"}}}`)
	r := &engine.Response{Model: "etude", Answers: []engine.Answer{
		{ID: "a, \"b\"", Kind: engine.Choice, Options: []string{"x\ny", "=1+1"}, Probs: []float64{0.25, 0.75}, Best: 1, Confidence: 0.5},
		{ID: "r", Kind: engine.Score, Options: []string{"0", "1"}, Probs: []float64{0.000001, 0.999999}, Best: 1, Score: 0.999999, Confidence: 1},
		{ID: "n", Kind: engine.Noul, Options: []string{"true", "false"}, Probs: []float64{1, 0}, Noul: 1},
	}}
	data := c.Snapshot().ResultsCSV(r)
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"question", "type", "option", "label", "probability", "leads", "score", "confidence", "model"},
		{"a, \"b\"", "choice", "x\ny", "d;e", "0.25", "false", "", "0.5", "etude"},
		{"a, \"b\"", "choice", "=1+1", "", "0.75", "true", "", "0.5", "etude"},
		{"r", "score", "0", "low", "0.000001", "false", "0.999999", "1", "etude"},
		{"r", "score", "1", `["high"]`, "0.999999", "true", "0.999999", "1", "etude"},
		{"n", "noul", "true", "", "1", "true", "", "", "etude"},
		{"n", "noul", "false", "", "0", "false", "", "", "etude"},
	}
	for i := range want {
		if strings.Join(rows[i], "|") != strings.Join(want[i], "|") {
			t.Errorf("row %d: got %q, want %q", i, rows[i], want[i])
		}
	}
}
