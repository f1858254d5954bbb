package qwen

import (
	"clefbar/engine/backend"
	"clefbar/models"
)

// Rows that pass through a layer at a time: as many as scratchBytes holds, for products
// over many rows are the efficient ones, but within bounds.
const (
	scratchBytes = 96 << 20
	leastRows    = 256
	mostRows     = 1024
	rowStep      = 64
)

// blockRows returns the rows of a block for a configuration.
func blockRows(c *models.Config) int {
	queries, values := c.Heads*c.HeadDim, c.ValueHeads*c.ValueDim
	widths := c.Hidden + c.MLP + 2*c.QKV() + 3*max(queries, values) + 2*queries + c.KVHeads*c.HeadDim
	return min(max(scratchBytes/(4*widths)/rowStep*rowStep, leastRows), mostRows)
}

// evenRows returns the rows of each block when n rows pass through in as few blocks of at most
// most rows as they need: equal blocks take less memory than full ones and a rest.
func evenRows(n, most int) int {
	blocks := (n + most - 1) / most
	return min(((n+blocks-1)/blocks+rowStep-1)/rowStep*rowStep, most, n)
}

// scratch holds the intermediates of one block of rows. A phase of a layer takes what
// it needs and gives it back, so buffers are shared by all layers and by all phases
// that need the same width, and memory does not grow with the depth of the model.
type scratch struct {
	b    backend.Backend
	rows int
	free map[shape][]backend.Buffer
	all  []backend.Buffer
}

type shape struct {
	cols   int
	format backend.Format
}

func newScratch(b backend.Backend, rows int) *scratch {
	return &scratch{b: b, rows: rows, free: map[shape][]backend.Buffer{}}
}

// taken is what one phase holds.
type taken struct {
	s    *scratch
	held map[shape][]backend.Buffer
}

// phase starts to take buffers; end gives them back.
func (s *scratch) phase() *taken { return &taken{s, map[shape][]backend.Buffer{}} }

func (t *taken) work(cols int) backend.Buffer  { return t.take(shape{cols, backend.Work}) }
func (t *taken) exact(cols int) backend.Buffer { return t.take(shape{cols, backend.Exact}) }

func (t *taken) take(k shape) backend.Buffer {
	var x backend.Buffer
	if spare := t.s.free[k]; len(spare) > 0 {
		x = spare[len(spare)-1]
		t.s.free[k] = spare[:len(spare)-1]
	} else {
		x = t.s.b.New(t.s.rows, k.cols, k.format)
		t.s.all = append(t.s.all, x)
	}
	t.held[k] = append(t.held[k], x)
	return x
}

func (t *taken) end() {
	for k, list := range t.held {
		t.s.free[k] = append(t.s.free[k], list...)
	}
}

// release frees everything.
func (s *scratch) release() { s.b.Free(s.all...) }
