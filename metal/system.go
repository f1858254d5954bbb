package metal

import (
	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// The system's own products multiply float32 matrices that lie in memory as such, so
// weights are expanded into scratch memory first, some rows at a time. That costs the
// traffic of the expanded weights, whatever the number of rows, and pays for many rows
// only (metal.md 3.4, 3.7).
const (
	systemRows    = 512      // least rows for which the autotuner tries it
	systemScratch = 64 << 20 // bytes of expanded weights at a time
	expandThreads = 256
)

// plain reports whether the system's products can make a product: no bias, no activation.
func (p product) plain() bool {
	for _, bias := range p.bias {
		if bias != nil {
			return false
		}
	}
	return p.act == backend.None
}

// systemPiece is how many rows of a weight are expanded at a time.
func systemPiece(depth int) int { return max(64, systemScratch/(4*depth)/64*64) }

// multiplyBySystem records a product as expansions and products of the system.
func (b *Backend) multiplyBySystem(p product) {
	if p.epilogue == epilogueSwiGLU {
		b.swigluBySystem(p)
		return
	}
	for i, w := range p.w {
		piece := min(systemPiece(w.cols()), w.rows())
		for first := 0; first < w.rows(); first += piece {
			n := min(piece, w.rows()-first)
			expanded := b.expand(w, first, n)
			d := p.dst[i]
			target := b.target(2, d, p.epilogue)
			target.offset += 4 * first
			b.productBySystem(p, expanded, target, gpu.Product{Rows: p.x.Rows(), Depth: w.cols(), Outputs: n, Pitch: d.cols, Add: p.epilogue == epilogueAdd})
			b.Free(expanded)
		}
	}
}

// swigluBySystem makes both products into scratch memory and joins them.
func (b *Backend) swigluBySystem(p product) {
	m, rows, d := p.x.Rows(), p.w[0].rows(), p.dst[0]
	piece := min(systemPiece(p.x.cols), rows)
	for first := 0; first < rows; first += piece {
		n := min(piece, rows-first)
		both := [2]backend.Buffer{b.New(m, n, backend.Exact), b.New(m, n, backend.Exact)}
		for i, w := range p.w {
			expanded := b.expand(w, first, n)
			b.productBySystem(p, expanded, b.out(2, of(both[i])), gpu.Product{Rows: m, Depth: w.cols(), Outputs: n, Pitch: n})
			b.Free(expanded)
		}
		b.record(launch{
			name: p.name, params: words(uint32(m), uint32(n), uint32(d.cols), uint32(first)),
			kernel: b.expansion("join", 0, 0, 0),
			args:   []operand{b.in(1, of(both[0])), b.in(2, of(both[1])), b.out(18, d)},
			groups: [3]uint32{groupsFor(m*n, expandThreads), 1, 1}, group: [3]uint32{expandThreads, 1, 1},
			work: Work{Bytes: 12 * float64(m) * float64(n)},
		})
		b.Free(both[0], both[1])
	}
}

// productBySystem records one product.
func (b *Backend) productBySystem(p product, expanded backend.Buffer, target operand, size gpu.Product) {
	b.record(launch{
		name: p.name, product: &size, args: []operand{b.in(0, p.x), b.in(1, of(expanded)), target},
		work: Work{
			Multiplies: float64(size.Rows) * float64(size.Depth) * float64(size.Outputs),
			Bytes:      4 * (float64(size.Rows)*float64(size.Depth+size.Outputs) + float64(size.Depth)*float64(size.Outputs)),
		},
	})
}

// expand records that rows [first, first + n) of a weight become float32.
func (b *Backend) expand(w *weight, first, n int) backend.Buffer {
	x := b.New(n, w.cols(), backend.Exact)
	args := []operand{{index: 2, mem: w.data.mem, offset: w.data.offset}, b.out(18, of(x))}
	quants := uint32(0)
	if w.bits > 0 {
		quants = 1
		args = append(args, operand{index: 6, mem: w.scales.mem, offset: w.scales.offset}, operand{index: 10, mem: w.biases.mem, offset: w.biases.offset})
	}
	blocks := n * ((w.cols() + 7) / 8)
	b.record(launch{
		name: "expand", params: words(append(w.segment(0), uint32(w.cols()), uint32(first), uint32(n))...), args: args,
		kernel: b.expansion("expand", w.format, flag(w.cols()%8 != 0), quants),
		groups: [3]uint32{groupsFor(blocks, expandThreads), 1, 1}, group: [3]uint32{expandThreads, 1, 1},
		work: Work{
			Bytes: w.bytes()*float64(n)/float64(w.rows()) + 4*float64(n*w.cols()),
			Lanes: lanesPerCode * float64(n) * float64(w.cols()),
		},
	})
	return x
}

// expansion names a kernel of expand.metal, with the constants that weights.metal has.
func (b *Backend) expansion(function string, formats, ragged, quants uint32) kernels.Kernel {
	return b.kernel(kernels.Library{Name: "expand"}, function, formats, epilogueStore, 0, ragged, 1, quants, 0)
}
