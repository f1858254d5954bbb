package bench_test

import (
	"context"
	"testing"
	"time"

	"clefbar/engine/backend"
	"clefbar/engine/bench"
	"clefbar/engine/cpu"
	"clefbar/engine/goldentest"
	"clefbar/engine/local"
)

// open opens a golden checkpoint and keeps hold of its backend.
func open(t *testing.T) (*local.Model, bench.Meter) {
	t.Helper()
	var meter bench.Meter
	device := local.Device{Name: "cpu", Open: func(precision string) (backend.Backend, error) {
		b, err := cpu.New(cpu.Options{Precision: precision})
		meter, _ = b.(bench.Meter)
		return b, err
	}}
	m, err := local.Open(context.Background(), goldentest.Path(t, "tiny-9b-shape-hf"), local.Options{Device: device, Precision: cpu.F32})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, meter
}

func TestRequest(t *testing.T) {
	m, _ := open(t)
	shortest, err := bench.Request(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Encode(shortest)
	if err != nil {
		t.Fatal(err)
	}
	floor := len(e.IDs)
	for _, want := range []int{floor, floor + 1, 700, 1500, 4000} {
		r, err := bench.Request(m, want)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.IDs); got > want || got < want-2 {
			t.Errorf("a request of %d tokens has %d", want, got)
		}
	}
}

func TestRun(t *testing.T) {
	m, meter := open(t)
	var told []int
	rows, err := bench.Run(context.Background(), m, bench.Options{
		Lengths: []int{600, 900}, Runs: 3, Precision: cpu.F32, Meter: meter, Progress: func(n int) { told = append(told, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || len(told) != 2 {
		t.Fatalf("got %d rows and %d progress calls, want 2", len(rows), len(told))
	}
	for i, r := range rows {
		if r.Tokens > told[i] || r.Tokens < told[i]-2 || r.Runs != 3 {
			t.Errorf("row %d has %d tokens in %d runs, want about %d in 3", i, r.Tokens, r.Runs, told[i])
		}
		if !(r.Min > 0 && r.Min <= r.Median && r.Median <= r.Max && r.Prefill+r.Head <= r.Max+1e-3) {
			t.Errorf("row %d: times %v ≤ %v ≤ %v with prefill %v and head %v are in no order", i, r.Min, r.Median, r.Max, r.Prefill, r.Head)
		}
		if r.CPU <= 0 {
			t.Errorf("row %d: %v seconds of the processor", i, r.CPU)
		}
		if r.Share <= 0 || r.Share > 1.5 || r.PeakBytes <= 0 {
			t.Errorf("row %d: share of the peak %v, memory %d", i, r.Share, r.PeakBytes)
		}
	}
	if rows[1].Rate*rows[1].Median <= rows[0].Rate*rows[0].Median {
		t.Errorf("more tokens need more operations: got %v and %v", rows[0], rows[1])
	}
}

func TestRunStops(t *testing.T) {
	m, _ := open(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := bench.Run(ctx, m, bench.Options{Lengths: []int{8000}, Runs: 1000}); err == nil {
		t.Error("a run goes on after its context has ended")
	}
}
