package metal

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/metal/mtl"
)

// maxThreadgroupMemory is what the kernels may use on every supported GPU.
const maxThreadgroupMemory = 32 << 10

// device is a Mac's GPU behind gpu.Device. Everything that reaches Metal runs on one thread.
type device struct {
	thread    *thread
	mtl       mtl.Device
	queue     mtl.CommandQueue
	resident  mtl.ResidencySet
	changed   bool // allocations since the set was committed
	info      gpu.Info
	libraries map[kernels.Library]mtl.Library
	pipelines map[kernels.Kernel]*pipeline
}

// OpenDevice opens the Mac's GPU. It needs macOS 14 and a GPU of the M1's family or later.
func OpenDevice() (gpu.Device, error) {
	d := &device{thread: newThread(), libraries: map[kernels.Library]mtl.Library{}, pipelines: map[kernels.Kernel]*pipeline{}}
	var err error
	d.thread.do(func() { err = d.open() })
	if err != nil {
		d.thread.stop()
		return nil, err
	}
	return d, nil
}

func (d *device) open() (err error) {
	version, _ := unix.Sysctl("kern.osproductversion") // "" counts as too old
	var major int
	if _, err := fmt.Sscanf(version, "%d", &major); err != nil || major < mtl.Oldest {
		return fmt.Errorf("the GPU needs macOS %d or later, this is %q", mtl.Oldest, version)
	}
	if d.mtl, err = mtl.SystemDefaultDevice(); err != nil {
		return err
	}
	mtl.Pool(func() { err = d.describe() })
	if err != nil {
		d.mtl.Release()
	}
	return err
}

func (d *device) describe() (err error) {
	family := gpu.Family(0)
	for f := mtl.GPUFamilyApple10; f >= mtl.GPUFamilyApple7; f-- {
		if d.mtl.SupportsFamily(f) {
			family = gpu.Family(f - mtl.GPUFamilyApple7 + int(gpu.Apple7))
			break
		}
	}
	if family == 0 {
		return fmt.Errorf("%s has no matrix units that the kernels know (an M1 or later is needed)", d.mtl.Name())
	}
	if m := d.mtl.MaxThreadgroupMemoryLength(); m < maxThreadgroupMemory {
		return fmt.Errorf("%s has %d bytes of threadgroup memory, %d are needed", d.mtl.Name(), m, maxThreadgroupMemory)
	}
	build, _ := unix.Sysctl("kern.osversion") // "" if the system does not tell
	d.info = gpu.Info{
		Name: d.mtl.Name(), Architecture: d.mtl.Architecture(), Family: family, OS: build,
		WorkingSet: int64(d.mtl.RecommendedMaxWorkingSetSize()), MaxBuffer: int64(d.mtl.MaxBufferLength()),
	}
	if d.queue, err = d.mtl.NewCommandQueue(); err != nil {
		return err
	}
	d.resident = d.mtl.NewResidencySet(4096)
	d.queue.AddResidencySet(d.resident)
	return nil
}

// Info describes the GPU.
func (d *device) Info() gpu.Info { return d.info }

// shared is a buffer that both sides see.
type shared struct {
	d     *device
	mtl   mtl.Buffer
	bytes []byte
}

func (m *shared) Bytes() []byte { return m.bytes }

func (m *shared) Release() {
	m.d.thread.do(func() {
		m.d.resident.Remove(m.mtl)
		m.d.changed = true
		m.mtl.Release()
	})
	m.bytes = nil
}

// Alloc returns zeroed memory.
func (d *device) Alloc(bytes int) (gpu.Memory, error) {
	if d.info.MaxBuffer > 0 && int64(bytes) > d.info.MaxBuffer {
		return nil, fmt.Errorf("%w: %d bytes in one piece, the GPU takes %d", gpu.ErrMemory, bytes, d.info.MaxBuffer)
	}
	m := &shared{d: d}
	ok := false
	d.thread.do(func() {
		mtl.Pool(func() {
			if m.mtl, ok = d.mtl.NewBuffer(bytes, mtl.ResourceStorageShared); ok {
				m.bytes = m.mtl.Contents(bytes)
				d.keep(m)
			}
		})
	})
	if !ok {
		return nil, fmt.Errorf("%w: %d bytes", gpu.ErrMemory, bytes)
	}
	return m, nil
}

func (d *device) keep(m *shared) {
	d.resident.Add(m.mtl)
	d.changed = true
}

// Wrap makes mapped memory usable in place: the pages around b become a buffer.
func (d *device) Wrap(b []byte) (gpu.Memory, int, error) {
	page := uintptr(unix.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	offset := start % page
	length := (int(offset) + len(b) + int(page) - 1) / int(page) * int(page)
	if len(b) == 0 || d.info.MaxBuffer > 0 && int64(length) > d.info.MaxBuffer {
		return nil, 0, gpu.ErrNotAligned
	}
	m := &shared{d: d, bytes: b}
	ok := false
	d.thread.do(func() {
		mtl.Pool(func() {
			first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), -int(offset))
			if m.mtl, ok = d.mtl.NewBufferNoCopy(first, length, mtl.ResourceStorageShared|mtl.ResourceUntracked); ok {
				d.keep(m)
			}
		})
	})
	runtime.KeepAlive(b)
	if !ok {
		return nil, 0, gpu.ErrNotAligned
	}
	return m, int(offset), nil
}

