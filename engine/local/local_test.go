package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/engine/goldentest"
)

const threeQuestions = `{"state":"The checkout fails with error 500 since this morning.","questions":{
	"team":{"type":"choice","instructions":"Who should handle this?","criteria":{"billing":"Payments","technical":"Bugs"}},
	"urgency":{"type":"score","instructions":"How urgent is it?","criteria":["Can wait","This week","Today"]},
	"outage":{"type":"noul","instructions":"Is a service down?"}}}`

const (
	textOnly = "tiny-27b-shape-mlx-4bit"
	small    = "tiny-9b-shape-mlx-4bit"
)

func decide(t *testing.T, m *Model, r *engine.Request) *engine.Response {
	t.Helper()
	out, err := m.Decide(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestInfo(t *testing.T) {
	var done, total int64
	m, err := Open(context.Background(), goldentest.Path(t, small), Options{Precision: "f32", Progress: func(d, n int64) {
		if d < done || d > n {
			t.Errorf("progress went from %d to %d of %d", done, d, n)
		}
		done, total = d, n
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if done != total || total == 0 {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	i := m.Info()
	if i.Name != small || i.Layout != "4-bit" || i.Precision != "f32" || i.Device != "CPU" || i.Limit != 16384 || !i.Vision ||
		i.DiskBytes < 1<<20 || i.WeightBytes <= 0 || i.WeightBytes > i.DiskBytes || i.Practice {
		t.Errorf("got %+v", i)
	}
	first, second := decide(t, m, parse(t, []byte(threeQuestions))), decide(t, m, parse(t, []byte(threeQuestions)))
	if first.Timing.Load <= 0 || second.Timing.Load != 0 {
		t.Errorf("load time: got %v and then %v, want it once", first.Timing.Load, second.Timing.Load)
	}
	if a, b := string(first.JSON()), string(second.JSON()); a != b {
		t.Errorf("the same request gave %s and then %s", a, b)
	}
}

func TestOptions(t *testing.T) {
	for name, tt := range map[string]struct {
		dir    string
		o      Options
		reason engine.Reason
		want   string
	}{
		"no such folder":    {"nowhere", Options{}, engine.NoModel, "nowhere"},
		"not a model":       {"images", Options{}, engine.NoModel, "holds no model"},
		"limit too high":    {small, Options{Limit: MaxLimit + 1}, engine.BadUsage, "65537"},
		"limit negative":    {small, Options{Limit: -1}, engine.BadUsage, "-1"},
		"unknown precision": {small, Options{Precision: "f64"}, engine.BadUsage, "f64"},
		"device that fails": {small, Options{Device: Device{"gpu", func(string) (backend.Backend, error) { return nil, errors.New("no GPU here") }}}, engine.Device, "gpu cannot be opened: no GPU here"},
	} {
		m, err := Open(context.Background(), goldentest.Path(t, tt.dir), tt.o)
		if err == nil {
			m.Close()
			t.Errorf("%s: opened", name)
			continue
		}
		if engine.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got reason %d, %v; want %d, …%s…", name, engine.ReasonOf(err), err, tt.reason, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Open(ctx, goldentest.Path(t, small), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v, want context.Canceled", err)
	}
}

func TestLimit(t *testing.T) {
	m, err := Open(context.Background(), goldentest.Path(t, small), Options{Limit: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	long := parse(t, []byte(`{"state":"`+strings.Repeat("many words ", 200)+`","questions":{"a":{"type":"noul"}}}`))
	_, err = m.Decide(context.Background(), long)
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Reason != engine.TooLong || e.Limit != 300 || e.Needed <= 300 {
		t.Fatalf("got %v, want TooLong with counts", err)
	}
	long.Truncate = true
	out := decide(t, m, long)
	if out.Usage.InputTokens != 300 || out.Truncated != e.Needed-300 {
		t.Errorf("got %d tokens, %d cut; want 300, %d", out.Usage.InputTokens, out.Truncated, e.Needed-300)
	}
}

// TestIndependent: names, order and neighbours of a question must not move its answer at all.
func TestIndependent(t *testing.T) {
	m := openGolden(t, small)
	r := parse(t, []byte(threeQuestions))
	r.Independent = true
	all := decide(t, m, r)
	enc, err := m.Encode(r)
	if err != nil || !strings.Contains(enc.Text, "ID: q1\n") || strings.Contains(enc.Text, "team") {
		t.Errorf("got prompt %q, %v; want a neutral id", enc.Text, err)
	}
	tokens := 0
	for i := range r.Questions {
		alone := *r
		q := r.Questions[i]
		q.ID = fmt.Sprint("renamed", i)
		alone.Questions = []engine.Question{q}
		got := decide(t, m, &alone)
		if a, b := fmt.Sprint(got.Answers[0].Logits), fmt.Sprint(all.Answers[i].Logits); a != b {
			t.Errorf("%s: alone %s, among others %s", r.Questions[i].ID, a, b)
		}
		tokens += got.Usage.InputTokens
	}
	if all.Usage.InputTokens >= tokens || all.Usage.InputTokens < tokens/3 {
		t.Errorf("got %d tokens together, %d alone: the state must count once", all.Usage.InputTokens, tokens)
	}
	// The shared beginning must not change the numbers beyond rounding.
	one := *r
	one.Questions = []engine.Question{{ID: "q1", Kind: r.Questions[0].Kind, Instructions: r.Questions[0].Instructions, Options: r.Questions[0].Options}}
	one.Independent = false
	cold := decide(t, m, &one)
	for k, p := range cold.Answers[0].Raw {
		if d := math.Abs(p - all.Answers[0].Raw[k]); d > 1e-5 {
			t.Errorf("option %d: cold %v, over the shared state %v", k, p, all.Answers[0].Raw[k])
		}
	}
}

func TestTextModelRefusesImages(t *testing.T) {
	m := openGolden(t, textOnly)
	data, err := os.ReadFile(goldentest.Path(t, "images/a_96x64.png"))
	if err != nil {
		t.Fatal(err)
	}
	r := parse(t, []byte(threeQuestions))
	r.Images = []engine.Image{{Data: data}}
	_, err = m.Decide(context.Background(), r)
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Reason != engine.Invalid || fmt.Sprint(e.Details[0].Loc) != "[body images 0]" {
		t.Errorf("got %v, want Invalid at [body images 0]", err)
	}
}

func TestBadImages(t *testing.T) {
	m := openGolden(t, small)
	good, err := os.ReadFile(goldentest.Path(t, "images/a_96x64.png"))
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "text": []byte("hello"), "cut": good[:len(good)-20]} {
		r := parse(t, []byte(threeQuestions))
		r.Images = []engine.Image{{Data: good}, {Data: bad}}
		_, err := m.Decide(context.Background(), r)
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || e.Reason != engine.Invalid || fmt.Sprint(e.Details[0].Loc) != "[body images 1]" {
			t.Errorf("%s: got %v, want Invalid at [body images 1]", name, err)
		}
	}
}

func TestTemperature(t *testing.T) {
	dir := copyOf(t, small)
	if err := os.WriteFile(filepath.Join(dir, "clefbar.json"), []byte(`{"name":"warm","temperature":2,"practice":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, off := range []bool{false, true} {
		m, err := Open(context.Background(), dir, Options{Precision: "f32", Uncalibrated: off})
		if err != nil {
			t.Fatal(err)
		}
		out := decide(t, m, parse(t, []byte(threeQuestions)))
		a := out.Answers[1]
		for i := range a.Probs {
			var sum float64
			for _, l := range a.Logits {
				sum += math.Exp(float64(l-a.Logits[i]) / map[bool]float64{false: 2, true: 1}[off])
			}
			if d := math.Abs(a.Probs[i] - 1/sum); d > 2e-6 {
				t.Errorf("off %v: got %v, want %v", off, a.Probs[i], 1/sum)
			}
		}
		if out.Model != "warm" || !out.Practice {
			t.Errorf("got model %s, practice %v", out.Model, out.Practice)
		}
		m.Close()
	}
}

// copyOf copies a golden checkpoint to a folder that a test may damage.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(goldentest.Path(t, name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestVanishedFiles: a file that is cut under the running model is noticed before it is touched.
func TestVanishedFiles(t *testing.T) {
	dir := copyOf(t, small)
	m, err := Open(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	decide(t, m, parse(t, []byte(threeQuestions)))
	if err := os.Truncate(filepath.Join(dir, "model.safetensors"), 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Decide(context.Background(), parse(t, []byte(threeQuestions))); engine.ReasonOf(err) != engine.NoModel || !strings.Contains(err.Error(), "model.safetensors") {
		t.Errorf("got %v, want NoModel about model.safetensors", err)
	}
}

func TestForeignTokenizer(t *testing.T) {
	fsys := fstest.MapFS{}
	dir := goldentest.Path(t, small)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fsys[e.Name()] = &fstest.MapFile{Data: data}
	}
	open := func(old, replacement string) error {
		data := string(fsys["tokenizer.json"].Data)
		if !strings.Contains(data, old) {
			t.Fatalf("tokenizer.json has no %q", old)
		}
		changed := fstest.MapFS{}
		for k, v := range fsys {
			changed[k] = v
		}
		changed["tokenizer.json"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(data, old, replacement))}
		m, err := OpenFS(context.Background(), changed, "m", Options{})
		if err == nil {
			m.Close()
		}
		return err
	}
	if err := open(`"id": 480`, `"id": 900`); engine.ReasonOf(err) != engine.BadModel || !strings.Contains(err.Error(), "only 512 rows") {
		t.Errorf("too many tokens: got %v", err)
	}
	if err := open(`<|image_pad|>`, `<|picture|>`); engine.ReasonOf(err) != engine.BadModel || !strings.Contains(err.Error(), "stands for an image") {
		t.Errorf("other image token: got %v", err)
	}
}

// gate is a backend that stops in the middle of a run until it is let on.
type gate struct {
	backend.Backend
	entered chan struct{}
	open    chan struct{}
	boom    bool
	fail    error // what the next run fails with
	failed  error
	begun   int
}

func (g *gate) Begin(ctx context.Context) {
	g.failed = nil
	g.begun++
	g.Backend.Begin(ctx)
}

func (g *gate) Sync() error {
	if g.failed != nil {
		return g.failed
	}
	return g.Backend.Sync()
}

func (g *gate) Embed(dst backend.Buffer, table backend.Weight, ids []int32) {
	if g.boom {
		g.boom = false
		panic("boom")
	}
	if g.fail != nil {
		g.failed, g.fail = g.fail, nil
		return
	}
	if g.entered != nil {
		g.entered <- struct{}{}
		<-g.open
	}
	g.Backend.Embed(dst, table, ids)
}

func openGate(t *testing.T, g *gate) *Model {
	t.Helper()
	g.Backend = scalar.New()
	m, err := Open(context.Background(), goldentest.Path(t, small), Options{Device: Device{"gate", func(string) (backend.Backend, error) { return g, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var tinyRequest = []byte(`{"state":"a","questions":{"b":{"type":"choice","criteria":{"c":null,"d":null}}}}`)

// TestQueue: the second waits for the first, a third may give up waiting, and
// closing refuses those that wait.
func TestQueue(t *testing.T) {
	g := &gate{entered: make(chan struct{}), open: make(chan struct{})}
	m := openGate(t, g)
	r := parse(t, tinyRequest)
	var wg sync.WaitGroup
	results := make([]error, 3)
	run := func(i int, ctx context.Context) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, results[i] = m.Decide(ctx, r)
		}()
	}
	run(0, context.Background())
	<-g.entered
	ctx, cancel := context.WithCancel(context.Background())
	run(1, ctx)
	cancelled := make(chan struct{})
	go func() {
		time.Sleep(20 * time.Millisecond)
		cancel()
		close(cancelled)
	}()
	<-cancelled
	run(2, context.Background())
	time.Sleep(20 * time.Millisecond)
	closed := make(chan error)
	go func() { closed <- m.Close() }()
	select {
	case <-closed:
		t.Fatal("Close did not wait for the running decision")
	case <-time.After(20 * time.Millisecond):
	}
	g.open <- struct{}{}
	wg.Wait()
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	if results[0] != nil {
		t.Errorf("first: %v", results[0])
	}
	if !errors.Is(results[1], context.Canceled) {
		t.Errorf("second: got %v, want context.Canceled", results[1])
	}
	if engine.ReasonOf(results[2]) != engine.ShuttingDown {
		t.Errorf("third: got %v, want ShuttingDown", results[2])
	}
	if _, err := m.Decide(context.Background(), r); engine.ReasonOf(err) != engine.ShuttingDown {
		t.Errorf("after Close: got %v, want ShuttingDown", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestPanicBecomesAnError(t *testing.T) {
	g := &gate{boom: true}
	m := openGate(t, g)
	defer m.Close()
	_, err := m.Decide(context.Background(), parse(t, tinyRequest))
	if engine.ReasonOf(err) != engine.Failed || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("got %v, want Failed: boom", err)
	}
	decide(t, m, parse(t, tinyRequest)) // and on it goes
}

// TestDeviceFailures: what a device reports becomes a reason, and one that asks for
// another try gets it.
func TestDeviceFailures(t *testing.T) {
	g := &gate{}
	m := openGate(t, g)
	defer m.Close()
	r := parse(t, tinyRequest)
	for _, tt := range []struct {
		fail   error
		reason engine.Reason
	}{
		{errors.New("the GPU hangs"), engine.Device},
		{fmt.Errorf("allocate 9 GB: %w", backend.ErrMemory), engine.NoMemory},
		{&engine.Error{Reason: engine.NoMemory, Message: "full"}, engine.NoMemory},
	} {
		g.fail = tt.fail
		if _, err := m.Decide(context.Background(), r); engine.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), tt.fail.Error()) {
			t.Errorf("%v: got reason %d, %v; want %d", tt.fail, engine.ReasonOf(err), err, tt.reason)
		}
		decide(t, m, r)
	}
	g.fail, g.begun = fmt.Errorf("half precision overflowed: %w", backend.ErrAgain), 0
	decide(t, m, r)
	if g.begun != 3 { // the failed backbone, then backbone and head
		t.Errorf("got %d runs, want 3", g.begun)
	}
}

// TestCancelStopsTheRun measures how long a running decision goes on after its end was asked for.
func TestCancelStopsTheRun(t *testing.T) {
	m := openGolden(t, textOnly)
	r := parse(t, []byte(`{"state":"`+strings.Repeat("word ", 3000)+`","questions":{"b":{"type":"noul"}}}`))
	began := time.Now()
	decide(t, m, r)
	whole := time.Since(began)
	for _, part := range []time.Duration{whole / 10, whole / 2} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var asked time.Time
		timer := time.AfterFunc(part, func() {
			asked = time.Now()
			cancel(&engine.Error{Reason: engine.ShuttingDown, Message: "enough"})
		})
		_, err := m.Decide(ctx, r)
		timer.Stop()
		if !errors.Is(err, context.Canceled) || engine.ReasonOf(err) != engine.ShuttingDown {
			t.Fatalf("got %v, want context.Canceled with its cause", err)
		}
		if late := time.Since(asked); late > 100*time.Millisecond {
			t.Errorf("stopped %v after it was asked", late)
		}
	}
}
