package metal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/number"
	"clefbar/models"
)

// TuneSize is one product that candidates are timed on.
type TuneSize struct {
	Rows, Depth, Outputs int
	Dense                bool // by bfloat weights, else by 4-bit codes
}

// TuneSizes are what the autotuner times by default: the products of a 9B layer with
// the row counts of short suffixes, usual prompts and full blocks, by codes and dense.
func TuneSizes() (list []TuneSize) {
	for _, dense := range []bool{false, true} {
		for _, rows := range []int{8, 32, 64, 128, 256, 512, 1024} {
			list = append(list, TuneSize{rows, 4096, 12288, dense}, TuneSize{rows, 4096, 4096, dense})
		}
	}
	return list
}

// Timing is what one candidate needed.
type Timing struct {
	TuneSize
	Rule  Rule
	Took  time.Duration // best of a few runs, as the GPU says
	Wrong string        // why it is never used, "" if it may be
}

// tuneRuns is how often each candidate is timed.
const tuneRuns = 3

// errHot ends tuning: timings of a Mac that slows down because it is warm mean nothing.
var errHot = errors.New("the Mac is warm; try again when it has cooled down")

// Tune times every way to compute a product on every size, in turn, and returns the best
// table. What gives wrong numbers is left out, whatever its speed.
func Tune(ctx context.Context, dev gpu.Device, sizes []TuneSize) (*Table, []Timing, error) {
	var all []Timing
	for _, s := range sizes {
		if hot() {
			return nil, nil, fmt.Errorf("tune the GPU: %w", errHot)
		}
		timings, err := timeSize(ctx, dev, s)
		if err != nil {
			return nil, nil, fmt.Errorf("tune the GPU: %w", err)
		}
		all = append(all, timings...)
	}
	return best(all), all, nil
}

// timeSize times the candidates on one size. Numbers are compared in the first run and
// in the last.
func timeSize(ctx context.Context, dev gpu.Device, s TuneSize) ([]Timing, error) {
	rules := candidates(dev.Info(), s)
	timings := make([]Timing, len(rules))
	for i, r := range rules {
		timings[i] = Timing{TuneSize: s, Rule: r}
	}
	t, err := newTrial(dev, s)
	if err != nil {
		return nil, err
	}
	defer t.close()
	for run := range tuneRuns {
		want, _, err := t.run(ctx, Rule{Tile: tileTall}) // the reference, which also warms the clocks
		if err != nil {
			return nil, err
		}
		tensor := want
		for i := range timings {
			m := &timings[i]
			if m.Wrong != "" {
				continue // what failed once is not asked again
			}
			got, took, err := t.run(ctx, m.Rule)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				m.Wrong = err.Error()
				continue
			}
			if m.Rule.Unit == TensorUnits && m.Rule.Tile == tensorTall {
				tensor = got
			}
			if run == 0 || run == tuneRuns-1 {
				m.Wrong = wrong(m.Rule, got, want, tensor)
			}
			if m.Took == 0 || took < m.Took {
				m.Took = took
			}
		}
	}
	return timings, nil
}

// wrong compares a candidate's numbers with the reference, "" if they are right. Tiles of
// one unit have the same bits; units differ in their last bits.
func wrong(r Rule, got, want, tensor []float32) string {
	switch {
	case (r.Unit == Simdgroups || r.Unit == Direct) && !sameBits(got, want):
		return "other bits than the reference tile"
	case differ(got, want) > unitError:
		return fmt.Sprintf("differs from the reference by %.1e", differ(got, want))
	case r.Unit == TensorUnits && !sameBits(got, tensor):
		return "other bits than the reference tile of tensor units"
	}
	return ""
}

// trial multiplies one input by one weight in different ways.
type trial struct {
	b    *Backend
	w    backend.Weight
	x, y backend.Buffer
}

func newTrial(dev gpu.Device, s TuneSize) (*trial, error) {
	b, err := New(keepOpen{dev}, Options{Table: Shipped()})
	if err != nil {
		return nil, err
	}
	t := &trial{b: b}
	if t.w, err = b.Load(tuneWeight(s), backend.Matrix); err != nil {
		t.close()
		return nil, err
	}
	values := make([]float32, s.Rows*s.Depth)
	for i := range values {
		values[i] = float32(i*7919%65536-32768) / 32768 // more bits than a half or bfloat has
	}
	b.Begin(context.Background())
	t.x, t.y = b.New(s.Rows, s.Depth, backend.Exact), b.New(s.Rows, s.Outputs, backend.Exact)
	b.Write(t.x, values)
	return t, nil
}

