package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clefbar/engine"
)

// scripted is a model whose decisions wait for a gate and count how many run at once.
type scripted struct {
	name            string
	bytes           int64
	gate            chan struct{} // nil: answer at once
	running, most   atomic.Int32
	closed, decided atomic.Int32
	cancelled       atomic.Int32
	order           *log
}

type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(s string) { l.mu.Lock(); l.lines = append(l.lines, s); l.mu.Unlock() }

func (m *scripted) Decide(ctx context.Context, r *engine.Request) (*engine.Response, error) {
	if m.closed.Load() > 0 {
		panic("a closed model was asked")
	}
	n := m.running.Add(1)
	defer m.running.Add(-1)
	m.most.Store(max(m.most.Load(), n))
	if m.order != nil {
		m.order.add(r.State.Text)
	}
	if m.gate != nil {
		select {
		case <-m.gate:
		case <-ctx.Done():
			m.cancelled.Add(1)
			return nil, ctx.Err()
		}
	}
	m.decided.Add(1)
	return &engine.Response{Model: m.name}, nil
}

func (m *scripted) Info() engine.ModelInfo {
	return engine.ModelInfo{Name: m.name, WeightBytes: m.bytes}
}

func (m *scripted) Close() error {
	if m.running.Load() > 0 {
		panic("closed while a decision runs")
	}
	m.closed.Add(1)
	return nil
}

// shelf serves scripted models; opening one waits for its door.
type shelf struct {
	mu     sync.Mutex
	models map[string]*scripted
	doors  map[string]chan struct{}
	fail   map[string]error
	opened map[string]int
}

func newShelf(models ...*scripted) *shelf {
	s := &shelf{models: map[string]*scripted{}, doors: map[string]chan struct{}{}, fail: map[string]error{}, opened: map[string]int{}}
	for _, m := range models {
		s.models[m.name] = m
	}
	return s
}

func (s *shelf) Default(name string) bool { return name == "" }

func (s *shelf) Resolve(name string) (string, error) {
	if _, ok := s.models[name]; ok {
		return name, nil
	}
	return "", &engine.Error{Reason: engine.BadUsage, Message: "Unknown model: " + name}
}

func (s *shelf) Info(key string) (engine.ModelInfo, bool) {
	m, ok := s.models[key]
	if !ok {
		return engine.ModelInfo{}, false
	}
	return m.Info(), true
}

func (s *shelf) Open(ctx context.Context, key string, progress func(done, total int64)) (Model, error) {
	if door := s.doors[key]; door != nil {
		progress(1, 4)
		select {
		case <-door:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[key]; err != nil {
		return nil, err
	}
	s.opened[key]++
	m := s.models[key]
	m.closed.Store(0)
	return m, nil
}

func ask(model, state string) *engine.Request {
	return &engine.Request{Model: model, State: engine.Text(state)}
}

// eventually waits for a condition that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited for: %s", what)
}

func TestOneAtATimeInOrder(t *testing.T) {
	order := &log{}
	m := &scripted{name: "a", gate: make(chan struct{}), order: order}
	w := New(newShelf(m), "a", Options{})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := w.Decide(t.Context(), ask("", fmt.Sprint(i))); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		})
		eventually(t, "request in line", func() bool {
			st := w.Status()
			return st.Waiting == i && st.Running && w.line.length() == i
		})
	}
	for range 8 {
		m.gate <- struct{}{}
	}
	all.Wait()
	if got := m.most.Load(); got != 1 {
		t.Errorf("decisions at once: got %d, want 1", got)
	}
	if got, want := fmt.Sprint(order.lines), "[0 1 2 3 4 5 6 7]"; got != want {
		t.Errorf("order: got %s, want %s", got, want)
	}
}

func TestFullQueueRefuses(t *testing.T) {
	m := &scripted{name: "a", gate: make(chan struct{})}
	w := New(newShelf(m), "a", Options{Depth: 2})
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() { _, _ = w.Decide(t.Context(), ask("", "x")) })
		eventually(t, "place taken", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.admitted == i+1 })
	}
	_, err := w.Decide(t.Context(), ask("", "x"))
	if got := engine.ReasonOf(err); got != engine.Busy {
		t.Errorf("reason: got %v (%v), want Busy", got, err)
	}
	if d := w.RetryAfter(engine.Busy); d < time.Second || d > 8*time.Second {
		t.Errorf("RetryAfter: got %v, want 1 to 8 s", d)
	}
	close(m.gate)
	all.Wait()
	if _, err := w.Decide(t.Context(), ask("", "x")); err != nil {
		t.Errorf("after the queue is empty: %v", err)
	}
}

