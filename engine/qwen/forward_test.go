package qwen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/models"
	"clefbar/models/modeltest"
)

// openModel loads a generated model on the scalar backend.
func openModel(t *testing.T, s modeltest.Shape) (*Model, *scalar.Backend) {
	t.Helper()
	f, err := models.OpenFS(s.Files(nil), "generated")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b := scalar.New()
	m, err := Load(context.Background(), b, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, b
}

func someIDs(n, vocab int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32((37*i + 11) % vocab)
	}
	return out
}

func forward(t *testing.T, m *Model, in Input) []float32 {
	t.Helper()
	x, err := m.Forward(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer m.b.Free(x)
	out := make([]float32, x.Rows()*x.Cols())
	if err := m.b.Read(out, x); err != nil {
		t.Fatal(err)
	}
	return out
}

func wantEqual(t *testing.T, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d numbers, want %d", len(got), len(want))
	}
	for i, w := range want {
		if d := math.Abs(float64(got[i] - w)); !(d <= tolerance) {
			t.Fatalf("number %d: got %v, want %v", i, got[i], w)
		}
	}
}

// TestBlocksAgree: how many rows pass through a layer at a time must not matter.
func TestBlocksAgree(t *testing.T) {
	m, _ := openModel(t, modeltest.Small)
	ids := someIDs(23, 32)
	want := forward(t, m, Input{IDs: ids})
	for _, block := range []int{1, 2, 3, 7, 22, 23} {
		t.Run(fmt.Sprint(block), func(t *testing.T) {
			m.block = block
			wantEqual(t, forward(t, m, Input{IDs: ids}), want, 1e-5)
		})
	}
}

// TestPrefixEqualsWhole: hot equals cold, for every split, also shorter than the
// convolution's history, and a prefix may be used again and extended.
func TestPrefixEqualsWhole(t *testing.T) {
	m, _ := openModel(t, modeltest.Small)
	ids := someIDs(17, 32)
	want := forward(t, m, Input{IDs: ids})
	for _, block := range []int{4, mostRows} {
		m.block = block
		for split := 1; split < len(ids); split++ {
			p, err := m.Prefill(context.Background(), Input{IDs: ids[:split]})
			if err != nil {
				t.Fatal(err)
			}
			if p.Len() != split {
				t.Fatalf("prefix of %d tokens says %d", split, p.Len())
			}
			for range 2 {
				wantEqual(t, forward(t, m, Input{IDs: ids[split:], Prefix: p}), want, 1e-5)
			}
			m.FreePrefix(p)
		}
	}
	first, err := m.Prefill(context.Background(), Input{IDs: ids[:3]})
	if err != nil {
		t.Fatal(err)
	}
	second, err := m.Prefill(context.Background(), Input{IDs: ids[3:11], Prefix: first})
	if err != nil {
		t.Fatal(err)
	}
	m.FreePrefix(first)
	wantEqual(t, forward(t, m, Input{IDs: ids[11:], Prefix: second}), want, 1e-5)
	m.FreePrefix(second)
}

// TestSomeRowsEqualAll: rows that are asked for come out as if all were, whatever is left unfinished beside them,
// behind a prefix and in small blocks too.
func TestSomeRowsEqualAll(t *testing.T) {
	m, _ := openModel(t, modeltest.Small)
	ids, width := someIDs(17, 32), modeltest.Small.Hidden
	want := forward(t, m, Input{IDs: ids})
	for _, spans := range [][]backend.Span{{{From: 16, To: 17}}, {{From: 16, To: 17}, {From: 3, To: 9}, {From: 5, To: 11}}, {{From: 0, To: 17}}, {}} {
		for _, block := range []int{3, mostRows} {
			m.block = block
			for _, split := range []int{0, 4, 12} {
				in := Input{IDs: ids[split:], Rows: spans}
				if split > 0 {
					p, err := m.Prefill(context.Background(), Input{IDs: ids[:split]})
					if err != nil {
						t.Fatal(err)
					}
					defer m.FreePrefix(p)
					in.Prefix = p
				}
				got := forward(t, m, in)
				if len(got) != len(want) {
					t.Fatalf("got %d numbers, want %d", len(got), len(want))
				}
				for _, s := range spans {
					wantEqual(t, got[s.From*width:s.To*width], want[s.From*width:s.To*width], 1e-5)
				}
			}
		}
	}
	// The work is spared: what nobody asked for is not the final row.
	if got := forward(t, m, Input{IDs: ids, Rows: []backend.Span{{From: 16, To: 17}}}); got[0] == want[0] {
		t.Error("a row that nobody reads was finished")
	}
	for _, s := range []backend.Span{{From: -1, To: 2}, {From: 2, To: 2}, {From: 3, To: 18}} {
		if _, err := m.Forward(context.Background(), Input{IDs: ids, Rows: []backend.Span{s}}); err == nil {
			t.Errorf("rows %v of 17 were accepted", s)
		}
	}
}

func TestForwardRefusesNonsense(t *testing.T) {
	m, _ := openModel(t, modeltest.Small)
	for name, in := range map[string]Input{
		"no tokens":              {},
		"positions do not match": {IDs: []int32{1, 2}, Positions: make([]Position, 3)},
		"token outside":          {IDs: []int32{1, 32}},
		"negative token":         {IDs: []int32{-1}},
	} {
		if x, err := m.Forward(context.Background(), in); err == nil {
			t.Errorf("%s: got %d rows, want an error", name, x.Rows())
		}
	}
}

