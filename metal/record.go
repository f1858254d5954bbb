package metal

import (
	"fmt"
	"sync/atomic"
	"time"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// inFlight is how many command buffers may be committed and not done: enough to
// keep the GPU busy, few enough to stop soon.
const inFlight = 3

// recorder collects dispatches into command buffers and remembers the run.
type recorder struct {
	list      []gpu.Dispatch
	seconds   float64 // predicted, of list
	phase     uint64  // counts barriers
	submitted uint64  // command buffers so far
	done      uint64  // of which are done
	pending   []gpu.Pending

	run        []step // the run so far, for a repetition
	repeatable bool
	half       bool // command buffers of half the length
	slab       []gpu.Argument
	total      Work
	predicted  float64 // seconds of all dispatches
	byOp       map[string]int
	gpu        time.Duration // that the device says it took
}

// step is something a run did: a dispatch, or work of the host between dispatches.
type step struct {
	kernel   kernels.Kernel
	dispatch gpu.Dispatch
	seconds  float64
	host     func()
}

// Work is the size of something that runs on a GPU.
type Work struct {
	Multiplies float64 `json:"multiply_adds"` // padding of tiles included
	Attention  float64 `json:"of_attention"`  // of which attention's, which reach less of a GPU
	OnTensor   float64 `json:"of_tensor"`     // of which tensor units make, in Passes multiply-adds of bfloat
	Passes     float64 `json:"tensor_multiply_adds"`
	Idle       float64 `json:"idle"`            // multiply-adds that cores could make while they have no threadgroup
	Lanes      float64 `json:"lane_operations"` // of single lanes that expand quantised weights
	Bytes      float64 `json:"bytes"`           // read and written
	Dispatches int     `json:"dispatches"`
}

func (r *recorder) start() {
	r.run, r.repeatable, r.half = r.run[:0], true, false
	r.total, r.byOp, r.predicted, r.gpu = Work{}, map[string]int{}, 0, 0
}

// operand is a block or a weight bound to a buffer index.
type operand struct {
	index  int
	block  *block // nil for weights and constants
	mem    gpu.Memory
	offset int
	write  bool
	both   bool // a write that reads too
}

// launch is a dispatch before it is recorded.
type launch struct {
	name   string // operation, for counts
	kernel kernels.Kernel
	params []byte
	args   []operand
	groups [3]uint32
	group  [3]uint32
	work   Work
	// product takes the place of the kernel; args are its three matrices then.
	product *gpu.Product
}

// record appends a dispatch and commits when enough is together.
func (b *Backend) record(l launch) {
	if b.stopped() {
		return
	}
	var p gpu.Pipeline
	if l.product == nil {
		var err error
		if p, err = b.pipeline(l.kernel); err != nil {
			b.fail(err)
			return
		}
		if threads := int(l.group[0] * l.group[1] * l.group[2]); threads > p.MaxThreads() {
			b.failf("%s needs %d threads, the GPU gives %d", l.name, threads, p.MaxThreads())
			return
		}
	}
	d := gpu.Dispatch{Name: l.name, Pipeline: p, Product: l.product, Args: b.bind(l), Groups: l.groups, Group: l.group}
	l.work.Dispatches = 1
	s := step{kernel: l.kernel, dispatch: d, seconds: b.chip.Seconds(l.work)}
	b.rec.run = append(b.rec.run, s)
	b.rec.total.add(l.work)
	b.rec.predicted += s.seconds
	b.rec.byOp[l.name]++
	b.makeRoom(s.seconds)
	b.enqueue(s.dispatch, s.seconds, b.note(l.args))
}

// part returns a fraction of the work.
func (w Work) part(f float64) Work {
	return Work{
		w.Multiplies * f, w.Attention * f, w.OnTensor * f, w.Passes * f, w.Idle * f, w.Lanes * f, w.Bytes * f, w.Dispatches,
	}
}

func (w *Work) add(o Work) {
	w.Multiplies += o.Multiplies
	w.Attention += o.Attention
	w.OnTensor += o.OnTensor
	w.Passes += o.Passes
	w.Idle += o.Idle
	w.Lanes += o.Lanes
	w.Bytes += o.Bytes
	w.Dispatches += o.Dispatches
}

// bind makes the argument list of a launch; lists come from slabs to spare the collector.
func (b *Backend) bind(l launch) []gpu.Argument {
	need := len(l.args) + 2
	if len(b.rec.slab) < need {
		b.rec.slab = make([]gpu.Argument, 2048)
	}
	args := b.rec.slab[:0:need]
	b.rec.slab = b.rec.slab[need:]
	if l.params != nil {
		args = append(args, gpu.Argument{Index: 0, Bytes: l.params})
	}
	for _, a := range l.args {
		m := a.mem
		if a.block != nil {
			m = a.block.mem
		}
		args = append(args, gpu.Argument{Index: a.index, Memory: m, Offset: a.offset, Write: a.write})
	}
	if usesStatus[l.kernel.Function] {
		args = append(args, gpu.Argument{Index: 30, Memory: b.status, Write: true})
	}
	return args
}

// usesStatus has the kernels that look for cancellation or report overflow.
var usesStatus = map[string]bool{"gemm": true, "gemm_direct": true, "gemm_tensor": true, "attention": true, "attention_prepare": true, "copy_rows": true}

// usesWork has the libraries that depend on what Work is.
var usesWork = map[string]bool{"attention": true, "prepare": true, "rows": true}

// note updates what is known about the blocks of a dispatch and reports whether it
// has to wait for the ones before it.
func (b *Backend) note(args []operand) (barrier bool) {
	for _, a := range args {
		x := a.block
		if x == nil {
			continue
		}
		if x.phase == b.rec.phase && (x.puts || a.write && x.reads) {
			barrier = true
		}
	}
	if barrier {
		b.rec.phase++
	}
	for _, a := range args {
		x := a.block
		if x == nil {
			continue
		}
		if x.phase != b.rec.phase {
			x.phase, x.reads, x.puts = b.rec.phase, false, false
		}
		x.reads, x.puts = x.reads || !a.write, x.puts || a.write
		x.submitted = b.rec.submitted + 1
		if a.both {
			b.pool.use(x, false)
		}
		if !b.pool.use(x, a.write) {
			b.rec.repeatable = false
		}
	}
	return barrier
}

// makeRoom commits what is recorded if the next dispatch would make it too long. It comes
// before note, which has to know the command buffer that the dispatch will be in.
func (b *Backend) makeRoom(seconds float64) {
	budget := b.budget
	if b.rec.half {
		budget /= 2
	}
	if len(b.rec.list) > 0 && b.rec.seconds+seconds > budget {
		b.flush()
	}
}

func (b *Backend) enqueue(d gpu.Dispatch, seconds float64, barrier bool) {
	d.Barrier = barrier && len(b.rec.list) > 0
	b.rec.list = append(b.rec.list, d)
	b.rec.seconds += seconds
}

// flush commits the recorded dispatches.
func (b *Backend) flush() {
	if len(b.rec.list) == 0 || b.err != nil {
		b.rec.list, b.rec.seconds = b.rec.list[:0], 0
		return
	}
	if err := b.drain(inFlight - 1); err != nil {
		b.fail(err)
		return
	}
	p, err := b.dev.Submit(b.rec.list)
	if err != nil {
		b.fail(fmt.Errorf("commit to the GPU: %w", err))
		return
	}
	b.rec.pending = append(b.rec.pending, p)
	b.rec.submitted++
	b.rec.phase++
	b.rec.list, b.rec.seconds = nil, 0
}

// drain waits until at most n command buffers are pending and returns the first failure.
func (b *Backend) drain(n int) (err error) {
	for len(b.rec.pending) > n {
		took, e := b.rec.pending[0].Wait()
		b.rec.gpu += took
		if e != nil && err == nil {
			err = fmt.Errorf("run on the GPU: %w", e)
		}
		b.rec.pending = b.rec.pending[1:]
		b.rec.done++
	}
	if len(b.rec.pending) == 0 && len(b.rec.list) == 0 {
		b.pool.trim()
	}
	return err
}

// repeat runs the steps of the run again, with today's element type and budget.
func (b *Backend) repeat() error {
	b.err = nil
	b.rec.list, b.rec.seconds = nil, 0
	atomic.StoreUint32(b.word(wordOverflow), 0)
	for _, s := range b.rec.run {
		if s.host != nil {
			b.flush()
			if err := b.drain(0); err != nil {
				return err
			}
			s.host()
			continue
		}
		if s.dispatch.Product == nil {
			s.kernel.Wide = b.wide && usesWork[s.kernel.Name]
			p, err := b.pipeline(s.kernel)
			if err != nil {
				return err
			}
			s.dispatch.Pipeline = p
		}
		b.makeRoom(s.seconds)
		b.enqueue(s.dispatch, s.seconds, true)
		if b.stopped() {
			break
		}
	}
	b.flush()
	if err := b.drain(0); err != nil {
		return err
	}
	return b.err
}

// pipeline returns a compiled kernel.
func (b *Backend) pipeline(k kernels.Kernel) (gpu.Pipeline, error) {
	if p := b.pipelines[k]; p != nil {
		return p, nil
	}
	p, err := b.dev.Pipeline(k)
	if err != nil {
		return nil, fmt.Errorf("compile kernel %s of %s: %w", k.Function, k.Name, err)
	}
	b.pipelines[k] = p
	return p, nil
}

// kernel names a kernel with its function constants.
func (b *Backend) kernel(l kernels.Library, function string, constants ...uint32) kernels.Kernel {
	l.Wide = b.wide && usesWork[l.Name]
	k := kernels.Kernel{Library: l, Function: function, Count: len(constants)}
	copy(k.Constants[:], constants)
	return k
}

// flag is a boolean function constant.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