// pipeline is a compiled kernel.
type pipeline struct {
	mtl     mtl.Pipeline
	threads int
}

func (p *pipeline) MaxThreads() int { return p.threads }

// Pipeline compiles a kernel's library and the kernel on first use.
func (d *device) Pipeline(k kernels.Kernel) (p gpu.Pipeline, err error) {
	d.thread.do(func() { mtl.Pool(func() { p, err = d.compile(k) }) })
	return p, err
}

func (d *device) compile(k kernels.Kernel) (gpu.Pipeline, error) {
	if p := d.pipelines[k]; p != nil {
		return p, nil
	}
	library, ok := d.libraries[k.Library]
	if !ok {
		var err error
		if library, err = d.mtl.NewLibrary(k.Text(), k.Fast()); err != nil {
			return nil, err
		}
		d.libraries[k.Library] = library
	}
	constants := make([]mtl.Constant, k.Count)
	for i, bools := 0, k.Bools(); i < k.Count; i++ {
		constants[i] = mtl.Constant{Value: k.Constants[i], Bool: bools[i]}
	}
	compiled, err := d.mtl.NewPipeline(library, k.Function, constants)
	if err != nil {
		return nil, err
	}
	p := &pipeline{compiled, compiled.MaxThreads()}
	if w := compiled.Width(); w != 32 {
		return nil, fmt.Errorf("simdgroups have %d threads, the kernels are written for 32", w)
	}
	if n := compiled.ThreadgroupMemory(); n > maxThreadgroupMemory {
		return nil, fmt.Errorf("%s declares %d bytes of threadgroup memory", k.Function, n)
	}
	d.pipelines[k] = p
	return p, nil
}

// pending is a committed command buffer.
type pending struct {
	d      *device
	buffer mtl.CommandBuffer
}

// Submit encodes a list into one command buffer and commits it.
func (d *device) Submit(list []gpu.Dispatch) (gpu.Pending, error) {
	p := &pending{d: d}
	ok := false
	d.thread.do(func() { mtl.Pool(func() { ok = d.encode(p, list) }) })
	if !ok {
		return nil, errors.New("Metal gives no command buffer")
	}
	return p, nil
}

func (d *device) encode(p *pending, list []gpu.Dispatch) (ok bool) {
	if d.changed {
		d.resident.Commit()
		d.changed = false
	}
	if p.buffer, ok = d.queue.CommandBuffer(); !ok {
		return false
	}
	e, ok := p.buffer.ComputeEncoder()
	if !ok {
		return false
	}
	var current gpu.Pipeline
	for i := range list {
		x := &list[i]
		if x.Barrier {
			e.MemoryBarrier()
		}
		if x.Pipeline != current {
			current = x.Pipeline
			e.SetPipeline(x.Pipeline.(*pipeline).mtl)
		}
		for _, a := range x.Args {
			if a.Memory == nil {
				e.SetBytes(a.Bytes, a.Index)
			} else {
				e.SetBuffer(a.Memory.(*shared).mtl, a.Offset, a.Index)
			}
		}
		e.Dispatch(size(x.Groups), size(x.Group))
	}
	e.End()
	p.buffer.Commit()
	return true
}

func size(v [3]uint32) mtl.Size {
	return mtl.Size{Width: uint64(v[0]), Height: uint64(v[1]), Depth: uint64(v[2])}
}

// Wait waits for the GPU and returns its failure, with the time it took.
func (p *pending) Wait() (took time.Duration, err error) {
	p.d.thread.do(func() {
		mtl.Pool(func() {
			p.buffer.WaitUntilCompleted()
			took = time.Duration(p.buffer.GPUSeconds() * float64(time.Second))
			if e := p.buffer.Failure(); e != nil {
				err = kind(e)
			}
			p.buffer.Release()
		})
	})
	return took, err
}

// kind sorts a failure of the GPU by what helps. The system takes the GPU away when
// the work of one command buffer is too long, or in the way of the screen.
func kind(e *mtl.Error) error {
	switch {
	case e.Code == mtl.ErrorTimeout || strings.Contains(e.Description, "Interactivity") || strings.Contains(e.Description, "Timeout"):
		return fmt.Errorf("%w: %w", gpu.ErrTimeout, e)
	case e.Code == mtl.ErrorOutOfMemory:
		return fmt.Errorf("%w: %w", gpu.ErrMemory, e)
	}
	return e
}

// Close gives everything back. No work may be pending.
func (d *device) Close() error {
	d.thread.do(func() {
		mtl.Pool(func() {
			for _, p := range d.pipelines {
				p.mtl.Release()
			}
			for _, l := range d.libraries {
				l.Release()
			}
			d.resident.Release()
			d.queue.Release()
			d.mtl.Release()
		})
	})
	d.thread.stop()
	return nil
}

func systemVersion() string { return mtl.OSVersion() }

// hot says that the Mac slows down because it is warm: timings would mean nothing.
func hot() bool { return mtl.Hot() }
