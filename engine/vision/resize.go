package vision

import "math"

// Fixed-point precision of the resampling weights, as in Pillow.
const weightBits = 22

// taps are the weights of one output pixel over the input pixels from first on.
type taps struct {
	first  int
	weight []int64
}

// resize scales with Pillow's bicubic filter, bit for bit: the horizontal pass
// first, as Pillow up to 12 does, 8-bit numbers in between, a pass that changes
// nothing left out (clef.md 5.1).
func (p *picture) resize(width, height int) *picture {
	if width != p.width {
		p = p.horizontal(width)
	}
	if height != p.height {
		p = p.vertical(height)
	}
	return p
}

func (p *picture) horizontal(width int) *picture {
	out := newPicture(width, p.height)
	row := bicubic(p.width, width)
	for y := range p.height {
		for x, t := range row {
			blend(out.pix[3*(y*width+x):], p.pix[3*(y*p.width+t.first):], 3, t.weight)
		}
	}
	return out
}

func (p *picture) vertical(height int) *picture {
	out := newPicture(p.width, height)
	for y, t := range bicubic(p.height, height) {
		for x := range p.width {
			blend(out.pix[3*(y*p.width+x):], p.pix[3*(t.first*p.width+x):], 3*p.width, t.weight)
		}
	}
	return out
}

// blend writes the weighted sum of pixels that lie stride bytes apart.
func blend(dst, src []byte, stride int, weight []int64) {
	const half = 1 << (weightBits - 1)
	r, g, b := int64(half), int64(half), int64(half)
	for i, w := range weight {
		s := src[i*stride : i*stride+3]
		r, g, b = r+w*int64(s[0]), g+w*int64(s[1]), b+w*int64(s[2])
	}
	dst[0], dst[1], dst[2] = clip8(r>>weightBits), clip8(g>>weightBits), clip8(b>>weightBits)
}

func clip8(v int64) byte { return byte(min(max(v, 0), 255)) }

// bicubic returns the taps of every output pixel of a row.
func bicubic(in, out int) []taps {
	scale := float64(in) / float64(out)
	filter := max(scale, 1)
	support, inverse := 2*filter, 1/filter
	rows := make([]taps, out)
	for i := range rows {
		center := float64((float64(i) + 0.5) * scale)
		first := max(0, int(center-support+0.5))
		last := min(in, int(center+support+0.5))
		k := make([]float64, last-first)
		var sum float64
		for j := range k {
			k[j] = cubic((float64(j+first) - center + 0.5) * inverse)
			sum += k[j]
		}
		rows[i] = taps{first, make([]int64, len(k))}
		for j, v := range k {
			v /= sum
			rows[i].weight[j] = int64(float64(v*(1<<weightBits)) + math.Copysign(0.5, v))
		}
	}
	return rows
}

// cubic is the convolution kernel with a = -0.5. Products are rounded one by one
// (an explicit conversion forbids fusing), so that all processors agree.
func cubic(x float64) float64 {
	const a = -0.5
	x = math.Abs(x)
	switch {
	case x < 1:
		return float64((float64((a+2)*x)-(a+3))*x*x) + 1
	case x < 2:
		return (float64((float64((x-5)*x)+8)*x) - 4) * a
	}
	return 0
}
