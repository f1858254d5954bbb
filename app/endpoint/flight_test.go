package endpoint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"clefbar/app/worker"
	"clefbar/engine"
)

// eventually waits for a condition that another goroutine brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited for: %s", what)
}

func question(state string) string {
	return fmt.Sprintf(`{"state":%q,"questions":{"q":{"type":"noul","instructions":"?"}}}`, state)
}

// send posts in the background; the status arrives on the channel, 0 if the client
// left.
func (r *rig) send(ctx context.Context, body string) <-chan int {
	done := make(chan int, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, "POST", r.URL+"/v1/systemone", strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			done <- 0
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		done <- resp.StatusCode
	}()
	return done
}

func (r *rig) flying() int {
	r.api.flights.mu.Lock()
	defer r.api.flights.mu.Unlock()
	return len(r.api.flights.all)
}

// waitingForOne returns how many requests want the only run there is, -1 if there is none.
func (r *rig) waitingForOne() int {
	r.api.flights.mu.Lock()
	defer r.api.flights.mu.Unlock()
	for _, f := range r.api.flights.all {
		return f.waiting
	}
	return -1
}

func TestIdenticalRequestsShareARun(t *testing.T) {
	r := start(t, Options{})
	var all []<-chan int
	for i := range 5 {
		body := strings.Replace(question("wait"), "{", fmt.Sprintf(`{"x_nonce":%d,`, i), 1)
		all = append(all, r.send(t.Context(), body))
	}
	eventually(t, "five wait", func() bool { return r.waitingForOne() == 5 })
	other := r.send(t.Context(), question("wait too"))
	close(r.model.gate)
	for _, c := range append(all, other) {
		if got := <-c; got != 200 {
			t.Errorf("got %d, want 200", got)
		}
	}
	if got := r.model.runs.Load(); got != 2 {
		t.Errorf("runs: got %d, want 2", got)
	}
	if got := r.flying(); got != 0 {
		t.Errorf("flights left: %d", got)
	}
}

// The official clients give up after ten seconds and send the request again.
func TestResendJoinsTheFirstRun(t *testing.T) {
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	first := r.send(ctx, question("wait"))
	eventually(t, "the run", func() bool { return r.model.runs.Load() == 1 })
	leave()
	<-first
	second := r.send(t.Context(), question("wait"))
	time.Sleep(20 * time.Millisecond)
	close(r.model.gate)
	if got := <-second; got != 200 || r.model.runs.Load() != 1 || r.model.cancelled.Load() != 0 {
		t.Errorf("got %d after %d runs, %d cancelled; want 200, 1, 0", got, r.model.runs.Load(), r.model.cancelled.Load())
	}
}

func TestAnswerWaitsForTheResend(t *testing.T) {
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	first := r.send(ctx, question("wait"))
	eventually(t, "the run", func() bool { return r.model.runs.Load() == 1 })
	leave()
	<-first
	eventually(t, "nobody waits", func() bool { return r.waitingForOne() == 0 })
	close(r.model.gate)
	eventually(t, "the model is free", func() bool { return !r.work.Status().Running })
	if got := <-r.send(t.Context(), question("wait")); got != 200 || r.model.runs.Load() != 1 {
		t.Errorf("got %d after %d runs, want 200 after 1", got, r.model.runs.Load())
	}
	if got := r.flying(); got != 0 {
		t.Errorf("the answer is kept after it was received: %d", got)
	}
}

func TestDesertedRunGivesWay(t *testing.T) {
	r := start(t, Options{})
	ctx, leave := context.WithCancel(t.Context())
	first := r.send(ctx, question("wait"))
	eventually(t, "the run", func() bool { return r.model.runs.Load() == 1 })
	leave()
	<-first
	began := time.Now()
	if got := <-r.send(t.Context(), question("hello")); got != 200 {
		t.Fatalf("got %d, want 200", got)
	}
	if took := time.Since(began); took > linger/2 || r.model.cancelled.Load() != 1 {
		t.Errorf("the next request took %v, %d runs were cancelled", took, r.model.cancelled.Load())
	}
}

func TestDesertedRunStops(t *testing.T) {
	r := start(t, Options{})
	waiting := r.send(t.Context(), question("wait first"))
	eventually(t, "the run", func() bool { return r.model.runs.Load() == 1 })
	ctx, leave := context.WithCancel(t.Context())
	second := r.send(ctx, question("wait second"))
	third := r.send(t.Context(), question("wait third"))
	eventually(t, "two wait", func() bool { return r.work.Status().Waiting == 2 })
	leave()
	<-second
	eventually(t, "the deserted one left the line", func() bool { return r.work.Status().Waiting == 1 })
	close(r.model.gate)
	if a, b := <-waiting, <-third; a != 200 || b != 200 {
		t.Errorf("got %d and %d, want 200", a, b)
	}
	if got := r.model.runs.Load(); got != 2 {
		t.Errorf("runs: got %d, want 2", got)
	}
}

func TestQueueFull(t *testing.T) {
	r := startWith(t, oneModel{model: &oracle{name: "oracle", gate: make(chan struct{})}}, worker.Options{Depth: 1}, Options{})
	a, b := r.send(t.Context(), question("wait a")), r.send(t.Context(), question("wait b"))
	eventually(t, "both are in", func() bool { st := r.work.Status(); return st.Running && st.Waiting == 1 })
	got := r.ask(t, question("hello"))
	if got.status != 429 || got.kind(t) != "rate_limited" || got.header.Get("Retry-After") == "" || got.header.Get("retry-after-ms") == "" {
		t.Errorf("got %d %v %s", got.status, got.header, got.body)
	}
	close(r.model.gate)
	if x, y := <-a, <-b; x != 200 || y != 200 {
		t.Errorf("got %d and %d, want 200", x, y)
	}
}

