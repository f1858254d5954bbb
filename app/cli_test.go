package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"clefbar/engine/goldentest"
)

// TestMain lets the test binary be the program itself: tests run it as people do and
// see its real exit codes and streams.
func TestMain(m *testing.M) {
	if os.Getenv("CLEFBAR_TEST_MAIN") == "1" {
		os.Exit(command(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// program returns the program with an empty settings file and no models of the person.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	settings := os.Getenv("CLEFBAR_SETTINGS_FOR_TEST") // one file for several runs
	if settings == "" {
		settings = filepath.Join(t.TempDir(), "settings.json")
	}
	cache := os.Getenv("CLEFBAR_CACHE_FOR_TEST") // likewise
	if cache == "" {
		cache = t.TempDir()
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "CLEFBAR_TEST_MAIN=1", "CLEFBAR_SETTINGS="+settings,
		"HF_HUB_CACHE="+cache, "CLEFBAR_KEY=", "CLEFBAR_ORIGINS=", "LANG=C.UTF-8")
	cmd.Dir = t.TempDir()
	return cmd
}

// ran is what a finished program left.
type ran struct {
	code     int
	out, err string
}

func run(t testing.TB, stdin string, args ...string) ran {
	t.Helper()
	cmd := program(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatalf("%v: %v", args, err)
	}
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

func tiny(t testing.TB) string { return goldentest.Path(t, "tiny-9b-shape-hf") }

const caseJSON = `{"model":"clef","state":"hello","questions":{"q":{"type":"noul","instructions":"A greeting?"}}}`

func TestExitCodes(t *testing.T) {
	headless := t.TempDir()
	for _, name := range []string{"config.json", "model.safetensors", "tokenizer.json"} {
		b, err := os.ReadFile(filepath.Join(tiny(t), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(headless, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := "--model=" + tiny(t)
	for _, c := range []struct {
		name, stdin string
		args        []string
		code        int
		says        string // in stderr
	}{
		{"done", caseJSON, []string{"decide", model}, 0, ""},
		{"dash", caseJSON, []string{"decide", "-", model}, 0, ""},
		{"unknown command", "", []string{"decid"}, 2, "did you mean decide"},
		{"unknown flag", "", []string{"decide", "--modle", "x"}, 2, "did you mean --model"},
		{"no value", "", []string{"decide", "--model"}, 2, "needs an argument"},
		{"not numbers", "", []string{"bench", "--lengths", "1,b"}, 2, "--lengths is whole numbers with commas between them"},
		{"not a number", "", []string{"bench", "--runs", "few"}, 2, "--runs is a whole number"},
		{"not a switch", "", []string{"decide", "--json=perhaps"}, 2, "--json is true or false"},
		{"bad precision", "", []string{"decide", "--precision", "f16"}, 2, "f32"},
		{"bad device", "", []string{"version", "--device", "tpu"}, 2, "metal"},
		{"two files", "", []string{"decide", "a", "b"}, 2, "at most 1"},
		{"no file", "", []string{"decide", "none.json", model}, 2, "none.json"},
		{"file and flags", caseJSON, []string{"decide", "-", "--state", "x", "--noul", "q"}, 2, "not both"},
		{"no state", "", []string{"decide", "--noul", "q: x"}, 2, "--state"},
		{"no question", "", []string{"decide", "--state", "x"}, 2, "--choice"},
		{"twice", "", []string{"decide", "--state", "x", "--noul", "q: a", "--noul", "q: b"}, 2, "two questions"},
		{"no levels", "", []string{"decide", "--state", "x", "--score", "q: a || b"}, 2, "empty level"},
		{"serve argument", "", []string{"serve", "now"}, 2, "0 argument"},
		{"ids", "", []string{"serve", "--ids", "none"}, 2, "neutral"},
		{"not a switch", "", []string{"decide", "--json=maybe"}, 2, `"maybe"`},
		{"endless state", "", []string{"decide", "--state", "@/dev/zero", "--noul", "q"}, 2, "more than 33554432 bytes"},
		{"endless image", "", []string{"decide", "--state", "x", "--noul", "q", "--image", "/dev/zero"}, 2, "more than 4194304 bytes"},
		{"endless request", "", []string{"decide", "/dev/zero"}, 3, "more than 33554432 bytes"},
		{"long request", strings.Repeat(" ", 32<<20+1), []string{"decide", model}, 3, "more than 33554432 bytes"},
		{"not JSON", "{", []string{"decide", model}, 3, "not valid JSON"},
		{"null state", `{"state":null,"questions":{"q":{"type":"noul"}}}`, []string{"decide", model}, 3, "state:"},
		{"null level", `{"state":"x","questions":{"q":{"type":"score","criteria":["a",null]}}}`, []string{"decide", model}, 3, "questions.q.score.criteria.1:"},
		{"no such folder", caseJSON, []string{"decide", "--model", "./nowhere"}, 4, "nowhere"},
		{"no such model", caseJSON, []string{"decide", "--model", "nope"}, 4, "nope"},
		{"not downloaded", caseJSON, []string{"decide", "--model", "clef-flash"}, 4, "models get"},
		{"model of the file", caseJSON, []string{"decide"}, 4, "clef"},
		{"headless", caseJSON, []string{"decide", "--model", headless}, 4, "head"},
		{"empty folder", caseJSON, []string{"decide", "--model", t.TempDir()}, 4, ""},
		{"too long", `{"state":"` + strings.Repeat("many words in a long state ", 8000) + `","questions":{"q":{"type":"noul"}}}`, []string{"decide", model}, 5, "16384"},
		{"inspect", "", []string{"models", "inspect", tiny(t)}, 0, ""},
		{"inspect nothing", "", []string{"models", "inspect", "./nowhere"}, 4, "nowhere"},
		{"inspect Etude", "", []string{"models", "inspect", "etude"}, 0, ""},
		{"get a path", "", []string{"models", "get", "../x"}, 2, "write owner/name"},
		{"get no owner", "", []string{"models", "get", "clef"}, 2, "write owner/name"},
		{"origin", "", []string{"serve", "--origins", "nonsense", model}, 2, "no origin"},
		{"second origin", "", []string{"serve", "--origins", "https://a.example,https://a.example/page", model}, 2, "page"},
		{"port", "", []string{"serve", "--addr", "127.0.0.1:70000", model}, 1, "70000"},
		{"open to all", "", []string{"serve", "--addr", "0.0.0.0:0", model}, 1, "key"},
		{"help", "", []string{"--help"}, 0, ""},
		{"completion", "", []string{"completion", "zsh"}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := run(t, c.stdin, c.args...)
			if got.code != c.code {
				t.Errorf("exit code: got %d, want %d\nstdout: %.300s\nstderr: %s", got.code, c.code, got.out, got.err)
			}
			if !strings.Contains(got.err, c.says) {
				t.Errorf("stderr: got %q, want %q in it", got.err, c.says)
			}
			if c.code == 0 && got.err != "" || c.code != 0 && got.out != "" && c.name != "inspect nothing" {
				t.Errorf("results and messages are mixed\nstdout: %.300s\nstderr: %s", got.out, got.err)
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"decide", "--precision", ""}, "bf16\n"},
		{[]string{"decide", "--model", ""}, "etude\n"},
		{[]string{"dec"}, "decide\t"},
	} {
		if got := run(t, "", append([]string{"__complete"}, c.args...)...); got.code != 0 || !strings.Contains(got.out, c.want) {
			t.Errorf("%v: exit %d %q, want %q in it", c.args, got.code, got.out, c.want)
		}
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	for _, cmd := range commands(&common{}) {
		for _, c := range append(cmd.Commands(), cmd) {
			if c.Example == "" || c.Short == "" {
				t.Errorf("%s has no example or no short text", c.CommandPath())
			}
		}
	}
}

// TestGoldenDecide runs the program on every golden checkpoint and case.
func TestGoldenDecide(t *testing.T) {
	cases := goldentest.Cases(t)
	for _, checkpoint := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit", "tiny-9b-shape-mlx-8bit", "tiny-27b-shape-mlx-4bit"} {
		expected := goldentest.Results(t, checkpoint)
		for _, name := range goldentest.Names(cases, expected) {
			t.Run(checkpoint+"/"+name, func(t *testing.T) {
				t.Parallel()
				c := cases[name]
				got := run(t, string(c.Request), "decide", "--precision", "f32", "--model", goldentest.Path(t, checkpoint))
				if name == "json_state" { // a number as description and a null level
					if got.code != exitInvalid {
						t.Errorf("exit code: got %d, want %d", got.code, exitInvalid)
					}
					return
				}
				if got.code != 0 {
					t.Fatalf("exit code %d: %s", got.code, got.err)
				}
				compareAnswers(t, []byte(got.out), c, expected[name].Probs)
			})
		}
	}
}

// compareAnswers checks a response body against the reference's probabilities,
// which are in prompt order.
func compareAnswers(t *testing.T, body []byte, c goldentest.Case, want [][]float64) {
	t.Helper()
	var resp struct {
		Answers map[string]struct {
			Noul          float64            `json:"noul"`
			Probabilities map[string]float64 `json:"probabilities"`
		} `json:"answers"`
		Usage struct {
			Input int `json:"input_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &resp); err != nil {
		t.Fatal(err)
	}
	if resp.Usage.Input != len(c.IDs) {
		t.Errorf("input_tokens: got %d, want %d", resp.Usage.Input, len(c.IDs))
	}
	for i, q := range c.Questions {
		a, ok := resp.Answers[q.ID]
		if !ok {
			t.Errorf("no answer to %s", q.ID)
			continue
		}
		for k, option := range q.OptionIDs {
			got, ok := a.Probabilities[option]
			if a.Probabilities == nil {
				got, ok = map[string]float64{"true": a.Noul, "false": 1 - a.Noul}[option], true
			}
			if !ok || math.Abs(got-want[i][k]) > goldentest.ProbTolerance {
				t.Errorf("%s, %s: got %v, want %v", q.ID, option, got, want[i][k])
			}
		}
	}
}

func TestGoldenEncode(t *testing.T) {
	for name, c := range goldentest.Cases(t) {
		if name == "json_state" {
			continue
		}
		got := run(t, string(c.Request), "encode", "--model", tiny(t))
		var e struct {
			Tokens int     `json:"tokens"`
			Limit  int     `json:"limit"`
			IDs    []int32 `json:"ids"`
			Text   string  `json:"text"`
			Spans  struct {
				Questions map[string]struct {
					Field   [2]int            `json:"field"`
					Options map[string][2]int `json:"options"`
				} `json:"questions"`
			} `json:"spans"`
		}
		if err := json.Unmarshal([]byte(got.out), &e); err != nil {
			t.Fatalf("%s: exit %d, %v: %s", name, got.code, err, got.err)
		}
		if fmt.Sprint(e.IDs) != fmt.Sprint(c.IDs) || e.Tokens != len(c.IDs) || e.Limit <= 0 {
			t.Errorf("%s: the ids differ", name)
		}
		for _, q := range c.Questions {
			s := e.Spans.Questions[q.ID]
			if s.Field != q.Span {
				t.Errorf("%s, %s: field %v, want %v", name, q.ID, s.Field, q.Span)
			}
			for i, option := range q.OptionIDs {
				if s.Options[option] != q.Options[i] {
					t.Errorf("%s, %s, %s: span %v, want %v", name, q.ID, option, s.Options[option], q.Options[i])
				}
			}
		}
	}
}

func TestEncodeNeedsOnlyTheTokenizer(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(filepath.Join(tiny(t), "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, caseJSON, "encode", "--model", dir); got.code != 0 || !strings.Contains(got.out, `"ids":[`) {
		t.Errorf("exit %d: %s %s", got.code, got.out, got.err)
	}
}

// server starts serve and returns its URL.
func server(t *testing.T, args ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := program(t, append([]string{"serve", "--addr", "127.0.0.1:0", "--model", tiny(t)}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it may have ended already
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, "ready") {
		t.Fatalf("ready line: got %q, %v", line, err)
	}
	return cmd, "http://" + strings.Fields(line[strings.Index(line, "http://")+len("http://"):])[0]
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url+"/v1/systemone", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}

func TestDecidePrintsTheEndpointsBody(t *testing.T) {
	cmd, url := server(t)
	body := strings.Replace(caseJSON, `"model":"clef",`, "", 1)
	status, want := post(t, url, body)
	if status != 200 {
		t.Fatalf("got %d %s", status, want)
	}
	got := run(t, body, "decide", "--model", tiny(t))
	if got.out != want+"\n" {
		t.Errorf("decide: got %s, want %s", got.out, want)
	}
	timed := run(t, body, "decide", "--timing", "--model", tiny(t))
	if !json.Valid([]byte(timed.out)) || !strings.HasPrefix(timed.out, strings.TrimSuffix(want, "}")) || !strings.Contains(timed.out, `"x_timing":{"load_ms":`) {
		t.Errorf("decide --timing: got %s", timed.out)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v, want exit code 0", err)
	}
}

// TestTermFinishesTheRunningDecision stops serve in the middle of one.
func TestTermFinishesTheRunningDecision(t *testing.T) {
	cmd, url := server(t)
	long := `{"state":"` + strings.Repeat("many words in a state ", 600) + `","questions":{"q":{"type":"noul"}}}`
	answered := make(chan int, 1)
	go func() {
		status, _ := post(t, url, long)
		answered <- status
	}()
	select {
	case status := <-answered:
		t.Skipf("the decision was over (%d) before the signal", status)
	case <-time.After(100 * time.Millisecond): // it takes seconds
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got != 200 {
		t.Errorf("the running decision: got %d, want 200", got)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v, want exit code 0", err)
	}
}

func TestServeSaysWhoHasThePort(t *testing.T) {
	_, url := server(t)
	got := run(t, "", "serve", "--addr", strings.TrimPrefix(url, "http://"), "--model", tiny(t))
	if got.code != 1 || !strings.Contains(got.err, "already serving") {
		t.Errorf("got %d %s", got.code, got.err)
	}
}

func TestInterruptedDecide(t *testing.T) {
	cmd := program(t, "decide", "--model", tiny(t))
	cmd.Stdin = strings.NewReader(`{"state":"` + strings.Repeat("many words in a state ", 1000) + `","questions":{"q":{"type":"noul"}}}`)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(400 * time.Millisecond)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("the decision was over before the interrupt: %v", err)
	}
	began := time.Now()
	_ = cmd.Wait() // the exit code is looked at below
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("exit code: got %d, want %d", code, exitInterrupted)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v to stop", took)
	}
}
