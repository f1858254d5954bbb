package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"clefbar/app/history"
)

// requestNumber returns the i-th of many different requests, some of them wrong.
func requestNumber(i int) (path, body string, status int) {
	ask := fmt.Sprintf(`{"state":"ticket %d about a parcel","questions":{"lost %d":{"type":"noul","instructions":"Is it lost?"},`+
		`"team":{"type":"choice","criteria":{"post %d":null,"other":"x"}}}}`, i, i, i)
	switch i % 8 {
	case 0:
		return "/v1/systemone", `{"state":null}`, 422
	case 1:
		return "/v1/systemone", `{"model":"nope",` + ask[1:], 400
	case 2:
		return "/v1/decisions", fmt.Sprintf(`{"input":"ticket %d","questions":[{"type":"predicate","name":"n%d"}]}`, i, i), 200
	}
	return "/v1/systemone", ask, 200
}

// TestManyRequestsToARealModel sends mixed requests over 32 connections to the real
// program with a real model: every answer has to be the one that the request gets
// alone, and memory has to stay flat. CLEFBAR_TEST_REQUESTS=1000 sends more of them.
func TestManyRequestsToARealModel(t *testing.T) {
	n := 160
	if more, err := strconv.Atoi(os.Getenv("CLEFBAR_TEST_REQUESTS")); err == nil {
		n = more
	}
	cmd, url := server(t)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}}
	defer client.CloseIdleConnections()
	send := func(i int) (string, error) {
		path, body, status := requestNumber(i)
		resp, err := client.Post(url+path, "application/json", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != status {
			err = fmt.Errorf("got %d, want %d", resp.StatusCode, status)
		}
		return string(b), err
	}
	want := make([]string, n)
	for i := range want {
		var err error
		if want[i], err = send(i); err != nil {
			t.Fatalf("request %d alone: %v %s", i, err, want[i])
		}
	}
	before := resident(t, cmd)
	var all sync.WaitGroup
	next := make(chan int)
	for range 32 {
		all.Go(func() {
			for i := range next {
				if got, err := send(i); err != nil || got != want[i] {
					t.Errorf("request %d: %v, got %s, want %s", i, err, got, want[i])
				}
			}
		})
	}
	for _, i := range rand.New(rand.NewPCG(5, 6)).Perm(n) {
		next <- i
	}
	close(next)
	all.Wait()
	if after := resident(t, cmd); after > before+32<<20 {
		t.Errorf("resident memory grew from %d to %d MB", before>>20, after>>20)
	}
}

// resident returns the resident memory of a process; 0 where /proc does not tell.
func resident(t *testing.T, cmd *exec.Cmd) int64 {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// TestIndependentModeIsIndependent checks with Etude what the mode promises: ids, other
// questions and their order change nothing at all.
func TestIndependentModeIsIndependent(t *testing.T) {
	const refund, team = `{"type":"noul","instructions":"Does the customer want money back?"}`,
		`{"type":"choice","instructions":"Which team?","criteria":{"billing":"Invoices","technical":null,"sales":"Offers"}}`
	ask := func(questions string) map[string]json.RawMessage {
		body := `{"state":"I was charged twice. Please fix this.","x_mode":"independent","questions":{` + questions + `}}`
		got := run(t, body, "decide", "--model", "etude")
		var resp struct {
			Answers map[string]json.RawMessage `json:"answers"`
		}
		if err := json.Unmarshal([]byte(got.out), &resp); err != nil {
			t.Fatalf("exit %d: %v: %s", got.code, err, got.err)
		}
		return resp.Answers
	}
	base := ask(`"refund":` + refund + `,"team":` + team)
	for name, variant := range map[string]map[string]json.RawMessage{
		"order":    ask(`"team":` + team + `,"refund":` + refund),
		"siblings": ask(`"more":{"type":"noul","instructions":"Is it urgent?"},"refund":` + refund + `,"also":{"type":"score","criteria":["a","b"]},"team":` + team),
		"alone":    ask(`"refund":` + refund),
	} {
		for id, answer := range base {
			if got, ok := variant[id]; ok && !bytes.Equal(got, answer) {
				t.Errorf("%s: %s became %s, was %s", name, id, got, answer)
			}
		}
	}
	renamed := ask(`"Q 🙂":` + refund + `,"zz.1":` + team)
	if !bytes.Equal(renamed["Q 🙂"], base["refund"]) || !bytes.Equal(renamed["zz.1"], base["team"]) {
		t.Errorf("ids: got %s, want %s", renamed, base)
	}
}

func TestServeKeepsOnlyWhenAsked(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	t.Setenv("HOME", data) // where macOS looks
	stop := func(cmd *exec.Cmd) {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Fatal(err)
		}
	}
	body := `{"state":"a secret","questions":{"q":{"type":"noul"}}}`
	silent, url := server(t)
	post(t, url, body)
	stop(silent)
	if files, _ := filepath.Glob(filepath.Join(data, "*", "history.db")); len(files) > 0 {
		t.Fatal("serve kept a history without --keep")
	}
	keeping, url := server(t, "--keep")
	post(t, url, body)
	post(t, url, `{"state":"another","questions":{}}`)
	stop(keeping)
	rows := decode[[]historyRow](t, run(t, "", "history"))
	if len(rows) != 1 || rows[0].Status != 200 || rows[0].Model != "tiny-9b-shape-hf" || rows[0].Request != nil {
		t.Fatalf("history: got %+v", rows)
	}
	if rows := decode[[]historyRow](t, run(t, "", "history", "--text", "nothing like it")); len(rows) != 0 {
		t.Errorf("--text: got %+v", rows)
	}
	one := decode[historyRow](t, run(t, "", "history", "show", "1"))
	if !strings.Contains(string(one.Request), "a secret") || !strings.Contains(string(one.Response), `"noul"`) {
		t.Errorf("show: got %s and %s", one.Request, one.Response)
	}
	if got := run(t, "", "history", "clear"); got.code != 0 {
		t.Errorf("clear: exit %d %s", got.code, got.err)
	}
	if got := run(t, "", "history", "show", "1"); got.code != exitFailed || !strings.Contains(got.err, history.ErrGone.Error()) {
		t.Errorf("after clear: exit %d %s", got.code, got.err)
	}
}

// TestServeFlagsReachTheModel: neutral ids hide the caller's ids, and the limit holds.
func TestServeFlagsReachTheModel(t *testing.T) {
	ask := func(id string) string {
		return `{"state":"Where is it?","questions":{"` + id + `":{"type":"noul","instructions":"Is it lost?"}}}`
	}
	answers := func(url string) (all []string) {
		for _, id := range []string{"lost", "a very different id"} {
			status, body := post(t, url, ask(id))
			if status != 200 {
				t.Fatalf("got %d %s", status, body)
			}
			all = append(all, body[strings.Index(body, `"noul":`):strings.Index(body, "}")])
		}
		return all
	}
	_, verbatim := server(t)
	_, neutral := server(t, "--ids", "neutral", "--max-tokens", "300")
	if a := answers(verbatim); a[0] == a[1] {
		t.Errorf("verbatim ids do not reach the model: %v", a)
	}
	if a := answers(neutral); a[0] != a[1] {
		t.Errorf("neutral ids reach the model: %v", a)
	}
	if status, body := post(t, neutral, `{"state":"`+strings.Repeat("word ", 200)+`","questions":{"q":{"type":"noul"}}}`); status != 413 || !strings.Contains(body, "300") {
		t.Errorf("--max-tokens: got %d %s", status, body)
	}
}