func TestLoading(t *testing.T) {
	shelf := oneModel{model: &oracle{name: "oracle"}, door: make(chan struct{})}
	r := startWith(t, shelf, worker.Options{Hold: 30 * time.Millisecond}, Options{})
	got := r.ask(t, noul)
	if got.status != 529 || got.kind(t) != "model_loading" || !mustMatch(`^[1-8]$`, got.header.Get("Retry-After")) {
		t.Errorf("got %d, Retry-After %q, %s", got.status, got.header.Get("Retry-After"), got.body)
	}
	if h := r.do(t, "GET", "/health", "").tree(t); h["loading"] != "oracle" {
		t.Errorf("health while loading: got %v", h)
	}
	close(shelf.door)
	if got := r.ask(t, noul); got.status != 200 {
		t.Errorf("after loading: got %d", got.status)
	}
}

func TestLoadIsTimed(t *testing.T) {
	shelf := oneModel{model: &oracle{name: "oracle"}, door: make(chan struct{})}
	r := startWith(t, shelf, worker.Options{}, Options{})
	time.AfterFunc(20*time.Millisecond, func() { close(shelf.door) })
	if got := r.ask(t, noul).header.Get("Server-Timing"); !mustMatch(`^load;dur=[0-9.]+, queue;`, got) {
		t.Errorf("first: got %q", got)
	}
	if got := r.ask(t, noul).header.Get("Server-Timing"); !mustMatch(`^queue;`, got) {
		t.Errorf("second: got %q", got)
	}
}

func TestStopDrains(t *testing.T) {
	api := start(t, Options{})
	svc, err := Start("127.0.0.1:0", api.api)
	if err != nil {
		t.Fatal(err)
	}
	api.URL = svc.URL()
	running := api.send(t.Context(), question("wait"))
	eventually(t, "the run", func() bool { return api.model.runs.Load() == 1 })
	stopped := make(chan struct{})
	go func() { defer close(stopped); svc.Stop(context.Background()) }()
	time.AfterFunc(20*time.Millisecond, func() { close(api.model.gate) })
	if got := <-running; got != 200 {
		t.Errorf("the running request: got %d, want 200", got)
	}
	<-stopped
	if got := <-api.send(t.Context(), question("x")); got != 0 {
		t.Errorf("after Stop: got %d, want no connection", got)
	}
}

// spy keeps every event.
type spy struct {
	mu      sync.Mutex
	keep    bool
	started int
	events  []Event
}

func (s *spy) Started(Event) { s.mu.Lock(); s.started++; s.mu.Unlock() }
func (s *spy) Finished(e Event) {
	s.mu.Lock()
	s.events = append(s.events, e)
	s.mu.Unlock()
}
func (s *spy) KeepBodies() bool { return s.keep }

func TestObserverAndLog(t *testing.T) {
	for _, keep := range []bool{false, true} {
		watch := &spy{keep: keep}
		var lines bytes.Buffer
		r := start(t, Options{Observer: watch, Log: slog.New(slog.NewTextHandler(&lines, nil))})
		const secret = "secret state text"
		r.ask(t, question(secret), "User-Agent: probe/1.0")
		r.ask(t, `{"state":"`+secret+`","questions":{"`+secret+`":{"type":"`+secret+`"}}}`)
		r.ask(t, question("panic"))
		r.Close()
		if watch.started != 3 || len(watch.events) != 3 {
			t.Fatalf("events: got %d started, %d finished; want 3", watch.started, len(watch.events))
		}
		e := watch.events[0]
		if e.Status != 200 || e.Client != "probe/1.0" || e.Path != "/v1/systemone" || e.Bytes != len(question(secret)) ||
			e.Took <= 0 || e.Response == nil || e.Questions != 1 || (e.Request != nil) != keep {
			t.Errorf("keep %v: got %+v", keep, e)
		}
		if e := watch.events[1]; e.Status != 422 || e.Error == "" || e.Response != nil {
			t.Errorf("refused: got %+v", e)
		}
		if e := watch.events[2]; e.Status != 500 {
			t.Errorf("panic: got %+v", e)
		}
		if strings.Contains(lines.String(), secret) || strings.Contains(lines.String(), "hello") {
			t.Errorf("the log quotes a request: %s", lines.String())
		}
		if !strings.Contains(lines.String(), "oracle") || !strings.Contains(lines.String(), "defect") {
			t.Errorf("the log does not tell of the panic: %s", lines.String())
		}
	}
}

func TestServerDefaultsReachTheRequest(t *testing.T) {
	watch := &spy{keep: true}
	r := start(t, Options{Observer: watch, Limits: engine.Limits{NeutralIDs: true}})
	r.ask(t, noul)
	r.do(t, "POST", "/v1/decisions", `{"input":"x","questions":[{"type":"predicate"}]}`)
	r.Close()
	for _, e := range watch.events {
		if e.Request == nil || !e.Request.NeutralIDs {
			t.Errorf("%s: the request does not hide ids: %+v", e.Path, e.Request)
		}
	}
}

// The time for reading a request must not end a decision that takes longer.
func TestReadTimeoutEndsWithTheBody(t *testing.T) {
	r := start(t, Options{})
	impatient := httptest.NewUnstartedServer(r.api)
	impatient.Config.ReadTimeout = 50 * time.Millisecond
	impatient.Start()
	defer impatient.Close()
	r.URL = impatient.URL
	done := r.send(t.Context(), question("wait"))
	eventually(t, "the run", func() bool { return r.model.runs.Load() == 1 })
	time.Sleep(150 * time.Millisecond)
	close(r.model.gate)
	if got := <-done; got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}