func TestCancelledRequestsLeaveTheLine(t *testing.T) {
	m := &scripted{name: "a", gate: make(chan struct{})}
	w := New(newShelf(m), "a", Options{})
	first, stop := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { _, err := w.Decide(first, ask("", "runs")); done <- err }()
	eventually(t, "the first runs", func() bool { return m.running.Load() == 1 })
	second, leave := context.WithCancel(t.Context())
	go func() { _, err := w.Decide(second, ask("", "waits")); done <- err }()
	eventually(t, "the second waits", func() bool { return w.line.length() == 1 })
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting request: got %v, want context.Canceled", err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("running request: got %v, want context.Canceled", err)
	}
	if m.cancelled.Load() != 1 || m.decided.Load() != 0 {
		t.Errorf("cancelled %d, decided %d; want 1, 0", m.cancelled.Load(), m.decided.Load())
	}
	close(m.gate)
	if _, err := w.Decide(t.Context(), ask("", "next")); err != nil {
		t.Errorf("next request: %v", err)
	}
}

func TestLoadingIsHeldThenRefused(t *testing.T) {
	s := newShelf(&scripted{name: "a"})
	s.doors["a"] = make(chan struct{})
	w := New(s, "a", Options{Hold: 50 * time.Millisecond})
	_, err := w.Decide(t.Context(), ask("", "x"))
	if got := engine.ReasonOf(err); got != engine.Loading {
		t.Fatalf("reason: got %v (%v), want Loading", got, err)
	}
	if st := w.Status(); st.Loading != "a" || st.Done != 1 || st.Total != 4 {
		t.Errorf("status while loading: got %+v", st)
	}
	close(s.doors["a"])
	resp, err := w.Decide(t.Context(), ask("", "x"))
	if err != nil || resp.Model != "a" {
		t.Fatalf("after loading: got %v, %v", resp, err)
	}
	if s.opened["a"] != 1 {
		t.Errorf("opened %d times, want 1", s.opened["a"])
	}
}

func TestLoadTimeIsTold(t *testing.T) {
	s := newShelf(&scripted{name: "a"})
	s.doors["a"] = make(chan struct{})
	w := New(s, "a", Options{})
	time.AfterFunc(30*time.Millisecond, func() { close(s.doors["a"]) })
	first, err := w.Decide(t.Context(), ask("", "x"))
	if err != nil || first.Timing.Load < 20*time.Millisecond {
		t.Errorf("first request: load %v, %v; want about 30 ms", first.Timing.Load, err)
	}
	second, err := w.Decide(t.Context(), ask("", "x"))
	if err != nil || second.Timing.Load != 0 {
		t.Errorf("second request: load %v, %v; want 0", second.Timing.Load, err)
	}
}

func TestSwitchFinishesOnTheOldModel(t *testing.T) {
	a := &scripted{name: "a", bytes: heavyBytes, gate: make(chan struct{})}
	b := &scripted{name: "b", bytes: heavyBytes}
	w := New(newShelf(a, b), "a", Options{})
	old := make(chan *engine.Response, 1)
	go func() {
		resp, err := w.Decide(t.Context(), ask("", "x"))
		if err != nil {
			t.Error(err)
		}
		old <- resp
	}()
	eventually(t, "a runs", func() bool { return a.running.Load() == 1 })
	chosen := make(chan error, 1)
	go func() { chosen <- w.Choose(t.Context(), "b") }()
	eventually(t, "b is chosen", func() bool { return w.Chosen() == "b" })
	next := make(chan *engine.Response, 1)
	go func() {
		resp, err := w.Decide(t.Context(), ask("", "y"))
		if err != nil {
			t.Error(err)
		}
		next <- resp
	}()
	close(a.gate)
	if got := (<-old).Model; got != "a" {
		t.Errorf("the running request: answered by %s, want a", got)
	}
	if err := <-chosen; err != nil {
		t.Fatal(err)
	}
	if got := (<-next).Model; got != "b" {
		t.Errorf("the next request: answered by %s, want b", got)
	}
	if a.closed.Load() != 1 {
		t.Errorf("a was closed %d times, want 1", a.closed.Load())
	}
	if st := w.Status(); fmt.Sprint(st.Loaded) != "[b]" || !st.Ready {
		t.Errorf("status: got %+v", st)
	}
}

func TestFailedSwitchKeepsTheOldDefault(t *testing.T) {
	s := newShelf(&scripted{name: "a"}, &scripted{name: "b"})
	s.fail["b"] = &engine.Error{Reason: engine.BadModel, Message: "no head"}
	w := New(s, "a", Options{})
	if err := w.Choose(t.Context(), "b"); engine.ReasonOf(err) != engine.BadModel {
		t.Fatalf("Choose: got %v, want BadModel", err)
	}
	resp, err := w.Decide(t.Context(), ask("", "x"))
	if err != nil || resp.Model != "a" {
		t.Errorf("got %v, %v; want an answer of a", resp, err)
	}
	if w.Status().Err == nil {
		t.Error("the failure is not in the status")
	}
	delete(s.fail, "b")
	if err := w.Choose(t.Context(), "b"); err != nil || w.Status().Err != nil {
		t.Errorf("second try: %v, status %v", err, w.Status().Err)
	}
}

