package endpoint

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clefbar/app/worker"
)

// mixedRequest returns the i-th of many requests and the status that it must get.
func mixedRequest(i int) (path, body string, status int) {
	ask := fmt.Sprintf(`{"state":"ticket %d","questions":{"id %d":{"type":"noul","instructions":"?"},`+
		`"team":{"type":"choice","criteria":{"a %d":null,"b":"x"}}}}`, i, i, i)
	switch i % 10 {
	case 0:
		return "/v1/systemone", `{"state":"x","questions":{}}`, 422
	case 1:
		return "/v1/systemone", `{not json`, 422
	case 2:
		return "/v1/systemone", `{"model":"nope",` + ask[1:], 400
	case 3:
		return "/v1/decisions", fmt.Sprintf(`{"input":"ticket %d","questions":[{"type":"predicate","name":"id %d"}]}`, i, i), 200
	case 4:
		return "/v1/systemone", strings.Replace(ask, "ticket", "ticket "+strings.Repeat("long ", 1000), 1), 200
	}
	return "/v1/systemone", ask, 200
}

// TestManyRequests sends 1,000 mixed requests over 32 connections, three times. Every
// answer has to be the one that the same request gets alone, and memory must not grow.
func TestManyRequests(t *testing.T) {
	r := startWith(t, oneModel{model: &oracle{name: "oracle"}}, worker.Options{Depth: 64}, Options{})
	want := make([][]byte, 1000)
	for i := range want {
		path, body, status := mixedRequest(i)
		got := r.do(t, "POST", path, body)
		if got.status != status {
			t.Fatalf("request %d alone: got %d %s, want %d", i, got.status, got.body, status)
		}
		want[i] = got.body
	}
	before := heap()
	for range 3 {
		storm(t, r, want)
	}
	if after := heap(); after > before+8<<20 {
		t.Errorf("memory grew from %d to %d bytes", before, after)
	}
	if got := r.flying(); got != 0 {
		t.Errorf("flights left: %d", got)
	}
}

func storm(t *testing.T, r *rig, want [][]byte) {
	t.Helper()
	next := make(chan int)
	var all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32}}
	defer client.CloseIdleConnections()
	for range 32 {
		all.Go(func() {
			for i := range next {
				path, body, status := mixedRequest(i)
				resp, err := client.Post(r.URL+path, "application/json", strings.NewReader(body))
				if err != nil {
					t.Errorf("request %d: %v", i, err)
					continue
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || resp.StatusCode != status || !bytes.Equal(got, want[i]) {
					t.Errorf("request %d: got %d %s, %v; want %d %s", i, resp.StatusCode, got, err, status, want[i])
				}
			}
		})
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(want)) {
		next <- i
	}
	close(next)
	all.Wait()
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestOverhead measures a round trip on a warm connection with a model that takes no
// time: the median must stay within 0.3 ms.
func TestOverhead(t *testing.T) {
	if testing.Short() {
		t.Skip("a time limit means nothing under the race detector")
	}
	r := start(t, Options{})
	best := time.Hour
	for range 5 { // the machine may be busy: the best of five medians
		took := make([]time.Duration, 400)
		for i := range took {
			began := time.Now()
			resp, err := http.Post(r.URL+"/v1/systemone", "application/json", strings.NewReader(mixed))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		best = min(best, took[len(took)/2])
	}
	t.Logf("p50 of a round trip: %v", best)
	if best > 300*time.Microsecond {
		t.Errorf("p50: got %v, want at most 300 µs", best)
	}
}

func BenchmarkRoundTrip(b *testing.B) {
	r := start(b, Options{})
	for b.Loop() {
		resp, err := http.Post(r.URL+"/v1/systemone", "application/json", strings.NewReader(mixed))
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}
