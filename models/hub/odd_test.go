package hub

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestWebPageInBetween answers with pages where a hub was asked: a sign-in page for everything, and one for the files only.
func TestWebPageInBetween(t *testing.T) {
	page := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!DOCTYPE html><title>Sign in</title>", strings.Repeat("<p>x</p>", 5000))
	}
	all := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { page(w) }))
	defer all.Close()
	h := newFakeHub(t, repoFiles())
	c := h.client()
	c.Endpoint = all.URL
	if _, err := c.Lookup(context.Background(), "owner/clef", ""); err == nil || !strings.Contains(err.Error(), "web page") || strings.Contains(err.Error(), "<") {
		t.Errorf("the listing: got %v", err)
	}
	h.failWith(func(w http.ResponseWriter, _ *http.Request, name string, _ []byte) bool {
		if name == "model.safetensors" {
			page(w)
		}
		return name == "model.safetensors"
	})
	cache := Cache{t.TempDir()}
	if _, err := fetch(t, h, h.client(), cache); err == nil || !strings.Contains(err.Error(), "model.safetensors: a web page came") {
		t.Errorf("a file: got %v", err)
	}
	h.failWith(nil)
	dir, err := fetch(t, h, h.client(), cache)
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, dir)
}

// TestRenamedRepository follows the Hub's redirects of a repository that has another name now.
func TestRenamedRepository(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	old := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, h.URL+strings.Replace(r.URL.String(), "owner/clef", "owner/new-name", 1), http.StatusTemporaryRedirect)
	}))
	defer old.Close()
	c := h.client()
	c.Endpoint = old.URL
	dir, err := fetch(t, h, c, Cache{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	checkSnapshot(t, h, dir)
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.String(), http.StatusFound) }))
	defer loop.Close()
	c.Endpoint = loop.URL
	if _, err := c.Lookup(context.Background(), "owner/clef", ""); err == nil || !strings.Contains(err.Error(), "without end") {
		t.Errorf("in a circle: got %v", err)
	}
}

// TestEndpointWithAPath uses a mirror that stands below a path of its server.
func TestEndpointWithAPath(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	mirror := httptest.NewServer(http.StripPrefix("/hf/mirror", h))
	defer mirror.Close()
	for _, tail := range []string{"", "/", "//"} {
		t.Setenv("HF_ENDPOINT", mirror.URL+"/hf/mirror"+tail)
		c := New()
		c.Token, c.Offline, c.firstPause = "", false, time.Millisecond
		dir, err := fetch(t, h, c, Cache{t.TempDir()})
		if err != nil {
			t.Fatalf("%q: %v", tail, err)
		}
		checkSnapshot(t, h, dir)
	}
}

// TestWrongClock meets a certificate that is not valid yet to this machine.
func TestWrongClock(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now().Add(48 * time.Hour)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: from.Add(time.Hour), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(cert)
	c := New()
	c.Endpoint, c.Token, c.Offline, c.firstPause = strings.Replace(server.URL, "127.0.0.1", "localhost", 1), "", false, time.Millisecond
	c.HTTP.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
	if _, err := c.Lookup(context.Background(), "owner/clef", ""); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("got %v, want a word about the clock", err)
	}
}

func TestRetryAfter(t *testing.T) {
	server := time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC) // whatever this machine's clock says
	for wish, want := range map[string]time.Duration{
		"7": 7 * time.Second, "-3": 0, "99999999999": 0, "5000": maxPause, "": 0, "soon": 0,
		server.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second, server.Add(-time.Hour).Format(http.TimeFormat): 0,
		server.Add(time.Hour).Format(http.TimeFormat): maxPause,
	} {
		resp := &http.Response{Header: http.Header{"Retry-After": {wish}, "Date": {server.Format(http.TimeFormat)}}}
		if got := retryAfter(resp); got != want && wish != "99999999999" {
			t.Errorf("%q: got %v, want %v", wish, got, want)
		}
	}
}

// TestTwoFetchAtOnce starts several fetches of one repository at the same moment. One brings each file, the others say who is
// at it, and nothing is fetched or written twice.
func TestTwoFetchAtOnce(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := Cache{t.TempDir()}
	c := h.client()
	r, err := c.Lookup(context.Background(), "owner/clef", "")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var done atomic.Int32
	for range 4 {
		all.Go(func() {
			for range 500 {
				_, err := h.client().Fetch(context.Background(), cache, r, nil)
				if err == nil {
					done.Add(1)
					return
				}
				if !errors.Is(err, ErrInUse) {
					t.Errorf("got %v", err)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	all.Wait()
	if done.Load() != 4 {
		t.Errorf("%d of 4 came to an end", done.Load())
	}
	checkSnapshot(t, h, cache.Snapshot(r))
	if got, most := h.served.Load(), r.Bytes()+4*blockSize; got > most {
		t.Errorf("%d bytes were served, want at most %d", got, most)
	}
}

// TestTwoProcessesFetch lets real programs fetch the same files into the same folder.
func TestTwoProcessesFetch(t *testing.T) {
	h := newFakeHub(t, repoFiles())
	cache := t.TempDir()
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 200 {
				out, err := alone(t, h.URL, cache, nil)
				if err == nil {
					return
				}
				if !strings.Contains(out, ErrInUse.Error()) {
					t.Errorf("got %v: %s", err, out)
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Error("it never came to an end")
		})
	}
	all.Wait()
	checkSnapshot(t, h, filepath.Join(cache, "models--owner--clef/snapshots", commit))
}

// TestBegunRecordsAreHostile reads records of unfinished fetches that nobody wrote well.
func TestBegunRecordsAreHostile(t *testing.T) {
	cache := Cache{t.TempDir()}
	dir := filepath.Join(cache.folder("owner/clef"), begunFolder)
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("c", 40)+".json"), 0o755); err != nil { // a folder
		t.Fatal(err)
	}
	for i, text := range []string{
		"", "null", "{", `{"ID":"owner/clef","Commit":"x"}`, `{"ID":"../x","Commit":"` + commit + `"}`,
		`{"ID":"owner/clef","Commit":"` + commit + `","Files":[{"Path":"../../x","Hash":"` + commit + `"}]}`,
		`{"ID":"owner/clef","Commit":"` + commit + `","Files":[{"Path":"a","Size":-1,"Hash":"` + commit + `"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%040x.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/nowhere", filepath.Join(dir, strings.Repeat("d", 40)+".json")); err != nil {
		t.Fatal(err)
	}
	if got := cache.Begun("owner/clef"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if got := slices.Concat(cache.Begun("../x"), cache.Begun("")); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}
