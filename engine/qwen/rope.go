package qwen

import (
	"math"

	"clefbar/engine/backend"
	"clefbar/models"
)

// Position is a token's place on the time, height and width axis. Text tokens have
// three equal numbers.
type Position [3]int32

// axes assigns an axis to each rotary frequency, interleaved as M-RoPE wants it:
// time everywhere, then height at 1, 4, 7, … and width at 2, 5, 8, … as far as
// their sections reach (clef.md 4.7).
func axes(c *models.Config) []int {
	out := make([]int, c.Rotary/2)
	for axis := 1; axis <= 2; axis++ {
		for i := axis; i < min(3*c.Sections[axis], len(out)); i += 3 {
			out[i] = axis
		}
	}
	return out
}

// angles returns the cosines and sines of all tokens, (T, Rotary/2) each. The angle
// is one float32 product, as in the reference.
func (m *Model) angles(pos []Position) (cos, sin backend.Buffer) {
	axis := axes(m.cfg)
	half := len(axis)
	inv := make([]float32, half)
	for i := range inv {
		exponent := float32(2*i) / float32(m.cfg.Rotary)
		inv[i] = 1 / float32(math.Pow(m.cfg.RopeTheta, float64(exponent)))
	}
	cs, sn := make([]float32, len(pos)*half), make([]float32, len(pos)*half)
	for t, p := range pos {
		for i, a := range axis {
			s, c := math.Sincos(float64(float32(p[a]) * inv[i]))
			cs[t*half+i], sn[t*half+i] = float32(c), float32(s)
		}
	}
	cos, sin = m.b.New(len(pos), half, backend.Exact), m.b.New(len(pos), half, backend.Exact)
	m.b.Write(cos, cs)
	m.b.Write(sin, sn)
	return cos, sin
}

// Grid is a run of image tokens: merged patches, row by row from token At on.
type Grid struct{ At, Rows, Cols int }

// Positions numbers n tokens among which images stand, in order (clef.md 4.8). The
// tokens of an image share one time; the text behind it goes on after its longer side.
func Positions(n int, images []Grid) []Position {
	out := make([]Position, 0, n)
	var next int32
	text := func(to int) {
		for len(out) < to {
			out = append(out, Position{next, next, next})
			next++
		}
	}
	for _, g := range images {
		text(g.At)
		for i := range g.Rows * g.Cols {
			out = append(out, Position{next, next + int32(i/g.Cols), next + int32(i%g.Cols)})
		}
		next += int32(max(g.Rows, g.Cols))
	}
	text(n)
	return out
}