func TestCancelled(t *testing.T) {
	m, _ := openModel(t, modeltest.Small)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Forward(ctx, Input{IDs: someIDs(5, 32)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Forward: got %v, want context.Canceled", err)
	}
	if _, err := m.Prefill(ctx, Input{IDs: someIDs(5, 32)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Prefill: got %v, want context.Canceled", err)
	}
	forward(t, m, Input{IDs: someIDs(5, 32)}) // the model works on
}

// ledger counts live buffers and bytes of a backend.
type ledger struct {
	*scalar.Backend
	live, most int
	sizes      map[backend.Buffer]int
}

func (l *ledger) New(rows, cols int, f backend.Format) backend.Buffer {
	b := l.Backend.New(rows, cols, f)
	l.sizes[b] = rows * cols
	l.live += rows * cols
	l.most = max(l.most, l.live)
	return b
}

func (l *ledger) Free(bs ...backend.Buffer) {
	for _, b := range bs {
		n, ok := l.sizes[b]
		if !ok {
			panic("freed twice, or a slice was freed")
		}
		delete(l.sizes, b)
		l.live -= n
	}
}

// TestMemory: everything is given back, also when cancelled, and the peak grows
// with the tokens no faster than the rows that must exist.
func TestMemory(t *testing.T) {
	f, err := models.OpenFS(modeltest.Small.Files(nil), "generated")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &ledger{Backend: scalar.New(), sizes: map[backend.Buffer]int{}}
	m, err := Load(context.Background(), l, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.block = 8
	peak := func(n int) int {
		l.most = l.live
		forward(t, m, Input{IDs: someIDs(n, 32)})
		if l.live != 0 {
			t.Fatalf("%d tokens: %d numbers were not given back", n, l.live)
		}
		return l.most
	}
	// x, keys, values and angles of one token
	perToken := 64 + 2*32 + 2*4
	if got, want := peak(80)-peak(40), 40*perToken; got != want {
		t.Errorf("40 more tokens take %d numbers, want %d", got, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m.Forward(ctx, Input{IDs: someIDs(20, 32)})
	m.Prefill(ctx, Input{IDs: someIDs(20, 32)})
	if l.live != 0 {
		t.Errorf("after cancelled runs %d numbers were not given back", l.live)
	}
}

// TestBlockRows: scratch stays within its budget where the model allows it.
func TestBlockRows(t *testing.T) {
	for name, tt := range map[string]struct {
		c    models.Config
		want int
	}{
		"practice model": {models.Config{Hidden: 256, MLP: 384, Heads: 6, KVHeads: 3, HeadDim: 64, KeyHeads: 2, ValueHeads: 2, KeyDim: 64, ValueDim: 64}, 1024},
		"9B":             {models.Config{Hidden: 4096, MLP: 12288, Heads: 16, KVHeads: 4, HeadDim: 256, KeyHeads: 16, ValueHeads: 32, KeyDim: 128, ValueDim: 128}, 448},
		"27B":            {models.Config{Hidden: 5120, MLP: 17408, Heads: 24, KVHeads: 4, HeadDim: 256, KeyHeads: 16, ValueHeads: 48, KeyDim: 128, ValueDim: 128}, 320},
		"very wide":      {models.Config{Hidden: 1 << 20, MLP: 1 << 20, Heads: 1, KVHeads: 1, HeadDim: 1, KeyHeads: 1, ValueHeads: 1, KeyDim: 1, ValueDim: 1}, 256},
	} {
		if got := blockRows(&tt.c); got != tt.want {
			t.Errorf("%s: got %d rows, want %d", name, got, tt.want)
		}
	}
}

func TestAxes(t *testing.T) {
	c := &models.Config{Rotary: 64, Sections: [3]int{11, 11, 10}}
	got := axes(c)
	var count [3]int
	for i, a := range got {
		count[a]++
		if want := i % 3; a != want && i != 31 || i == 31 && a != 1 {
			t.Errorf("frequency %d: axis %d", i, a)
		}
	}
	if count != c.Sections {
		t.Errorf("got %v frequencies, want %v", count, c.Sections)
	}
	if got, want := fmt.Sprint(axes(&models.Config{Rotary: 16, Sections: [3]int{3, 3, 2}})), "[0 1 2 0 1 2 0 1]"; got != want {
		t.Errorf("16 dims: got %s, want %s", got, want)
	}
}

// TestEvenRows: blocks cover all rows, none is larger than allowed, and no smaller number would do.
func TestEvenRows(t *testing.T) {
	for _, c := range []struct{ n, most, want int }{{1, 256, 1}, {500, 832, 500}, {832, 832, 832}, {833, 832, 448}, {2000, 832, 704}, {8000, 832, 832}, {300, 100, 100}} {
		got := evenRows(c.n, c.most)
		if got != c.want {
			t.Errorf("%d rows in blocks of at most %d: got %d, want %d", c.n, c.most, got, c.want)
		}
	}
	for n := 1; n < 3000; n += 7 {
		got := evenRows(n, 256)
		if least := (n + 255) / 256; (n+got-1)/got != least || got > 256 {
			t.Errorf("%d rows: blocks of %d, want %d blocks", n, got, least)
		}
	}
}
