package vision

import "math"

// places interpolates the square table of learned positions to the image's grid,
// corners on corners (clef.md 5.3), one row a patch in patch order.
func (t *Tower) places(p *Pixels) []float32 {
	side := int(math.Round(math.Sqrt(float64(t.cfg.Positions))))
	rows := interpolate(p.Rows*t.cfg.Merge, side)
	cols := interpolate(p.Cols*t.cfg.Merge, side)
	w := t.cfg.Hidden
	out := make([]float32, p.Tokens()*t.cfg.Merge*t.cfg.Merge*w)
	for i := range len(out) / w {
		y, x := t.processor.place(p, i)
		dst := out[i*w : (i+1)*w]
		for _, r := range rows[y] {
			for _, c := range cols[x] {
				share := r.share * c.share
				for k, v := range t.positions[(r.at*side+c.at)*w:][:w] {
					dst[k] += share * v
				}
			}
		}
	}
	return out
}

// corner is a table row or column and its share.
type corner struct {
	at    int
	share float32
}

// interpolate spreads n points over a table of the given side.
func interpolate(n, side int) [][2]corner {
	out := make([][2]corner, n)
	for i := range out {
		at := float32(i) * float32(side-1) / float32(max(n-1, 1))
		low := int(at)
		part := at - float32(low)
		out[i] = [2]corner{{low, 1 - part}, {min(low+1, side-1), part}}
	}
	return out
}