func TestLightModelsStayTogether(t *testing.T) {
	small, big := &scripted{name: "small"}, &scripted{name: "big", bytes: heavyBytes}
	w := New(newShelf(small, big), "big", Options{})
	for _, name := range []string{"big", "small", "big", "small"} {
		if resp, err := w.Decide(t.Context(), ask(name, "x")); err != nil || resp.Model != name {
			t.Fatalf("%s: got %v, %v", name, resp, err)
		}
	}
	if st := w.Status(); fmt.Sprint(st.Loaded) != "[big small]" {
		t.Errorf("loaded: got %v, want both", st.Loaded)
	}
	w.Unload()
	if st := w.Status(); len(st.Loaded) > 0 || st.Ready {
		t.Errorf("after Unload: got %+v", st)
	}
}

func TestIdleModelsAreClosed(t *testing.T) {
	m := &scripted{name: "a", bytes: heavyBytes}
	s := newShelf(m)
	w := New(s, "a", Options{Idle: 20 * time.Millisecond})
	if _, err := w.Decide(t.Context(), ask("", "x")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a is closed", func() bool { return m.closed.Load() == 1 })
	if _, err := w.Decide(t.Context(), ask("", "x")); err != nil || s.opened["a"] != 2 {
		t.Errorf("after the rest: %v, opened %d times, want 2", err, s.opened["a"])
	}
}

func TestIdleCanBeChanged(t *testing.T) {
	m := &scripted{name: "a", bytes: heavyBytes}
	told := make(chan string, 1)
	w := New(newShelf(m), "a", Options{Ran: func(key string, r *engine.Response) { told <- key }})
	if _, err := w.Decide(t.Context(), ask("", "x")); err != nil {
		t.Fatal(err)
	}
	if key := <-told; key != "a" {
		t.Errorf("told of an answer by %q, want a", key)
	}
	time.Sleep(30 * time.Millisecond)
	if m.closed.Load() != 0 {
		t.Fatal("closed although nothing was set")
	}
	w.SetIdle(10 * time.Millisecond)
	eventually(t, "a is closed", func() bool { return m.closed.Load() == 1 })
	w.SetIdle(0)
	if _, err := w.Decide(t.Context(), ask("", "x")); err != nil {
		t.Fatal(err)
	}
	<-told
	time.Sleep(30 * time.Millisecond)
	if m.closed.Load() != 0 { // opening it again set it back
		t.Error("closed although it was switched off")
	}
}

func TestDrain(t *testing.T) {
	m := &scripted{name: "a", gate: make(chan struct{})}
	w := New(newShelf(m), "a", Options{})
	running, waiting := make(chan error, 1), make(chan error, 1)
	go func() { _, err := w.Decide(t.Context(), ask("", "runs")); running <- err }()
	eventually(t, "one runs", func() bool { return m.running.Load() == 1 })
	go func() { _, err := w.Decide(t.Context(), ask("", "waits")); waiting <- err }()
	eventually(t, "one waits", func() bool { return w.line.length() == 1 })
	drained := make(chan struct{})
	go func() { defer close(drained); w.Drain(context.Background(), 20*time.Millisecond) }()
	if err := <-waiting; engine.ReasonOf(err) != engine.ShuttingDown {
		t.Errorf("waiting request: got %v, want ShuttingDown", err)
	}
	if _, err := w.Decide(t.Context(), ask("", "new")); engine.ReasonOf(err) != engine.ShuttingDown {
		t.Errorf("new request: got %v, want ShuttingDown", err)
	}
	close(m.gate)
	if err := <-running; err != nil {
		t.Errorf("running request: %v", err)
	}
	<-drained
	if m.closed.Load() != 1 {
		t.Errorf("the model was closed %d times, want 1", m.closed.Load())
	}
}

func TestDeadline(t *testing.T) {
	m := &scripted{name: "a", gate: make(chan struct{})}
	w := New(newShelf(m), "a", Options{Run: 20 * time.Millisecond})
	if _, err := w.Decide(t.Context(), ask("", "x")); !errors.Is(err, ErrDeadline) {
		t.Errorf("got %v, want ErrDeadline", err)
	}
}

func TestManyRequestsAndSwitches(t *testing.T) {
	a, b := &scripted{name: "a", bytes: heavyBytes}, &scripted{name: "b", bytes: heavyBytes}
	w := New(newShelf(a, b), "a", Options{Depth: 1000})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			want := []string{"a", "b"}[i%2]
			if resp, err := w.Decide(t.Context(), ask(want, "x")); err != nil || resp.Model != want {
				t.Errorf("request %d: got %v, %v; want %s", i, resp, err, want)
			}
		})
	}
	all.Wait()
	if got := a.decided.Load() + b.decided.Load(); got != 200 {
		t.Errorf("decided %d, want 200", got)
	}
}
