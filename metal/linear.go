package metal

import (
	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// maxSegments is how many weights one launch of the matrix product takes.
const maxSegments = 4

// Epilogues of gemm.metal.
const (
	epilogueStore = iota
	epilogueAdd
	epilogueSwiGLU
)

// product is one launch of gemm.metal.
type product struct {
	name     string
	x        *buffer
	dst      []*buffer
	w        []*weight
	bias     []backend.Weight
	epilogue uint32
	act      backend.Activation
}

// Linear computes dst[i] = act(x · w[i]ᵀ + bias[i]) in one pass over x, four weights at a time.
func (b *Backend) Linear(dst []backend.Buffer, x backend.Buffer, w, bias []backend.Weight, act backend.Activation) {
	for from := 0; from < len(w); from += maxSegments {
		to := min(from+maxSegments, len(w))
		p := product{name: "linear", x: of(x), act: act, epilogue: epilogueStore}
		for i := from; i < to; i++ {
			p.dst, p.w = append(p.dst, of(dst[i])), append(p.w, w[i].(*weight))
			var offset backend.Weight
			if bias != nil {
				offset = bias[i]
			}
			p.bias = append(p.bias, offset)
		}
		b.multiply(p)
	}
}

// LinearAdd computes dst += x · wᵀ + bias.
func (b *Backend) LinearAdd(dst, x backend.Buffer, w, bias backend.Weight) {
	b.multiply(product{
		name: "linear_add", x: of(x), dst: []*buffer{of(dst)}, w: []*weight{w.(*weight)}, bias: []backend.Weight{bias},
		epilogue: epilogueAdd,
	})
}

// SwiGLU computes dst = silu(x · gateᵀ) ⊙ (x · upᵀ).
func (b *Backend) SwiGLU(dst, x backend.Buffer, gate, up backend.Weight) {
	b.multiply(product{
		name: "swiglu", x: of(x), dst: []*buffer{of(dst)}, w: []*weight{gate.(*weight), up.(*weight)},
		bias: []backend.Weight{nil, nil}, epilogue: epilogueSwiGLU,
	})
}

// fits checks the shapes of a product.
func (b *Backend) fits(p product) bool {
	for i, w := range p.w {
		rows := p.w[0].rows()
		if p.epilogue != epilogueSwiGLU {
			rows = w.rows()
		}
		d := p.dst[min(i, len(p.dst)-1)]
		if w.format == 0 || w.cols() != p.x.cols || w.rows() != rows || d.cols != rows || d.Rows() != p.x.Rows() {
			b.failf("%s: x is (%d, %d), %s is %v, dst is (%d, %d)", p.name, p.x.Rows(), p.x.cols, w.tensor.Name, w.shape, d.Rows(), d.cols)
			return false
		}
	}
	return true
}

// multiply records a product, in several launches if one would keep the GPU too long.
func (b *Backend) multiply(p product) {
	if !b.ready() || !b.fits(p) || p.x.Rows() == 0 {
		return
	}
	for _, w := range p.w {
		b.operations += 2 * float64(p.x.Rows()) * float64(w.cols()) * float64(w.rows())
	}
	if b.rule(p).Unit == System {
		b.multiplyBySystem(p)
		return
	}
	rule, l, tiles := b.compiled(p)
	pieces := max(1, min(tiles, int(b.chip.Seconds(l.work)/longest)+1))
	whole := l.work
	for i := range pieces {
		from, to := tiles*i/pieces, tiles*(i+1)/pieces
		piece := l
		piece.params = append([]byte(nil), l.params...)
		copy(piece.params[8:], words(uint32(from)))
		piece.groups = [3]uint32{groupsFor(p.x.Rows(), rule.Tile.BM), uint32(to - from), 1}
		part := float64(to-from) / float64(tiles)
		piece.work = whole.part(part)
		b.record(piece)
	}
}

// compiled chooses how a product is computed and describes the launch. What the system's
// compiler refuses is given up for what it may take, from the most special on.
func (b *Backend) compiled(p product) (rule Rule, l launch, tiles int) {
	for {
		rule = b.rule(p)
		l, tiles = b.describe(p, rule)
		_, err := b.pipeline(l.kernel)
		switch {
		case err == nil:
			return rule, l, tiles
		case rule.Unit == TensorUnits:
			b.refuseTensor(err)
		case rule.Unit == Direct:
			b.noDirect = true
		case l.kernel.Weights != operandFloat && !b.unmixed:
			b.unmixed = true // it does not multiply operands of two types
		default:
			return rule, l, tiles // recording fails with the reason
		}
	}
}

// lanesPerCode is how many operations of a lane make a weight of a code (metal.md 3.4).
const lanesPerCode = 3.5

// longest is the most predicted seconds of one launch.
const longest = 0.08

// describe makes the launch of a product over all its tiles and counts them.
func (b *Backend) describe(p product, rule Rule) (l launch, tiles int) {
	n, tile := len(p.w), rule.Tile
	m, k := p.x.Rows(), p.x.cols
	params := []uint32{uint32(m), uint32(k), 0}
	args := []operand{b.in(1, p.x)}
	var formats, quants, biases uint32
	work := Work{Bytes: p.x.bytes(inFull)}
	for i, w := range p.w {
		params = append(params, w.segment(tiles)...)
		formats |= w.format
		args = append(args, operand{index: 2 + i, mem: w.data.mem, offset: w.data.offset})
		if w.bits > 0 {
			quants |= 1 << i
			args = append(args, operand{index: 6 + i, mem: w.scales.mem, offset: w.scales.offset},
				operand{index: 10 + i, mem: w.biases.mem, offset: w.biases.offset})
		}
		if p.bias[i] != nil {
			biases |= 1 << i
			args = append(args, vector(14+i, p.bias[i]))
		}
		if i < len(p.dst) {
			d := p.dst[i]
			args = append(args, b.target(18+i, d, p.epilogue))
			work.Bytes += d.bytes(inFull)
		}
		padded := float64(groupsFor(m, tile.BM)) * float64(tile.BM)
		work.Multiplies += padded * float64((w.rows()+7)/8*8) * float64(k)
		work.Bytes += w.bytes()
		if w.bits > 0 {
			work.Lanes += lanesPerCode * float64(groupsFor(m, tile.BM)) * float64(w.rows()) * float64(k)
		}
		if p.epilogue != epilogueSwiGLU {
			tiles += (w.rows() + tile.BN - 1) / tile.BN
		}
	}
	if p.epilogue == epilogueSwiGLU {
		tiles = (p.w[0].rows() + tile.BN/2 - 1) / (tile.BN / 2)
	}
	for len(params) < 3+8*maxSegments {
		params = append(params, 0)
	}
	library, function := kernels.Library{Name: "gemm", Weights: b.operands(p, formats), Tile: tile}, "gemm"
	if rule.Unit == Direct {
		library.Name, function = "direct", "gemm_direct"
	}
	if rule.Unit == TensorUnits {
		library.Name, function = "tensor", "gemm_tensor"
		work.OnTensor, work.Passes = work.Multiplies, work.Multiplies*float64(passes(library.Weights))
	} else {
		work.Idle = b.chip.idle(float64(tiles)*float64(groupsFor(m, tile.BM)), tile) * work.Multiplies
	}
	return launch{
		name: p.name, params: words(params...), args: args, group: [3]uint32{uint32(tile.Threads()), 1, 1}, work: work,
		kernel: b.kernel(library, function, formats, p.epilogue, uint32(p.act), flag(k%8 != 0), uint32(n), quants, biases),
	}, tiles
}

// segment packs what weights.metal knows of a weight whose tiles begin at a number.
func (w *weight) segment(tile int) []uint32 {
	group := max(w.group, 1)
	return []uint32{
		uint32(w.rows()), uint32(tile), w.format, uint32(w.pitch), uint32(w.bits), log2(group), uint32(w.cols() / group), flag(w.floatScales),
	}
}

// target binds a destination; adding reads it too.
func (b *Backend) target(index int, d *buffer, epilogue uint32) operand {
	if epilogue == epilogueAdd {
		return b.update(index, d)
	}
	return b.out(index, d)
}

// Operands that weights become in gemm.metal.
const (
	operandHalf = iota
	operandBfloat
	operandFloat
)

// operands chooses what weights become for the product: the smallest type that loses
// nothing that shows. Codes of up to 4 bits with bfloat scales have 12 significant bits,
// of which half holds 11; those of 8 bits have 16.
func (b *Backend) operands(p product, formats uint32) int {
	if b.unmixed {
		return operandFloat
	}
	if formats == formatBfloat && b.chip.Family >= gpu.Apple9 {
		return operandBfloat
	}
	for _, w := range p.w {
		if w.format&(formatBfloat|formatFloat) != 0 || w.bits > 4 || w.floatScales {
			return operandFloat
		}
	}
	return operandHalf
}
