package emu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// DeviceOptions say how an emulated device compiles and runs kernels.
type DeviceOptions struct {
	Options
	Order  Order
	Seed   uint32
	Memory int64 // bytes that can be allocated; 0: no limit
	// Family is the GPU to be; 0: Apple8. Apple10 has tensor units.
	Family gpu.Family
	// Products makes the device run products as the system's own kernels would.
	Products bool
	// Mutate changes sources before they are compiled. For tests of the tests.
	Mutate func(l kernels.Library, source string) string
	// Fail makes Submit fail. For tests of what a backend does then.
	Fail func(list []gpu.Dispatch) error
}

// Device is an emulated GPU. Every finding makes the work fail: a test that runs
// without an error has run without findings.
type Device struct {
	options DeviceOptions
	random  *rand.Rand
	used    atomic.Int64

	mu        sync.Mutex
	libraries map[kernels.Library]*compiled
	pipelines map[kernels.Kernel]*pipeline
	ran       map[string]int
}

type compiled struct {
	library    *Library
	signatures map[string][]Argument
}

type pipeline struct {
	*compiled
	kernel    kernels.Kernel
	constants map[int]float64
}

// MaxThreads is Metal's limit; registers are not emulated.
func (*pipeline) MaxThreads() int { return 1024 }

// NewDevice returns an emulated device, or the reason why there is none.
func NewDevice(o DeviceOptions) (*Device, error) {
	if err := Available(); err != nil {
		return nil, err
	}
	return &Device{
		options: o, random: rand.New(rand.NewPCG(uint64(o.Seed), 1)),
		libraries: map[kernels.Library]*compiled{}, pipelines: map[kernels.Kernel]*pipeline{}, ran: map[string]int{},
	}, nil
}

// Info describes the emulated device, as an M2 unless the options say otherwise.
func (d *Device) Info() gpu.Info {
	i := gpu.Info{
		Name: "Metal emulator", Architecture: "emulator", Family: gpu.Apple8, OS: "linux",
		Products: d.options.Products, Emulated: true,
	}
	if d.options.Family != 0 {
		i.Family = d.options.Family
	}
	i.Tensor = i.Family >= gpu.Apple10
	return i
}

// Alloc returns zeroed memory with a guard page behind it.
func (d *Device) Alloc(bytes int) (gpu.Memory, error) {
	used := d.used.Add(int64(bytes))
	if d.options.Memory > 0 && used > d.options.Memory {
		d.used.Add(-int64(bytes))
		return nil, fmt.Errorf("%w: %d bytes", gpu.ErrMemory, bytes)
	}
	m, err := alloc(bytes)
	if err != nil {
		return nil, err
	}
	return &counted{m, &d.used}, nil
}

// counted is memory that counts against the device's limit.
type counted struct {
	*memory
	used *atomic.Int64
}

// Release gives the memory back.
func (c *counted) Release() {
	c.used.Add(-int64(len(c.bytes)))
	c.memory.Release()
}

// Wrap uses mapped memory in place if it is aligned for the widest access.
func (d *Device) Wrap(b []byte) (gpu.Memory, int, error) {
	if len(b) == 0 || address(b)%16 != 0 {
		return nil, 0, gpu.ErrNotAligned
	}
	return &wrapped{b}, 0, nil
}

type wrapped struct{ bytes []byte }

func (w *wrapped) Bytes() []byte { return w.bytes }
func (w *wrapped) Release()      {}

// Pipeline compiles a kernel's library on first use.
func (d *Device) Pipeline(k kernels.Kernel) (gpu.Pipeline, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.pipelines[k]; p != nil {
		return p, nil
	}
	c := d.libraries[k.Library]
	if c == nil {
		var err error
		if c, err = d.compile(k.Library); err != nil {
			return nil, err
		}
		d.libraries[k.Library] = c
	}
	if c.signatures[k.Function] == nil {
		return nil, fmt.Errorf("library %s has no kernel %s", k.Name, k.Function)
	}
	p := &pipeline{compiled: c, kernel: k, constants: map[int]float64{}}
	for i := range k.Count {
		p.constants[i] = float64(k.Constants[i])
	}
	d.pipelines[k] = p
	return p, nil
}

func (d *Device) compile(l kernels.Library) (*compiled, error) {
	o := d.options.Options
	o.Define = l.Defines()
	if !l.Fast() {
		o.Math = SafeMath
	}
	source := l.Source()
	if d.options.Mutate != nil {
		source = d.options.Mutate(l, source)
	}
	library, err := Compile(l.Name+".metal", source, o)
	if err != nil {
		return nil, err
	}
	signatures, err := library.Signatures()
	return &compiled{library, signatures}, err
}

