// Package metal is the GPU backend: it implements backend.Backend by recording
// dispatches and committing them to a device in buffers of bounded length.
// docs/metal.md explains the design.
//
// Two devices exist: a Mac's GPU (Open) and the emulator of metal/emu, which runs
// the same kernels on Linux in tests. The backend sees both through metal/gpu.
package metal

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// Options tune a backend. The zero value is right for use.
type Options struct {
	Budget float64 // predicted seconds of a command buffer; 0: 0.1
	Table  *Table  // how products are computed; nil: the shipped choices for the GPU
}

// defaultBudget keeps a command buffer so short that the system does not think the
// GPU hangs and that a cancelled decision stops in 0.3 s (metal.md 3.8).
const defaultBudget = 0.1

// Words of the status memory, as in prelude.metal.
const (
	wordOverflow = iota
	wordCancel
	statusWords
)

// Backend runs the operations of package backend on a GPU. It belongs to one goroutine.
type Backend struct {
	dev     gpu.Device
	chip    Chip
	table   *Table
	budget  float64
	wide    bool // Work is bfloat: a run has left the range of half
	dry     bool // nothing runs: memory is not touched
	unmixed bool // matrix products need operands of one type
	// noTensor says why tensor units are not used, nil while they may be.
	noTensor error
	noSystem bool // the system has failed to make a product
	noDirect bool // products from device memory do not compile
	status   gpu.Memory

	pool      pool
	rec       recorder
	weights   []gpu.Memory
	arena     arena
	weightLen int64
	// operations are those of all matrix products so far.
	operations float64
	pipelines  map[kernels.Kernel]gpu.Pipeline
	held       *convolution // recorded with the gates that follow it

	ctx  context.Context
	stop func() bool
	err  error

	closing sync.Mutex // between cancel and the other methods
	current int        // run that may be cancelled, -1 once closed
}

var (
	_ backend.Backend = (*Backend)(nil)
	_ backend.Rotator = (*Backend)(nil)
)

// New returns a backend that owns dev.
func New(dev gpu.Device, o Options) (*Backend, error) {
	status, err := dev.Alloc(statusWords * 4)
	if err != nil {
		return nil, fmt.Errorf("start the Metal backend: %w", err)
	}
	b := &Backend{
		dev: dev, chip: ChipOf(dev.Info()), table: o.Table, budget: o.Budget, status: status,
		pipelines: map[kernels.Kernel]gpu.Pipeline{}, ctx: context.Background(),
	}
	if b.budget == 0 {
		b.budget = defaultBudget
	}
	b.pool = pool{dev: dev, free: map[int][]*block{}, live: map[*root]bool{}}
	b.arena = arena{dev: dev}
	if err := LaneTest(dev); err != nil {
		status.Release()
		return nil, err
	}
	if b.table == nil {
		b.table = Shipped()
		if dev.Info().Tensor {
			tensor := ShippedTensor()
			if b.noTensor = compareRules(context.Background(), dev, tensor.Rules); b.noTensor == nil {
				b.table = tensor
			}
		}
	}
	return b, nil
}

// Info describes the device.
func (b *Backend) Info() backend.Info {
	info := backend.Info{Device: "Metal", Detail: b.dev.Info().Name, Precision: "f16"}
	if b.onTensor() {
		info.Detail += ", tensor units"
	}
	if b.wide {
		info.Precision = "bf16"
	}
	return info
}

// blockRows is how many tokens pass through a layer at a time: enough to fill a GPU,
// few enough that a product stays far below the length of a command buffer and that
// activations of the 27B model take 0.3 GB.
const blockRows = 1024

// BlockRows tells the backbone how many tokens to pass through a layer at a time.
func (b *Backend) BlockRows() int { return blockRows }

// WeightBytes is the memory of the weights that Load has taken in, copies and mapped ones.
func (b *Backend) WeightBytes() int64 { return b.weightLen }

