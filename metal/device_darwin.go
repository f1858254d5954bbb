package metal

import (
	"fmt"
	"runtime"
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
	kept      int64 // bytes in the set
	changed   bool  // allocations since the set was committed
	pulse     *pulse
	info      gpu.Info
	store     archive
	archive   mtl.Archive
	fresh     bool // kernels in the archive that are not in the file
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
	d.pulse = &pulse{
		beat: func() { d.thread.do(func() { mtl.Pool(d.resident.Request) }) },
		cold: func() { d.thread.do(func() { mtl.Pool(d.keepKernels) }) },
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
	mtl.Pool(func() { err = d.describe(version) })
	if err != nil {
		d.mtl.Release()
	}
	return err
}

func (d *device) describe(version string) (err error) {
	family, number := gpu.Family(0), 0
	for f := mtl.GPUFamilyApple10; f >= mtl.GPUFamilyApple7; f-- {
		if d.mtl.SupportsFamily(f) {
			family, number = gpu.Family(f-mtl.GPUFamilyApple7+int(gpu.Apple7)), f
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
		Cores: mtl.GPUCores(), Tensor: mtl.TensorOps(number, version), Products: d.mtl.MultipliesMatrices(),
	}
	if d.queue, err = d.mtl.NewCommandQueue(); err != nil {
		return err
	}
	d.resident = d.mtl.NewResidencySet(4096)
	d.queue.AddResidencySet(d.resident)
	d.openArchive()
	return nil
}

// Info describes the GPU.
func (d *device) Info() gpu.Info { return d.info }

// shared is a buffer that both sides see.
type shared struct {
	d        *device
	mtl      mtl.Buffer
	bytes    []byte
	resident int64 // of which in the residency set
}

func (m *shared) Bytes() []byte { return m.bytes }

func (m *shared) Release() {
	m.d.thread.do(func() {
		if m.resident > 0 {
			m.d.resident.Remove(m.mtl)
			m.d.kept -= m.resident
			m.d.changed = true
		}
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
				d.keep(m, bytes)
			}
		})
	})
	if !ok {
		return nil, fmt.Errorf("%w: %d bytes", gpu.ErrMemory, bytes)
	}
	return m, nil
}

// keep puts memory into the residency set, as long as the set is not more than the system
// recommends: a Mac whose memory is all wired freezes.
func (d *device) keep(m *shared, bytes int) {
	if d.info.WorkingSet > 0 && d.kept+int64(bytes) > d.info.WorkingSet {
		return
	}
	m.resident = int64(bytes)
	d.kept += m.resident
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
				d.keep(m, length)
			}
		})
	})
	runtime.KeepAlive(b)
	if !ok {
		return nil, 0, gpu.ErrNotAligned
	}
	return m, int(offset), nil
}

// settleBytes is the memory of the last work, see CommandQueue.Settle.
const settleBytes = 16

// Close gives everything back. No work may be pending.
func (d *device) Close() error {
	d.pulse.stop()
	d.thread.do(func() {
		mtl.Pool(func() {
			d.keepKernels()
			d.archive.Release()
			for _, p := range d.pipelines {
				p.mtl.Release()
			}
			for _, l := range d.libraries {
				l.Release()
			}
			d.resident.Release()
			if b, ok := d.mtl.NewBuffer(settleBytes, mtl.ResourceStorageShared); ok {
				d.queue.Settle(b, settleBytes)
				b.Release()
			}
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
