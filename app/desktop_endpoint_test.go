package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/app/worker"
	"clefbar/ui"

	"github.com/adrg/xdg"
)

// status asks the endpoint for its models and returns the status, 0 when it does not answer.
func status(url, key string) int {
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(url, "systemone")+"models", nil)
	if err != nil {
		return 0
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestAppEndpointAsksForAKey(t *testing.T) {
	folders(t)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	xdg.Reload()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	set := settings{Endpoint: endpointSettings{Addr: free.Addr().String()}}
	free.Close()
	lib := newLibrary(set, howToRun{device: "auto", precision: "auto"})
	w := worker.New(lib, lib.chosen(), worker.Options{})
	defer w.Drain(t.Context(), 0)
	e := newAppEndpoint(lib, w)
	defer e.stop()
	e.start()
	until := func(what string, good func(ui.EndpointState) bool) {
		t.Helper()
		for range 500 {
			if good(e.State()) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s: %+v", what, e.State())
	}
	url := e.State().URL()
	until("open to all", func(s ui.EndpointState) bool { return status(url, "") == 200 && !s.Key })
	e.SetKey(true)
	until("asks", func(s ui.EndpointState) bool { return s.Key && status(url, "") == 401 })
	key, err := e.Key()
	if err != nil || len(key) < 32 || status(url, key) != 200 || status(url, "x"+key) != 401 {
		t.Errorf("key %q, %v", key, err)
	}
	e.SetKey(true)
	until("a new key", func(ui.EndpointState) bool { return status(url, key) == 401 })
	e.SetKey(false)
	until("open again", func(s ui.EndpointState) bool { return !s.Key && status(url, "") == 200 })
	dir := filepath.Join(xdg.ConfigHome, "clefbar")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a key cannot be kept
		t.Fatal(err)
	}
	e.SetKey(true)
	until("not open without the key that was wanted", func(s ui.EndpointState) bool { return s.Err != nil && status(url, "") == 0 })
}
