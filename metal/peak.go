package metal

import (
	"fmt"
	"time"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/metal/number"
)

// Operations counts the multiplications and additions of matrix products so far, without
// the padding of tiles.
func (b *Backend) Operations() float64 { return b.operations }

// Peak measures the operations a second that simdgroups reach with fragments in registers,
// for about that long. It returns 0 where nothing can be said: on an emulated GPU, for
// products on tensor units, and if the GPU fails.
func (b *Backend) Peak(_ string, about time.Duration) float64 {
	if b.dev.Info().Emulated || b.onTensor() {
		return 0
	}
	_ = b.finish() // a failure has been reported by Sync
	const first = 256
	took, err := runPeak(b.dev, first)
	if err != nil || took <= 0 {
		return 0
	}
	// One launch stays below what the system lets a launch take.
	rounds := max(first, int(first*min(about, peakLongest).Seconds()/took.Seconds()))
	if took, err = runPeak(b.dev, rounds); err != nil || took <= 0 {
		return 0
	}
	return peakOperations(rounds) / took.Seconds()
}

// The launch that measures the peak.
const (
	peakGroups    = 2048
	peakThreads   = 128
	peakFragments = 16 // multiplied in a round
	peakLongest   = 50 * time.Millisecond
)

// peakOperations is what a launch multiplies and adds.
func peakOperations(rounds int) float64 {
	return 2 * 8 * 8 * 8 * peakFragments * float64(rounds) * peakGroups * peakThreads / 32
}

// runPeak runs the launch, checks one of its numbers, and says how long the GPU took.
func runPeak(dev gpu.Device, rounds int) (time.Duration, error) {
	p, err := dev.Pipeline(kernels.Kernel{Library: kernels.Library{Name: "peak"}, Function: "peak"})
	if err != nil {
		return 0, fmt.Errorf("compile the measurement of the peak: %w", err)
	}
	in, err := dev.Alloc(2 * 64 * 4)
	if err != nil {
		return 0, fmt.Errorf("measure the peak: %w", err)
	}
	defer in.Release()
	out, err := dev.Alloc(peakGroups * peakThreads * 4)
	if err != nil {
		return 0, fmt.Errorf("measure the peak: %w", err)
	}
	defer out.Release()
	const left, right = 0.5, 0.25
	values := make([]float32, 2*64)
	for i := range values {
		values[i] = left
		if i >= 64 {
			values[i] = right
		}
	}
	number.PutFloats(in.Bytes(), values)
	work, err := dev.Submit([]gpu.Dispatch{{
		Name: "peak", Pipeline: p, Groups: [3]uint32{peakGroups, 1, 1}, Group: [3]uint32{peakThreads, 1, 1},
		Args: []gpu.Argument{{Index: 0, Bytes: words(uint32(rounds))}, {Index: 1, Memory: in}, {Index: 2, Memory: out, Write: true}},
	}})
	if err != nil {
		return 0, fmt.Errorf("measure the peak: %w", err)
	}
	took, err := work.Wait()
	if err != nil {
		return 0, fmt.Errorf("measure the peak: %w", err)
	}
	got := make([]float32, 1)
	number.GetFloats(got, out.Bytes()[4*(peakGroups*peakThreads-1):])
	if want := float32(2 * peakFragments * 8 * left * right * float64(rounds)); got[0] != want {
		return 0, fmt.Errorf("measure the peak: got %v, want %v", got[0], want)
	}
	return took, nil
}
