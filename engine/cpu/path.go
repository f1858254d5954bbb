package cpu

import (
	"fmt"
	"os"
	"strings"

	"clefbar/engine"
)

// shape is what drivers need to know about a path.
type shape struct {
	mr, nr, vw int // rows and columns of a tile, floats in a vector
	taskRows   int // most rows of a task, so that a cancelled run stops in time
	dotBF16    bool
	dotInt8    bool
}

// path is one set of kernels. Row kernels work on rows [from, to); a task's scratch memory is
// its alone.
type path interface {
	name() string
	shape() shape
	gemm(g *gemm, m0, m1, n0, n1 int, scratch []byte)
	toBF16(x mat, dst []byte, stride, from, to int)
	toRounded(x mat, dst []byte, stride, from, to int)
	toInt8(x mat, p *prepared, from, to int)
	add(dst, x mat, from, to int)
	rmsNorm(dst, x mat, w []float32, eps float32, from, to int)
	layerNorm(dst, x mat, w, b []float32, eps float32, from, to int)
	conv(dst, x, taps, history mat, from, to int)
	gates(g, beta, a, b mat, aLog, dt []float32, from, to int)
	normGate(dst, o, z mat, w []float32, eps float32, from, to int)
	prep(p *prep, from, to int)
	delta(d *delta, head int, scratch []byte)
	absorb(dst, q mat, k *weight, head, dim int, scratch []byte)
	attend(a *attend, kvHead, from, to int, scratch []byte)
	math(which int, dst, x []float32)
	peak(f form, loops int) float64
}

// candidate is a path and its name in CLEFBAR_CPU.
type candidate struct {
	key  string
	path path
}

// choosePath returns the best path of this processor, or the one that CLEFBAR_CPU names.
func choosePath() (path, error) {
	list := append(nativePaths(), candidate{"go", goPath{}})
	list = append(list, systemLibraries(list[0].path)...)
	name := os.Getenv("CLEFBAR_CPU")
	if name == "" {
		return list[0].path, nil
	}
	var have []string
	for _, c := range list {
		if c.key == name {
			return c.path, nil
		}
		have = append(have, c.key)
	}
	return nil, &engine.Error{
		Reason:  engine.BadUsage,
		Message: fmt.Sprintf("CLEFBAR_CPU=%s is not available here: use one of %s", name, strings.Join(have, ", ")),
	}
}
