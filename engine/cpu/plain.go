package cpu

import "math"

// goPath does everything in plain Go, without vectors: correct on every machine.
type goPath struct{}

func (goPath) name() string { return "plain Go" }

func (goPath) shape() shape { return shape{mr: 4, nr: 2, vw: 1, taskRows: 64} }

func (goPath) toBF16(x mat, dst []byte, stride, from, to int) {
	for i := from; i < to; i++ {
		for j, v := range x.row(i) {
			u := math.Float32bits(roundBF16(v))
			dst[i*stride+2*j], dst[i*stride+2*j+1] = byte(u>>16), byte(u>>24)
		}
	}
}

func (goPath) toRounded(x mat, dst []byte, stride, from, to int) {
	for i := from; i < to; i++ {
		d := floatsOf(dst[i*stride : (i+1)*stride])
		for j, v := range x.row(i) {
			d[j] = roundBF16(v)
		}
	}
}

func (goPath) toInt8(x mat, p *prepared, from, to int) {
	for i := from; i < to; i++ {
		for g := range p.groups {
			row := x.row(i)[g*p.group : (g+1)*p.group]
			var top float32
			for _, v := range row {
				top = max(top, float32(math.Abs(float64(v))))
			}
			var inv float32
			if top > 0 {
				inv = 127 / top
			}
			var total int32
			for j, v := range row {
				n := int32(math.RoundToEven(float64(v * inv)))
				total += n
				p.data[i*p.stride+g*p.group+j] = byte(n)
			}
			p.scale[i*p.groups+g] = top / 127
			p.sum[i*p.groups+g] = top / 127 * float32(total)
		}
	}
}

func (goPath) add(dst, x mat, from, to int) {
	for i := from; i < to; i++ {
		addTo(dst.row(i), x.row(i))
	}
}

func sumSquares(x []float32, mean float32) float32 {
	var s float32
	for _, v := range x {
		s += (v - mean) * (v - mean)
	}
	return s
}

func rsqrt(x float32) float32 { return float32(1 / math.Sqrt(float64(x))) }

// normed writes x·r·w.
func normed(dst, x, w []float32, r float32) {
	for i, v := range x {
		dst[i] = v * r * w[i]
	}
}

func (goPath) rmsNorm(dst, x mat, w []float32, eps float32, from, to int) {
	for i := from; i < to; i++ {
		normed(dst.row(i), x.row(i), w, rsqrt(sumSquares(x.row(i), 0)/float32(x.cols)+eps))
	}
}

func (goPath) layerNorm(dst, x mat, w, b []float32, eps float32, from, to int) {
	for i := from; i < to; i++ {
		var mean float32
		for _, v := range x.row(i) {
			mean += v
		}
		mean /= float32(x.cols)
		r := rsqrt(sumSquares(x.row(i), mean)/float32(x.cols) + eps)
		for j, v := range x.row(i) {
			dst.row(i)[j] = (v-mean)*r*w[j] + b[j]
		}
	}
}

func exp(x float32) float32     { return float32(math.Exp(float64(x))) }
func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
func silu(x float32) float32    { return x * sigmoid(x) }
func softplus(x float32) float32 {
	return max(x, 0) + float32(math.Log1p(math.Exp(-math.Abs(float64(x)))))
}

func gelu(x float32) float32 {
	return float32(0.5 * float64(x) * math.Erfc(-float64(x)/math.Sqrt2))
}

func geluTanh(x float32) float32 {
	return x * sigmoid(2*0.7978845608*x*(1+0.044715*x*x))
}

func (goPath) math(which int, dst, x []float32) {
	f := [...]func(float32) float32{exp, sigmoid, silu, softplus, gelu, geluTanh}[which]
	for i, v := range x {
		dst[i] = f(v)
	}
}

func (goPath) conv(dst, x, taps, history mat, from, to int) {
	k := taps.rows
	for t := from; t < to; t++ {
		d := dst.row(t)
		clear(d)
		for j := range k {
			var src []float32
			switch at := t - (k - 1) + j; {
			case at >= 0:
				src = x.row(at)
			case history.data != nil:
				src = history.row(at + k - 1)
			default:
				continue
			}
			for c, w := range taps.row(j) {
				d[c] += w * src[c]
			}
		}
		for c, v := range d {
			d[c] = silu(v)
		}
	}
}

func (goPath) gates(g, beta, a, b mat, aLog, dt []float32, from, to int) {
	for t := from; t < to; t++ {
		for h := range aLog {
			g.row(t)[h] = -exp(aLog[h]) * softplus(a.row(t)[h]+dt[h])
			beta.row(t)[h] = sigmoid(b.row(t)[h])
		}
	}
}

func (goPath) normGate(dst, o, z mat, w []float32, eps float32, from, to int) {
	n := len(w)
	for t := from; t < to; t++ {
		for h := 0; h < o.cols; h += n {
			x, d := o.row(t)[h:h+n], dst.row(t)[h:h+n]
			normed(d, x, w, rsqrt(sumSquares(x, 0)/float32(n)+eps))
			for i := range d {
				d[i] *= silu(z.row(t)[h+i])
			}
		}
	}
}

func (goPath) prep(a *prep, from, to int) {
	n := a.dim
	for t := from; t < to; t++ {
		for h := range a.heads {
			x := a.qg.row(t)[2*h*n:]
			a.head(a.q.row(t)[h*n:(h+1)*n], x[:n], a.qNorm, t)
			copy(a.gate.row(t)[h*n:(h+1)*n], x[n:2*n])
		}
		for h := range a.kvHeads {
			a.head(a.k.row(t)[h*n:(h+1)*n], a.kRaw.row(t)[h*n:(h+1)*n], a.kNorm, t)
		}
	}
}

// head normalises and rotates one head of token t.
func (a *prep) head(d, x, w []float32, t int) {
	normed(d, x, w, rsqrt(sumSquares(x, 0)/float32(len(x))+a.eps))
	half := a.rotary / 2
	for i := range half {
		p, q, cs, sn := d[i], d[half+i], a.cos.row(t)[i], a.sin.row(t)[i]
		d[i], d[half+i] = p*cs-q*sn, q*cs+p*sn
	}
}

// peak multiplies and adds in registers.
func (goPath) peak(_ form, loops int) float64 {
	var a, b, c, d float32 = 1, 2, 3, 4
	x, y := float32(loops%3)+0.5, float32(0.25)
	for range loops {
		a, b, c, d = a*y+x, b*y+x, c*y+x, d*y+x
	}
	if a+b+c+d == 0 {
		return 0
	}
	return 8 * float64(loops)
}
