// Package bench measures how long decisions take, by the length of the request, and
// what share of the processor's multipliers they use. The share is taken against a
// loop over registers in the same seconds with the same threads: on a shared machine a
// stored peak means nothing.
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"clefbar/engine"
)

// Subject is a model under test.
type Subject interface {
	engine.Decider
	Encode(r *engine.Request) (*engine.Encoding, error)
}

// Meter is a backend that counts its products and knows its peak; [engine/cpu.CPU] is one,
// and the GPU's another.
type Meter interface {
	// Operations counts the multiplications and additions of matrix products so far.
	Operations() float64
	// Peak measures operations a second with registers alone; 0 where it cannot be measured.
	Peak(precision string, about time.Duration) float64
}

// Options chooses what is measured.
type Options struct {
	Lengths   []int  // tokens of a request
	Runs      int    // timed runs of each length, after one that is not
	Precision string // that the share of the peak refers to: "f32", "bf16" or "int8"
	Meter     Meter  // nil where there is none: no share then
	// Progress is told before a length is measured; it may be nil.
	Progress func(tokens int)
}

// Row is the result of one length. Times are seconds.
type Row struct {
	Tokens          int     `json:"tokens"`
	Runs            int     `json:"runs"`
	Median          float64 `json:"median_s"`
	Min             float64 `json:"min_s"`
	Max             float64 `json:"max_s"`
	Prefill         float64 `json:"prefill_s"` // median of the backbone alone
	Head            float64 `json:"head_s"`    // median of the head alone
	CPU             float64 `json:"cpu_s"`     // median time of all threads together; 0 where unknown
	TokensPerSecond float64 `json:"tokens_per_s"`
	PeakBytes       int64   `json:"peak_bytes"`              // most memory of the process during these runs
	AboveWeights    int64   `json:"above_weights_bytes"`     // of it, what is not mapped files; 0 where unknown
	Rate            float64 `json:"gops_per_s,omitempty"`    // billions of operations of products a second, at the median
	Share           float64 `json:"share_of_peak,omitempty"` // Rate by the peak measured between these runs
	Peak            float64 `json:"peak_gops_per_s,omitempty"`
}

// peakTime is how long one measurement of the peak takes.
const peakTime = 100 * time.Millisecond

// Run measures every length. Lengths shorter than the shortest request are measured as that
// one; Tokens says what was run.
func Run(ctx context.Context, m Subject, o Options) ([]Row, error) {
	var rows []Row
	for _, n := range o.Lengths {
		if o.Progress != nil {
			o.Progress(n)
		}
		r, err := Request(m, n)
		if err != nil {
			return nil, fmt.Errorf("a request of %d tokens: %w", n, err)
		}
		row, err := measure(ctx, m, r, o)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// samples are the times of the runs of one length.
type samples struct{ total, prefill, head, cpu, peak []float64 }

func measure(ctx context.Context, m Subject, r *engine.Request, o Options) (Row, error) {
	warm, err := m.Decide(ctx, r)
	if err != nil {
		return Row{}, err
	}
	row := Row{Tokens: warm.Usage.InputTokens, Runs: max(1, o.Runs)}
	resetPeak()
	var s samples
	var work float64
	for range row.Runs {
		before, began := operations(o.Meter), processorSeconds()
		resp, err := m.Decide(ctx, r)
		if err != nil {
			return Row{}, err
		}
		work = operations(o.Meter) - before
		s.cpu = append(s.cpu, processorSeconds()-began)
		t := resp.Timing
		s.total = append(s.total, t.Total.Seconds())
		s.prefill, s.head = append(s.prefill, t.Prefill.Seconds()), append(s.head, t.Head.Seconds())
		row.PeakBytes = max(row.PeakBytes, t.PeakBytes)
		if o.Meter != nil {
			if peak := o.Meter.Peak(o.Precision, peakTime); peak > 0 {
				s.peak = append(s.peak, peak)
			}
		}
	}
	row.fill(s, work)
	if mapped := mappedBytes(); mapped > 0 {
		row.AboveWeights = max(0, row.PeakBytes-mapped)
	}
	return row, nil
}

func operations(m Meter) float64 {
	if m == nil {
		return 0
	}
	return m.Operations()
}

func (r *Row) fill(s samples, work float64) {
	r.Median, r.Min, r.Max = median(s.total), slices.Min(s.total), slices.Max(s.total)
	r.Prefill, r.Head, r.CPU = median(s.prefill), median(s.head), median(s.cpu)
	r.TokensPerSecond = float64(r.Tokens) / r.Median
	if len(s.peak) > 0 {
		r.Peak = median(s.peak) / 1e9
		r.Rate = work / r.Median / 1e9
		r.Share = r.Rate / r.Peak
	}
}

// median returns the middle of a list that is not empty, the mean of the two middle ones of an
// even number.
func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
