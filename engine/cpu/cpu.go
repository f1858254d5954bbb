// Package cpu is the backend that computes on the processor: products over weights
// in their stored form, expanded a panel at a time, and a fixed pool of workers that
// sleeps when there is nothing to do.
//
// Kernels are C with vector intrinsics, compiled once per instruction set and chosen
// at run time; without cgo, or on a processor that none of them fits, plain Go does the
// same work slowly. The environment variable CLEFBAR_CPU forces a path: go, avx2, avx512,
// avx512vnni, avx512bf16, neon, neondot, neonbf16 or, on Apple silicon, accelerate.
package cpu

import (
	"context"
	"fmt"
	"runtime"

	"clefbar/engine"
	"clefbar/engine/backend"
)

// The precisions, as Options and Info name them.
const (
	Auto = "auto" // BF16 where the processor multiplies it in hardware, else F32; never Int8, which drifts more
	F32  = "f32"  // float32 throughout: the path of the golden tests
	BF16 = "bf16" // products of bfloat16, float32 sums; everything else float32
	Int8 = "int8" // products of bytes with quantised weights; BF16 for the others and in the delta rule
)

// Options chooses how the backend computes. The zero value is right for most.
type Options struct {
	Precision string // "" means Auto
	Threads   int    // 0 means one per processor
}

// CPU implements [backend.Backend]. The first failure of a run makes the rest of it do
// nothing. Buffers given to it must come from the same CPU.
type CPU struct {
	path      path
	precision string
	pool      *pool
	mem       *memory
	scratch   []block // one per worker, grown on demand
	rows      operand
	pins      runtime.Pinner
	ctx       context.Context
	err       error
	closed    bool

	operations float64 // of products, since New
}

var (
	_ backend.Backend  = (*CPU)(nil)
	_ backend.Absorber = (*CPU)(nil)
)

// New starts the workers. It fails with [engine.BadUsage] when the precision or the path that
// CLEFBAR_CPU names is unknown or not to be had on this machine.
func New(o Options) (backend.Backend, error) {
	p, err := choosePath()
	if err != nil {
		return nil, err
	}
	precision, err := resolvePrecision(o.Precision, p)
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads <= 0 {
		threads = processors
	}
	return &CPU{
		path: p, precision: precision, pool: newPool(threads), mem: newMemory(),
		scratch: make([]block, threads), ctx: context.Background(),
	}, nil
}

func resolvePrecision(name string, p path) (string, error) {
	switch name {
	case "", Auto:
		if p.shape().dotBF16 {
			return BF16, nil
		}
		return F32, nil
	case F32, BF16, Int8:
		return name, nil
	}
	return "", &engine.Error{
		Reason:  engine.BadUsage,
		Message: fmt.Sprintf("precision %q is unknown: use auto, f32, bf16 or int8", name),
	}
}

// Info names the instruction set, the threads and the precision.
func (c *CPU) Info() backend.Info {
	return backend.Info{
		Device:    "CPU",
		Detail:    fmt.Sprintf("%s, %s", c.path.name(), plural(c.pool.size, "thread")),
		Precision: c.precision,
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Begin starts a run. Ending ctx stops it after the pieces of work in hand, a few
// milliseconds each.
func (c *CPU) Begin(ctx context.Context) {
	c.ctx, c.err = ctx, nil
}

// Sync returns the first failure of the run and gives spare memory back to the system.
func (c *CPU) Sync() error {
	c.rows.release(c)
	c.mem.trim(keepSpare)
	return c.err
}

// Close stops the workers and frees all memory. Buffers and weights are invalid afterwards.
func (c *CPU) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.pool.close()
	c.mem.close()
	c.pins.Unpin()
	return nil
}

// fail keeps the first failure.
func (c *CPU) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// stopped reports whether the rest of the run is to do nothing.
func (c *CPU) stopped() bool {
	if c.err == nil && c.ctx.Err() != nil {
		c.err = fmt.Errorf("the decision was stopped: %w", context.Cause(c.ctx))
	}
	return c.err != nil
}

// parallel runs fn for every task in [0, n) on the pool. worker identifies the
// worker's scratch memory.
func (c *CPU) parallel(n int, fn func(worker, task int)) {
	if !c.stopped() && n > 0 && !c.pool.run(c.ctx, n, fn) {
		c.stopped()
	}
}

// inlineWork is the time below which waking another worker costs more than it saves.
const inlineWork = 20_000 // nanoseconds

// overRows splits rows into pieces for the pool. nanos estimates the time of one row on one
// thread.
func (c *CPU) overRows(rows int, nanos float64, fn func(from, to int)) {
	if rows == 0 || c.stopped() {
		return
	}
	pieces := min(int(float64(rows)*nanos/inlineWork)+1, 8*c.pool.size, rows)
	if pieces == 1 {
		fn(0, rows)
		return
	}
	c.parallel(pieces, func(_, i int) { fn(rows*i/pieces, rows*(i+1)/pieces) })
}

// scratchFor returns at least n bytes of the worker's own memory. Call grow first, outside
// of the workers.
func (c *CPU) scratchFor(worker int) []byte { return c.scratch[worker].bytes() }

// get takes a block, or fails the run and returns nil.
func (c *CPU) get(n int) block {
	b, err := c.mem.get(n)
	if err != nil {
		c.fail(err)
	}
	return b
}

// grow makes every worker's scratch memory at least n bytes.
func (c *CPU) grow(n int) {
	for i := range c.scratch {
		if c.scratch[i].size() < n {
			c.mem.put(c.scratch[i])
			c.scratch[i] = c.get(n)
		}
	}
}
