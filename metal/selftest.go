package metal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/metal/gpu"
)

// Check is one thing that the self-test looked at.
type Check struct {
	Name   string
	OK     bool
	Detail string
}

// Report is what the self-test of a GPU found. Its String can be pasted into a bug report.
type Report struct {
	Device  gpu.Info
	System  string
	Checks  []Check
	Timings []Timing
}

// OK reports whether every check passed.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if !c.OK {
			return false
		}
	}
	return true
}

// String returns the report as plain text.
func (r Report) String() string {
	var b strings.Builder
	d := r.Device
	cores := "unknown number of"
	if d.Cores > 0 {
		cores = strconv.Itoa(d.Cores)
	}
	fmt.Fprintf(&b, "GPU        %s (%s, Apple%d), %s cores\n", d.Name, d.Architecture, d.Family, cores)
	fmt.Fprintf(&b, "system     %s, build %s\n", r.System, d.OS)
	fmt.Fprintf(&b, "memory     %.1f GB may be resident, %.1f GB in one buffer\n", float64(d.WorkingSet)/1e9, float64(d.MaxBuffer)/1e9)
	passed := 0
	for _, c := range r.Checks {
		word := "FAILED"
		if c.OK {
			word = "ok"
			passed++
		}
		fmt.Fprintf(&b, "%-26s %-7s %s\n", c.Name, word, c.Detail)
	}
	for _, t := range r.Timings {
		b.WriteString(t.line())
	}
	fmt.Fprintf(&b, "%d passed, %d failed\n", passed, len(r.Checks)-passed)
	return b.String()
}

// line writes a timing, or why a candidate is not used.
func (t Timing) line() string {
	kind := map[bool]string{false: "4-bit", true: "bf16"}[t.Dense]
	size := fmt.Sprintf("%4d x %5d x %5d %-5s  %-22s", t.Rows, t.Depth, t.Outputs, kind, t.Rule)
	if t.Wrong != "" {
		first, _, _ := strings.Cut(t.Wrong, "\n")
		return size + " not used: " + first + "\n"
	}
	rate := float64(t.Rows) * float64(t.Depth) * float64(t.Outputs) * 2 / t.Took.Seconds() / 1e12
	return fmt.Sprintf("%s %9s  %5.2f TFLOP/s\n", size, t.Took.Round(time.Microsecond), rate)
}

// SelfTest compares a GPU with the scalar oracle: the arrangement of matrix fragments
// and every operation, on the scenarios of our own tests. Checks that cannot run
// because an earlier one failed count as failed.
func SelfTest(ctx context.Context, dev gpu.Device) Report {
	r := Report{Device: dev.Info()}
	say := func(name string, err error, detail string) {
		c := Check{name, err == nil, detail}
		if err != nil {
			c.Detail = err.Error()
		}
		r.Checks = append(r.Checks, c)
	}
	say("matrix fragments", LaneTest(dev), "two elements in each lane, as expected")
	b, err := New(keepOpen{dev}, Options{})
	if err != nil {
		say("start", err, "")
		return r
	}
	defer b.Close() //nolint:errcheck // the device stays open
	for _, c := range scenarios() {
		if ctx.Err() != nil {
			say(c.name, ctx.Err(), "")
			return r
		}
		detail, err := c.prove(b)
		say(c.name, err, detail)
	}
	proveUnits(ctx, dev, say)
	delay, err := b.launchDelay()
	say("dependent launches", err, fmt.Sprintf("%.1f µs each", delay.Seconds()*1e6))
	say("operands of two types", nil, map[bool]string{false: "multiplied", true: "refused by this compiler, float is used"}[b.unmixed])
	return r
}

// proveUnits runs the products on the other units that the device has. A unit that fails
// is not used and does not fail the report: simdgroups do what it would have done.
func proveUnits(ctx context.Context, dev gpu.Device, say func(name string, err error, detail string)) {
	note := func(name string, err error) {
		detail := "not used: "
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			detail += first
		} else {
			detail = "same results as simdgroups"
		}
		say(name, nil, detail)
	}
	note("tensor units", TensorTest(ctx, dev))
	note("the system's products", systemTest(ctx, dev))
}

// prove runs a scenario twice: within its bound of the oracle, and with the same bits.
func (c scenario) prove(b *Backend) (detail string, err error) {
	want, err := c.attempt(scalar.New())
	if err != nil {
		return "", err
	}
	got, err := c.attempt(b)
	if err != nil {
		return "", err
	}
	again, err := c.attempt(b)
	if err != nil {
		return "", err
	}
	d := differ(got, want)
	switch {
	case d > c.within:
		return "", fmt.Errorf("differs from the oracle by %.1e, at most %.0e is right", d, c.within)
	case !sameBits(got, again):
		return "", errors.New("two runs give different bits")
	}
	return fmt.Sprintf("within %.1e of the oracle", d), nil
}

// launchDelay measures the time between dispatches that wait for each other.
func (b *Backend) launchDelay() (time.Duration, error) {
	const launches = 200
	b.Begin(context.Background())
	x, y := b.New(1, 4, backend.Exact), b.New(1, 4, backend.Exact)
	defer b.Free(x, y)
	b.Write(y, make([]float32, 4))
	for range launches {
		b.Add(x, y)
	}
	if err := b.Sync(); err != nil {
		return 0, err
	}
	return b.rec.gpu / launches, nil
}

// Open opens this Mac's GPU as a backend, with the tile table that was tuned on it, if any.
func Open() (*Backend, error) {
	dev, err := OpenDevice()
	if err != nil {
		return nil, err
	}
	b, err := New(dev, Options{Table: SavedTable(dev.Info())})
	if err != nil {
		_ = dev.Close() // the first error is the one to tell
		return nil, err
	}
	return b, nil
}

// Doctor tests a GPU, times the tiles on sizes, keeps the best table for later starts
// and writes the report. Nothing is timed if a check fails or the Mac is hot. It
// returns an error if the GPU cannot be used.
func Doctor(ctx context.Context, w io.Writer, dev gpu.Device, sizes []TuneSize) error {
	r := SelfTest(ctx, dev)
	r.System = systemVersion()
	if r.OK() && len(sizes) > 0 {
		table, timings, err := Tune(ctx, dev, sizes)
		if errors.Is(err, errHot) {
			r.Checks = append(r.Checks, Check{"tuning", true, "not done: " + err.Error()})
		} else if err != nil {
			return err
		} else if err := SaveTable(dev.Info(), table); err != nil {
			return err
		}
		r.Timings = timings
	}
	if _, err := io.WriteString(w, r.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if !r.OK() {
		return errors.New("the GPU failed its self-test")
	}
	return nil
}
