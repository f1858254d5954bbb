package endpoint

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
)

func TestPortTrouble(t *testing.T) {
	t.Run("our copy", func(t *testing.T) {
		svc, err := Start("127.0.0.1:0", start(t, Options{}).api)
		if err != nil {
			t.Fatal(err)
		}
		defer svc.Stop(t.Context())
		e := takenBy(t, svc.Addr())
		if e.Holder != OurCopy || !strings.Contains(e.Error(), "already serving") {
			t.Errorf("got %v: %v", e.Holder, e)
		}
	})
	t.Run("another program", func(t *testing.T) {
		other := http.Server{Handler: http.NotFoundHandler()}
		l := listenAny(t)
		go func() { _ = other.Serve(l) }() // ends with Close
		defer other.Close()
		e := takenBy(t, l.Addr().String())
		if e.Holder != Other {
			t.Errorf("got %v: %v", e.Holder, e)
		}
		if e.PID != 0 && (e.PID != os.Getpid() || !strings.Contains(e.Error(), e.Program)) {
			t.Errorf("the holder: got %s, process %d", e.Program, e.PID)
		}
	})
	t.Run("a copy that says nothing", func(t *testing.T) {
		l := listenAny(t) // held by this process, which has the name of our executable
		defer l.Close()
		e := takenBy(t, l.Addr().String())
		if e.PID == 0 {
			t.Skip("the system does not tell who listens")
		}
		if e.Holder != HungOne || !strings.Contains(e.Error(), "does not answer") {
			t.Errorf("got %v: %v", e.Holder, e)
		}
	})
}

func listenAny(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// takenBy tries to serve on a port that is taken.
func takenBy(t *testing.T, addr string) *PortError {
	t.Helper()
	svc, err := Start(addr, start(t, Options{}).api)
	if err == nil {
		svc.Stop(t.Context())
		t.Fatal("the port was free")
	}
	e, ok := errors.AsType[*PortError](err)
	if !ok {
		t.Fatalf("got %v, want a *PortError", err)
	}
	return e
}

func TestPortErrorNamesThree(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range []Holder{Other, OurCopy, HungOne} {
		seen[(&PortError{Addr: "127.0.0.1:2533", Holder: h, Program: "nginx", PID: 7}).Error()] = true
	}
	if len(seen) != 3 {
		t.Errorf("got %d different messages, want 3: %v", len(seen), seen)
	}
}

func TestStartRefuses(t *testing.T) {
	open, locked := start(t, Options{}).api, start(t, Options{Key: "right-key"}).api
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", ":0", "192.0.2.1:0"} {
		if svc, err := Start(addr, open); err == nil || !strings.Contains(err.Error(), "key") {
			t.Errorf("%s without a key: got %v, %v", addr, svc, err)
		}
	}
	for _, addr := range []string{"127.0.0.1", "127.0.0.1:99999", "nonsense.invalid:1"} {
		if svc, err := Start(addr, locked); err == nil {
			svc.Stop(t.Context())
			t.Errorf("%s: no error", addr)
		}
	}
	svc, err := Start("0.0.0.0:0", locked)
	if err != nil {
		t.Fatal(err)
	}
	svc.Stop(t.Context())
}

func TestBothLoopbacks(t *testing.T) {
	if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		t.Skipf("no IPv6 here: %v", err)
	} else {
		l.Close()
	}
	svc, err := Start("localhost:0", start(t, Options{}).api)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Stop(t.Context())
	_, port, err := net.SplitHostPort(svc.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		resp, err := http.Get(fmt.Sprintf("http://%s:%s/health", host, port))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Errorf("%s: got %d", host, resp.StatusCode)
		}
	}
}
