package vision

import "image"

// JPEG and lossy WebP store colour at half the resolution. Go's decoders repeat each
// sample and read WebP's numbers, which span 16 to 235, as if they spanned 0 to 255.
// libjpeg and libwebp, which the reference decodes with, interpolate, each with its
// own rounding. The difference reaches half the range at coloured edges, so colours
// are computed here, in their way.

// colour turns luma and chroma into RGB.
type colour struct {
	// smooth interpolates a row of chroma to full width. The row lies nearest to the stored row
	// near and next to far; odd tells the lower of the two rows that near covers.
	smooth func(out, near, far []byte, s image.YCbCrSubsampleRatio, odd bool)
	rgb    func(y, cb, cr int32) (r, g, b byte)
}

var (
	jpegColour = colour{jpegRow, jpegRGB}
	webpColour = colour{webpRow, webpRGB}
)

// picture converts a decoded image.
func (c colour) picture(m *image.YCbCr) *picture {
	b := m.Bounds()
	p := newPicture(b.Dx(), b.Dy())
	cb, cr := make([]byte, p.width), make([]byte, p.width)
	for y := range p.height {
		c.row(cb, m, m.Cb, y)
		c.row(cr, m, m.Cr, y)
		luma := m.Y[m.YOffset(b.Min.X, b.Min.Y+y):]
		for x := range p.width {
			at := 3 * (y*p.width + x)
			p.pix[at], p.pix[at+1], p.pix[at+2] = c.rgb(int32(luma[x]), int32(cb[x]), int32(cr[x]))
		}
	}
	return p
}

// row brings one row of a chroma plane to full width.
func (c colour) row(out []byte, m *image.YCbCr, plane []byte, y int) {
	across, down := 1, 1 // pixels that share a sample
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	width, rows := (m.Rect.Dx()+across-1)/across, (m.Rect.Dy()+down-1)/down
	line := func(y int) []byte { return plane[min(max(y, 0), rows-1)*m.CStride:][:width] }
	near, odd := y/down, y%down == 1
	far := near - 1
	if odd {
		far = near + 1
	}
	c.smooth(out, line(near), line(far), m.SubsampleRatio, odd)
}

// jpegRow is libjpeg's triangle filter ("fancy upsampling"); ratios that it has no
// filter for are repeated.
func jpegRow(out, near, far []byte, s image.YCbCrSubsampleRatio, odd bool) {
	switch {
	case s == image.YCbCrSubsampleRatio444:
		copy(out, near)
	case s == image.YCbCrSubsampleRatio440:
		bias := 1
		if odd {
			bias = 2
		}
		for i := range out {
			out[i] = byte((3*int(near[i]) + int(far[i]) + bias) >> 2)
		}
	case s == image.YCbCrSubsampleRatio422 && len(near) > 2:
		sums := func(i int) int { return int(near[i]) }
		triangle(out, sums, len(near), 2, 1, 2)
	case s == image.YCbCrSubsampleRatio420 && len(near) > 2:
		sums := func(i int) int { return 3*int(near[i]) + int(far[i]) }
		triangle(out, sums, len(near), 4, 8, 7)
	default:
		per := (len(out) + len(near) - 1) / len(near)
		for i := range out {
			out[i] = near[i/per]
		}
	}
}

// triangle doubles a row of n sums: each pixel takes three quarters of its sample
// and a quarter of the next one on its side.
func triangle(out []byte, sum func(i int) int, n int, shift uint, even, odd int) {
	for x := range out {
		i, next, bias := x/2, x/2-1, even
		if x%2 == 1 {
			next, bias = i+1, odd
		}
		out[x] = byte((3*sum(i) + sum(min(max(next, 0), n-1)) + bias) >> shift)
	}
}

// jpegRGB is libjpeg's conversion, 16-bit fixed point.
func jpegRGB(y, cb, cr int32) (r, g, b byte) {
	const half = 1 << 15
	cb, cr = cb-128, cr-128
	return saturate(y + (91881*cr+half)>>16), saturate(y + (-22554*cb-46802*cr+half)>>16), saturate(y + (116130*cb+half)>>16)
}

// webpRow is libwebp's upsampling of 4:2:0, the only ratio of WebP.
func webpRow(out, near, far []byte, _ image.YCbCrSubsampleRatio, _ bool) {
	last := len(near) - 1
	edge := func(i int) byte { return byte((3*int(near[i]) + int(far[i]) + 2) >> 2) }
	out[0] = edge(0)
	for x := 1; x <= last; x++ {
		a, b, c, d := int(near[x-1]), int(near[x]), int(far[x-1]), int(far[x])
		all := a + b + c + d + 8
		inner, outer := (all+2*(b+c))>>3, (all+2*(a+d))>>3
		out[2*x-1] = byte((inner + a) >> 1)
		if 2*x < len(out) {
			out[2*x] = byte((outer + b) >> 1)
		}
	}
	if len(out)%2 == 0 {
		out[len(out)-1] = edge(last)
	}
}

// webpRGB is libwebp's conversion from BT.601 video levels, 6 bits of fraction.
func webpRGB(y, u, v int32) (r, g, b byte) {
	luma := y * 19077 >> 8
	return saturate((luma + v*26149>>8 - 14234) >> 6),
		saturate((luma - u*6419>>8 - v*13320>>8 + 8708) >> 6),
		saturate((luma + u*33050>>8 - 17685) >> 6)
}

func saturate(v int32) byte { return byte(min(max(v, 0), 255)) }
