package endpoint

import (
	"strings"
	"testing"
	"time"
)

func TestKey(t *testing.T) {
	r := start(t, Options{Key: "right-key"})
	for _, c := range []struct {
		header string
		path   string
		status int
	}{
		{"", "/v1/systemone", 401},
		{"Authorization: Bearer wrong", "/v1/systemone", 401},
		{"Authorization: right-key", "/v1/systemone", 401},
		{"Authorization: Basic right-key", "/v1/systemone", 401},
		{"Authorization: Bearer ", "/v1/systemone", 401},
		{"x-api-key: right-key", "/v1/systemone", 401},
		{"", "/nope", 401},
		{"", "/v1/decisions", 401},
		{"Authorization: Bearer right-key", "/v1/systemone", 200},
		{"Authorization: bearer right-key", "/v1/systemone", 200},
	} {
		got := r.do(t, "POST", c.path, noul, strings.Split(c.header, "\n")...)
		if got.status != c.status {
			t.Errorf("%q %s: got %d, want %d", c.header, c.path, got.status, c.status)
		}
		if c.status == 401 && got.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: WWW-Authenticate %q", c.header, got.header.Get("WWW-Authenticate"))
		}
		if c.status == 401 && c.path == "/v1/systemone" && got.kind(t) != "authentication_error" {
			t.Errorf("%q: got %s", c.header, got.body)
		}
	}
	for _, path := range []string{"/", "/health"} {
		if got := r.do(t, "GET", path, ""); got.status != 200 {
			t.Errorf("%s without a key: got %d, want 200", path, got.status)
		}
	}
	if got := r.do(t, "GET", "/v1/models", ""); got.status != 401 {
		t.Errorf("/v1/models without a key: got %d, want 401", got.status)
	}
}

func TestNoKeyTakesEveryHeader(t *testing.T) {
	r := start(t, Options{})
	for _, h := range []string{"Authorization: Bearer jevcompat-no-key", "Authorization: nonsense"} {
		if got := r.ask(t, noul, h); got.status != 200 {
			t.Errorf("%s: got %d, want 200", h, got.status)
		}
	}
}

func TestGuessingSlowsDown(t *testing.T) {
	r := start(t, Options{Key: "right-key"})
	now := time.Now()
	r.api.keys.now = func() time.Time { return now }
	wrong, right := "Authorization: Bearer wrong", "Authorization: Bearer right-key"
	for i := range 10 {
		if got := r.ask(t, noul, wrong); got.status != 401 {
			t.Fatalf("wrong key %d: got %d, want 401", i+1, got.status)
		}
	}
	got := r.ask(t, noul, right)
	if got.status != 429 || got.header.Get("Retry-After") != "1" || got.header.Get("retry-after-ms") != "1000" {
		t.Fatalf("after ten: got %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	for i, want := range []string{"2", "4", "8", "16", "32", "60", "60"} {
		now = now.Add(time.Minute)
		if got := r.ask(t, noul, wrong); got.status != 401 {
			t.Fatalf("wrong key %d: got %d, want 401", i+11, got.status)
		}
		if got := r.ask(t, noul, wrong); got.status != 429 || got.header.Get("Retry-After") != want {
			t.Errorf("after %d: got %d, Retry-After %q, want 429, %s", i+11, got.status, got.header.Get("Retry-After"), want)
		}
	}
	now = now.Add(time.Minute)
	if got := r.ask(t, noul, right); got.status != 200 {
		t.Fatalf("the right key: got %d, want 200", got.status)
	}
	for i := range 10 {
		if got := r.ask(t, noul, wrong); got.status != 401 {
			t.Fatalf("wrong key %d after a right one: got %d, want 401", i+1, got.status)
		}
	}
}

func TestGuessersAreForgotten(t *testing.T) {
	k := newKeyCheck("x")
	for i := range mostGuessers + 50 {
		k.guessed(strings.Repeat("a", i))
	}
	if len(k.wrong) > mostGuessers {
		t.Errorf("remembers %d addresses, want at most %d", len(k.wrong), mostGuessers)
	}
}