// run multiplies once by a rule and says what came out and how long the GPU took.
func (t *trial) run(ctx context.Context, r Rule) ([]float32, time.Duration, error) {
	r.Rows = 1 << 30
	t.b.table = &Table{Rules: []Rule{r}}
	t.b.Begin(ctx)
	t.b.Linear([]backend.Buffer{t.y}, t.x, []backend.Weight{t.w}, nil, backend.None)
	got := make([]float32, t.y.Rows()*t.y.Cols())
	if err := t.b.Read(got, t.y); err != nil {
		return nil, 0, err
	}
	if r.Unit == TensorUnits && t.b.noTensor != nil {
		return nil, 0, t.b.noTensor
	}
	return got, t.b.rec.gpu, nil
}

func (t *trial) close() { _ = t.b.Close() } // the device stays open

// tuneWeight is the matrix that candidates multiply by.
func tuneWeight(s TuneSize) models.Tensor {
	if s.Dense {
		data := make([]byte, 2*s.Outputs*s.Depth)
		for i := 0; i < len(data); i += 2 { // numbers between -1 and 1 with all bits of a bfloat
			binary.LittleEndian.PutUint16(data[i:], number.Bfloat(float32(i*7919%65536-32768)/32768))
		}
		return models.Tensor{Name: "tuned", DType: models.BF16, Shape: []int{s.Outputs, s.Depth}, Data: data}
	}
	codes := make([]byte, s.Outputs*s.Depth/2)
	for i := range codes {
		codes[i] = byte(i * 131)
	}
	same := func(name string, v uint16) models.Tensor {
		data := make([]byte, s.Outputs*s.Depth/64*2)
		for i := 0; i < len(data); i += 2 {
			data[i], data[i+1] = byte(v), byte(v>>8)
		}
		return models.Tensor{Name: name, DType: models.BF16, Shape: []int{s.Outputs, s.Depth / 64}, Data: data}
	}
	const scale, bias = 0x3c00, 0xbd80 // 2^-7 and -2^-4
	return models.Tensor{
		Name: "tuned", DType: models.U32, Shape: []int{s.Outputs, s.Depth}, Data: codes,
		Quant: &models.Quant{Bits: 4, Group: 64, Scales: same("scales", scale), Biases: same("biases", bias)},
	}
}

// keepOpen is a device that its backend does not close.
type keepOpen struct{ gpu.Device }

// Close does nothing.
func (keepOpen) Close() error { return nil }

// best makes a table of timings: for each number of rows the way with the least total.
// Tensor units serve all products or none, because a row's bits would otherwise depend on
// how many rows are computed with it.
func best(all []Timing) *Table {
	simd := func(r Rule) bool { return r.Unit != TensorUnits }
	plain, took := chosen(all, simd)
	tensor, least := chosen(all, func(r Rule) bool { return !simd(r) })
	if tensor != nil && least < took {
		return tensor
	}
	return plain
}

// chosen makes a table of the allowed rules, and says how long all sizes take with it; nil
// if none is left for some size.
func chosen(all []Timing, allowed func(Rule) bool) (*Table, time.Duration) {
	table, sum := &Table{}, time.Duration(0)
	for _, kind := range []struct {
		dense bool
		to    *[]Rule
	}{{false, &table.Rules}, {true, &table.Dense}} {
		part := slices.DeleteFunc(slices.Clone(all), func(t Timing) bool { return t.Dense != kind.dense })
		if len(part) == 0 {
			continue
		}
		rules, took := fastest(part, allowed)
		if rules == nil {
			return nil, 0
		}
		*kind.to, sum = rules, sum+took
	}
	return table, sum
}

// fastest chooses among the allowed rules for each number of rows, and says how long all
// sizes take then. It returns nil if nothing allowed is left for some rows.
func fastest(all []Timing, allowed func(Rule) bool) ([]Rule, time.Duration) {
	type key struct {
		rows int
		rule Rule
	}
	total, bad := map[key]time.Duration{}, map[Rule]bool{}
	var order []Rule
	var rows []int
	for _, t := range all {
		if !slices.Contains(rows, t.Rows) {
			rows = append(rows, t.Rows)
		}
		if !allowed(t.Rule) {
			continue
		}
		if !slices.Contains(order, t.Rule) {
			order = append(order, t.Rule)
		}
		total[key{t.Rows, t.Rule}] += t.Took
		bad[t.Rule] = bad[t.Rule] || t.Wrong != ""
	}
	slices.Sort(rows)
	var list []Rule
	var sum time.Duration
	for i, n := range rows {
		choice, least := Rule{}, time.Duration(-1)
		for _, r := range order {
			if took, timed := total[key{n, r}]; timed && !bad[r] && (least < 0 || took < least) {
				choice, least = r, took
			}
		}
		if least < 0 {
			return nil, 0
		}
		choice.Rows = 1 << 30
		if i+1 < len(rows) {
			choice.Rows = (n + rows[i+1]) / 2
		}
		list, sum = append(list, choice), sum+least
	}
	return list, sum
}
