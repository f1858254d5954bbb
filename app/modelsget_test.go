package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/models/hub"
)

// runHere runs the program with the cache and hub of the test.
func runHere(t *testing.T, args ...string) ran {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "CLEFBAR_TEST_MAIN=1", "LANG=C.UTF-8")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // its exit code is looked at
	return ran{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// TestModelsGet fetches with the real program: interrupted, gone on with, damaged, verified, listed and removed.
func TestModelsGet(t *testing.T) {
	folders(t)
	h := startHub(t)
	h.set(make(chan struct{}), 0)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "models", "get", flash4)
	cmd.Env = append(os.Environ(), "CLEFBAR_TEST_MAIN=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cache := hub.DefaultCache()
	for range 500 {
		if b := cache.Begun(flash4); len(b) > 0 {
			if _, _, arrived := cache.Wants(b[0]); arrived > 0 {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("interrupted: exit %d, want %d", code, exitInterrupted)
	}
	rows := decode[[]modelRow](t, runHere(t, "models"))
	if len(rows) != 2 || !strings.HasPrefix(rows[1].State, "incomplete ") || rows[1].Missing <= 0 || rows[1].Revision != tinyAt {
		t.Errorf("after an interruption: %+v", rows)
	}
	if got := runHere(t, "decide", "--model", flash4, "--state", "x", "--noul", "q"); got.code != exitModel || !strings.Contains(got.err, "incomplete") {
		t.Errorf("an incomplete model: exit %d %s", got.code, got.err)
	}
	h.set(nil, 0)
	got := runHere(t, "models", "get", strings.ToUpper(flash4))
	done := decode[map[string]string](t, got)
	if got.code != 0 || done["commit"] != tinyAt || done["repo"] != flash4 {
		t.Fatalf("get: exit %d %s%s", got.code, got.out, got.err)
	}
	if got := runHere(t, "decide", "--model", flash4, "--state", "x", "--noul", "q"); got.code != 0 {
		t.Errorf("decide: exit %d %s", got.code, got.err)
	}
	damageAndVerify(t, done["path"])
	all := decode[[]modelRow](t, runHere(t, "models", "list", "--all"))
	if len(all) < 8 || all[len(all)-1].State != "can be fetched" || all[len(all)-1].Memory < 1e9 {
		t.Errorf("list --all: %+v", all)
	}
	if got := runHere(t, "models", "rm", "--yes", "clef-flash-4bit"); got.code != 0 {
		t.Errorf("rm: exit %d %s", got.code, got.err)
	}
	if _, err := os.Stat(done["path"]); err == nil {
		t.Error("it is still there")
	}
}

func damageAndVerify(t *testing.T, dir string) {
	t.Helper()
	blob, err := filepath.EvalSymlinks(filepath.Join(dir, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(good)
	bad[len(bad)-3] ^= 8
	if err := os.WriteFile(blob, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runHere(t, "doctor", "--quiet", flash4); got.code != exitModel || !strings.Contains(got.out, "damaged: model.safetensors") {
		t.Errorf("doctor: exit %d %s", got.code, got.out)
	}
	if got := runHere(t, "models", "get", "--verify", flash4); got.code != 0 || !strings.Contains(got.err, "model.safetensors is damaged") {
		t.Errorf("get --verify: exit %d %s", got.code, got.err)
	}
	if now, err := os.ReadFile(blob); err != nil || !bytes.Equal(now, good) {
		t.Errorf("after --verify the file is not the Hub's: %v", err)
	}
}

// TestModelsGetSays reports what cannot be fetched or used in a sentence.
func TestModelsGetSays(t *testing.T) {
	folders(t)
	h := startHub(t)
	h.set(nil, http.StatusNotFound)
	if got := runHere(t, "models", "get", "nobody/nothing"); got.code != exitFailed || !strings.Contains(got.err, "not found") {
		t.Errorf("not there: exit %d %s", got.code, got.err)
	}
	h.set(nil, http.StatusForbidden)
	if got := runHere(t, "models", "get", flash4); got.code != exitFailed || !strings.Contains(got.err, "agreed to") {
		t.Errorf("gated: exit %d %s", got.code, got.err)
	}
	h.set(nil, 0)
	delete(h.files, "joint_head.safetensors")
	delete(h.files, "joint_head_config.json")
	if got := runHere(t, "models", "get", "someone/chat"); got.code != exitModel || !strings.Contains(got.err, "chat backbone") {
		t.Errorf("without a head: exit %d %s", got.code, got.err)
	}
	t.Setenv("HF_HUB_OFFLINE", "1")
	if got := runHere(t, "models", "get", flash4); got.code != exitFailed || !strings.Contains(got.err, "offline") {
		t.Errorf("offline: exit %d %s", got.code, got.err)
	}
}

// TestModelsSearch lists an owner's repositories with the real program.
func TestModelsSearch(t *testing.T) {
	folders(t)
	startHub(t)
	rows := decode[[]foundRow](t, runHere(t, "models", "search", "someone"))
	if len(rows) != 1 || rows[0].Repo != "someone/clef-tiny" || rows[0].Problem != "" {
		t.Errorf("got %+v", rows)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"models", "search"}, exitUsage, "1 to 2 arguments"},
		{[]string{"models", "search", "a/b"}, exitUsage, "before the slash"},
		{[]string{"models", "search", "someone", "nothing"}, 0, ""},
	} {
		if got := runHere(t, c.args...); got.code != c.code || !strings.Contains(got.err, c.says) {
			t.Errorf("%v: exit %d %s, want %d %q", c.args, got.code, got.err, c.code, c.says)
		}
	}
	t.Setenv("HF_HUB_OFFLINE", "1")
	if got := runHere(t, "models", "search", "someone"); got.code != exitFailed || !strings.Contains(got.err, "offline") {
		t.Errorf("offline: exit %d %s", got.code, got.err)
	}
}
