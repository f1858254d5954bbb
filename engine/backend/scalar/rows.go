package scalar

import (
	"math"

	"clefbar/engine/backend"
)

// Embed gathers rows: dst[i] = table[ids[i]].
func (b *Backend) Embed(dst backend.Buffer, table backend.Weight, ids []int32) {
	if b.stopped() {
		return
	}
	d, m := of(dst), table.(*matrix)
	for i, id := range ids {
		m.t.Row(d.row(i), int(id))
	}
}

// MeanTable averages rows of a table.
func (b *Backend) MeanTable(dst backend.Buffer, table backend.Weight, ids [][]int32) {
	if b.stopped() {
		return
	}
	d, m := of(dst), table.(*matrix)
	row := make([]float32, m.cols)
	for i, list := range ids {
		sum := d.row(i)
		clear(sum)
		for _, id := range list {
			m.t.Row(row, int(id))
			for c, v := range row {
				sum[c] += v
			}
		}
		for c := range sum {
			sum[c] /= float32(len(list))
		}
	}
}

// MeanRows averages rows of x.
func (b *Backend) MeanRows(dst, x backend.Buffer, spans []backend.Span) {
	if b.stopped() {
		return
	}
	d, src := of(dst), of(x)
	for i, s := range spans {
		sum := d.row(i)
		clear(sum)
		for r := s.From; r < s.To; r++ {
			for c, v := range src.row(r) {
				sum[c] += v
			}
		}
		for c := range sum {
			sum[c] /= float32(s.To - s.From)
		}
	}
}

// Add adds: dst += x.
func (b *Backend) Add(dst, x backend.Buffer) {
	if b.stopped() {
		return
	}
	d := of(dst).data
	for i, v := range of(x).data {
		d[i] += v
	}
}

// RMSNorm normalises each row by its root mean square.
func (b *Backend) RMSNorm(dst, x backend.Buffer, w backend.Weight, eps float32) {
	if b.stopped() {
		return
	}
	d, src := of(dst), of(x)
	for r := range src.rows {
		rmsNorm(d.row(r), src.row(r), floats(w), eps)
	}
}

func rmsNorm(dst, x, w []float32, eps float32) {
	var sum float32
	for _, v := range x {
		sum += v * v
	}
	scale := 1 / sqrt(sum/float32(len(x))+eps)
	for i, v := range x {
		dst[i] = v * scale * w[i]
	}
}

// LayerNorm normalises each row by its mean and biased variance.
func (b *Backend) LayerNorm(dst, x backend.Buffer, w, bias backend.Weight, eps float32) {
	if b.stopped() {
		return
	}
	d, src, ws, bs := of(dst), of(x), floats(w), floats(bias)
	for r := range src.rows {
		row, out := src.row(r), d.row(r)
		var mean, variance float32
		for _, v := range row {
			mean += v
		}
		mean /= float32(len(row))
		for _, v := range row {
			variance += (v - mean) * (v - mean)
		}
		scale := 1 / sqrt(variance/float32(len(row))+eps)
		for i, v := range row {
			out[i] = (v-mean)*scale*ws[i] + bs[i]
		}
	}
}

func sqrt(x float32) float32    { return float32(math.Sqrt(float64(x))) }
func exp(x float32) float32     { return float32(math.Exp(float64(x))) }
func sigmoid(x float32) float32 { return 1 / (1 + exp(-x)) }
func silu(x float32) float32    { return x * sigmoid(x) }

// softplus is log(1+e^x), x itself above torch's threshold of 20.
func softplus(x float32) float32 {
	if x > 20 {
		return x
	}
	return float32(math.Log1p(math.Exp(float64(x))))
}

func activate(x float32, act backend.Activation) float32 {
	v := float64(x)
	switch act {
	case backend.GELU:
		return float32(0.5 * v * (1 + math.Erf(v/math.Sqrt2)))
	case backend.GELUTanh:
		return float32(0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))))
	}
	return x
}
