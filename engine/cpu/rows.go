package cpu

import "clefbar/engine/backend"

// Embed gathers rows of a table.
func (c *CPU) Embed(dst backend.Buffer, table backend.Weight, ids []int32) {
	if c.stopped() {
		return
	}
	d, w := out(dst), table.(*weight)
	want(d.cols == w.cols && d.rows == len(ids), "Embed", d.rows, d.cols, w.shape, len(ids))
	c.overRows(d.rows, float64(d.cols)*2, func(from, to int) {
		for i := from; i < to; i++ {
			w.decodeRow(d.row(i), int(ids[i]))
		}
	})
}

// MeanTable averages rows of a table.
func (c *CPU) MeanTable(dst backend.Buffer, table backend.Weight, ids [][]int32) {
	if c.stopped() {
		return
	}
	d, w := out(dst), table.(*weight)
	want(d.cols == w.cols && d.rows == len(ids), "MeanTable", d.rows, d.cols, w.shape, len(ids))
	c.overRows(d.rows, float64(d.cols)*20, func(from, to int) {
		row := make([]float32, d.cols)
		for i := from; i < to; i++ {
			clear(d.row(i))
			for _, id := range ids[i] {
				w.decodeRow(row, int(id))
				addTo(d.row(i), row)
			}
			scaleBy(d.row(i), 1/float32(len(ids[i])))
		}
	})
}

// MeanRows averages spans of rows.
func (c *CPU) MeanRows(dst, x backend.Buffer, spans []backend.Span) {
	if c.stopped() {
		return
	}
	s, d := in(x), out(dst)
	want(d.cols == s.cols && d.rows == len(spans), "MeanRows", d.rows, d.cols, s.rows, s.cols, len(spans))
	c.overRows(d.rows, float64(d.cols)*10, func(from, to int) {
		for i := from; i < to; i++ {
			clear(d.row(i))
			for r := spans[i].From; r < spans[i].To; r++ {
				addTo(d.row(i), s.row(r))
			}
			scaleBy(d.row(i), 1/float32(spans[i].To-spans[i].From))
		}
	})
}

func addTo(dst, x []float32) {
	for i, v := range x {
		dst[i] += v
	}
}

func scaleBy(dst []float32, f float32) {
	for i := range dst {
		dst[i] *= f
	}
}

// Add adds x to dst.
func (c *CPU) Add(dst, x backend.Buffer) {
	if c.stopped() {
		return
	}
	d, s := both(dst), in(x)
	want(d.rows == s.rows && d.cols == s.cols, "Add", d.rows, d.cols, s.rows, s.cols)
	c.overRows(d.rows, float64(d.cols)/8, func(from, to int) { c.path.add(d, s, from, to) })
}

// RMSNorm normalises rows; dst may be x.
func (c *CPU) RMSNorm(dst, x backend.Buffer, w backend.Weight, eps float32) {
	if c.stopped() {
		return
	}
	s, d, v := in(x), out(dst), vectorOf(w)
	want(d.rows == s.rows && d.cols == s.cols && len(v) == s.cols, "RMSNorm", d.rows, d.cols, s.rows, s.cols, len(v))
	c.overRowsPacked(dst, float64(d.cols)/6, func(from, to int) { c.path.rmsNorm(d, s, v, eps, from, to) })
}

// LayerNorm normalises rows; dst may be x.
func (c *CPU) LayerNorm(dst, x backend.Buffer, w, b backend.Weight, eps float32) {
	if c.stopped() {
		return
	}
	s, d, v, u := in(x), out(dst), vectorOf(w), vectorOf(b)
	want(d.rows == s.rows && d.cols == s.cols && len(v) == s.cols && len(u) == s.cols, "LayerNorm", d.rows, d.cols, s.rows, s.cols, len(v), len(u))
	c.overRows(d.rows, float64(d.cols)/4, func(from, to int) { c.path.layerNorm(d, s, v, u, eps, from, to) })
}