// Begin starts a run under ctx and clears an earlier failure.
func (b *Backend) Begin(ctx context.Context) {
	if b.stop != nil {
		_ = b.Sync() // what the run before left behind
		b.stop()
	}
	b.ctx, b.err = ctx, nil
	b.rec.start()
	b.pool.endRun()
	b.pool.run++
	run := b.pool.run
	b.closing.Lock()
	b.current = run
	atomic.StoreUint32(b.word(wordCancel), 0)
	b.closing.Unlock()
	atomic.StoreUint32(b.word(wordOverflow), 0)
	b.stop = context.AfterFunc(ctx, func() { b.cancel(run) })
}

// cancel tells kernels that run, or are committed, to leave, unless the run it is
// meant for is over. It is called from any goroutine.
func (b *Backend) cancel(run int) {
	b.closing.Lock()
	defer b.closing.Unlock()
	if b.current == run {
		atomic.StoreUint32(b.word(wordCancel), 1)
	}
}

// word is a word of the status memory, which the GPU and an ending context change at any time.
func (b *Backend) word(i int) *uint32 {
	return (*uint32)(unsafe.Pointer(&b.status.Bytes()[4*i]))
}

// Sync waits for the run and returns its first failure. Work that the system took
// away is tried once more in shorter command buffers, and a run that left the range
// of half once more with bfloat. If the run has overwritten what it started from,
// the caller has to run it again: the error wraps backend.ErrAgain.
func (b *Backend) Sync() error {
	err := b.finish()
	if errors.Is(err, gpu.ErrTimeout) && b.ctx.Err() == nil {
		b.rec.half = true
		if !b.rec.repeatable {
			b.budget /= 2
			err = fmt.Errorf("%w: %w", backend.ErrAgain, err)
		} else {
			err = b.repeat()
		}
	}
	if errors.Is(err, gpu.ErrProduct) {
		b.noSystem = true // our own kernels from now on
		err = fmt.Errorf("%w: %w", backend.ErrAgain, err)
	}
	if err == nil && atomic.LoadUint32(b.word(wordOverflow)) != 0 {
		err = b.widen()
	}
	if b.ctx.Err() != nil {
		err = fmt.Errorf("run on the GPU: %w", b.ctx.Err())
	}
	if errors.Is(err, gpu.ErrMemory) {
		err = fmt.Errorf("%w: %w", backend.ErrMemory, err)
	}
	b.err = err
	return err
}

// finish commits what is recorded, waits, and returns the first failure.
func (b *Backend) finish() error {
	b.settle()
	b.flush()
	if err := b.drain(0); b.err == nil {
		b.err = err
	}
	return b.err
}

var errDamaged = errors.New("run on the GPU: activations are not finite; the model's weights may be damaged")

// widen switches to bfloat for good and repeats the run.
func (b *Backend) widen() error {
	if b.wide {
		return errDamaged
	}
	b.wide = true
	b.pool.reformat()
	if !b.rec.repeatable {
		return fmt.Errorf("run on the GPU: activations left the range of half, bfloat is used from now on: %w", backend.ErrAgain)
	}
	if err := b.repeat(); err != nil {
		return err
	}
	if atomic.LoadUint32(b.word(wordOverflow)) != 0 {
		return errDamaged
	}
	return nil
}

// stopped says that operations have nothing to do because the run has failed or ended.
func (b *Backend) stopped() bool {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	return b.err != nil
}

// fail makes the rest of the run do nothing.
func (b *Backend) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// failf is fail with a message.
func (b *Backend) failf(format string, args ...any) {
	b.fail(fmt.Errorf("run on the GPU: "+format, args...))
}

// ready is asked first by every operation: it completes a held convolution and
// says whether the operation should run.
func (b *Backend) ready() bool {
	b.settle()
	return !b.stopped()
}

// Close waits for the device and gives everything back.
func (b *Backend) Close() error {
	_ = b.finish() // a failure has been reported by Sync
	if b.stop != nil {
		b.stop()
	}
	b.closing.Lock()
	b.current = -1
	b.closing.Unlock()
	b.pool.close()
	b.arena.close()
	for _, m := range b.weights {
		m.Release()
	}
	b.status.Release()
	if err := b.dev.Close(); err != nil {
		return fmt.Errorf("close the GPU: %w", err)
	}
	return nil
}

// floatBits returns a float as kernels take it in structs.
func floatBits(f float32) uint32 { return math.Float32bits(f) }