// done is finished work.
type done struct {
	took time.Duration
	err  error
}

func (p done) Wait() (time.Duration, error) { return p.took, p.err }

// Submit runs the list at once. Dispatches between two barriers run in the device's
// order, because a GPU may run them in any.
func (d *Device) Submit(list []gpu.Dispatch) (gpu.Pending, error) {
	if d.options.Fail != nil {
		if err := d.options.Fail(list); err != nil {
			return done{err: err}, nil
		}
	}
	start := time.Now()
	for from := 0; from < len(list); {
		to := from + 1
		for to < len(list) && !list[to].Barrier {
			to++
		}
		if err := d.together(list[from:to]); err != nil {
			return done{err: err}, nil
		}
		from = to
	}
	return done{took: time.Since(start)}, nil
}

// together runs dispatches that have no barrier between them.
func (d *Device) together(list []gpu.Dispatch) error {
	if err := conflict(list); err != nil {
		return err
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	switch d.options.Order {
	case Reverse:
		slices.Reverse(order)
	case Seeded:
		d.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	for _, i := range order {
		if err := d.run(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// conflict reports two dispatches of which one writes what the other uses.
func conflict(list []gpu.Dispatch) error {
	if len(list) < 2 {
		return nil
	}
	writer, reader := map[gpu.Memory]string{}, map[gpu.Memory]string{}
	for _, x := range list {
		for _, a := range x.Args {
			if a.Memory == nil || a.Index == statusIndex {
				continue
			}
			if w, ok := writer[a.Memory]; ok {
				return fmt.Errorf("no barrier between %s, which writes buffer(%d) of %s, and %s", w, a.Index, x.Name, x.Name)
			}
			if r, ok := reader[a.Memory]; ok && a.Write {
				return fmt.Errorf("no barrier between %s, which reads buffer(%d) of %s, and %s", r, a.Index, x.Name, x.Name)
			}
		}
		for _, a := range x.Args {
			if a.Memory == nil || a.Index == statusIndex {
				continue
			}
			if a.Write {
				writer[a.Memory] = x.Name
			} else {
				reader[a.Memory] = x.Name
			}
		}
	}
	return nil
}

// statusIndex is the buffer that all kernels share through atomics.
const statusIndex = 30

func (d *Device) run(x *gpu.Dispatch) error {
	if x.Product != nil {
		return d.multiply(x)
	}
	p, ok := x.Pipeline.(*pipeline)
	if !ok {
		return fmt.Errorf("%s has no pipeline of this device", x.Name)
	}
	e := Dispatch{
		Kernel: p.kernel.Function, Groups: x.Groups, Group: x.Group, Buffers: map[int][]byte{},
		Constants: p.constants, Order: d.options.Order, Seed: d.options.Seed,
	}
	for _, a := range x.Args {
		b := a.Bytes
		if a.Memory != nil {
			b = a.Memory.Bytes()[a.Offset:]
		}
		e.Buffers[a.Index] = b
	}
	if err := p.check(x); err != nil {
		return err
	}
	d.mu.Lock()
	d.ran[p.kernel.Function]++
	d.mu.Unlock()
	return complaints(p.library.Run(e))
}

// check compares the arguments of a dispatch with the compiled kernel.
func (p *pipeline) check(x *gpu.Dispatch) error {
	host := make([]Binding, len(x.Args))
	for i, a := range x.Args {
		host[i] = Binding{Kind: "buffer", Index: a.Index, Writable: a.Write}
		if a.Memory == nil {
			host[i].Kind, host[i].Size = "bytes", len(a.Bytes)
		}
	}
	if bad := CheckTable(p.kernel.Function, p.signatures[p.kernel.Function], host); len(bad) > 0 {
		return errors.New(x.Name + ": " + strings.Join(bad, "; "))
	}
	return nil
}

func complaints(findings []Finding) error {
	if len(findings) == 0 {
		return nil
	}
	texts := make([]string, len(findings))
	for i, f := range findings {
		texts[i] = f.String()
	}
	return errors.New(strings.Join(texts, "\n"))
}

// Ran returns how often each kernel ran, by function name.
func (d *Device) Ran() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]int{}
	for k, n := range d.ran {
		all[k] = n
	}
	return all
}

// Close does nothing: libraries stay open until the process ends.
func (d *Device) Close() error { return nil }

var _ gpu.Device = (*Device)(nil)
