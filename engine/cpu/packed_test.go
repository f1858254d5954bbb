package cpu

import (
	"math"
	"slices"
	"testing"

	"clefbar/engine/backend"
	"clefbar/models"
)

// contents reads a buffer.
func contents(t *testing.T, c *CPU, x backend.Buffer) []float32 {
	t.Helper()
	out := make([]float32, x.Rows()*x.Cols())
	if err := c.Read(out, x); err != nil {
		t.Fatal(err)
	}
	return out
}

// matrix loads random bfloat16 weights.
func matrix(t *testing.T, c *CPU, seed uint64, out, in int) backend.Weight {
	t.Helper()
	w, err := c.Load(dense(newSource(seed).floats(out*in), models.BF16, out, in), backend.Matrix)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestHalvedRows keeps what SwiGLU wrote as bfloat16 readable as float32, from the buffer and from
// other views of its memory; products are the same whether it was read between or not.
func TestHalvedRows(t *testing.T) {
	eachPath(t, BF16, func(t *testing.T, c *CPU) {
		const rows, in, wide, at = 37, 64, 96, 18
		gate, up, down := matrix(t, c, 1, wide, in), matrix(t, c, 2, wide, in), matrix(t, c, 3, in, wide)
		x, whole := c.New(rows, in, backend.Work), c.New(2*rows, wide, backend.Work)
		c.Write(x, newSource(4).floats(rows*in))
		part := whole.Slice(at, at+rows)
		product := func(read bool) []float32 {
			c.SwiGLU(part, x, gate, up)
			if read {
				contents(t, c, part)
			}
			dst := c.New(rows, in, backend.Exact)
			c.LinearAdd(dst, part, down, nil)
			return contents(t, c, dst)
		}
		if !slices.Equal(product(false), product(true)) {
			t.Error("a product of the rows changes when they were read before")
		}
		c.SwiGLU(part, x, gate, up)
		seen := contents(t, c, whole)[at*wide : (at+rows)*wide]
		own := contents(t, c, part)
		if !slices.Equal(seen, own) {
			t.Error("another view of the rows reads something else")
		}
		exact := c.New(rows, wide, backend.Exact)
		c.SwiGLU(exact, x, gate, up)
		for i, want := range contents(t, c, exact) {
			if d := math.Abs(float64(own[i] - want)); !(d <= math.Abs(float64(want))/200) {
				t.Fatalf("element %d: got %v, want %v", i, own[i], want)
			}
		}
		c.SwiGLU(part, x, gate, up)
		c.Write(whole.Slice(0, at+1), make([]float32, (at+1)*wide))
		after := contents(t, c, part)
		if !slices.Equal(after[wide:], own[wide:]) {
			t.Error("rows beside overwritten ones changed")
		}
		if !slices.Equal(after[:wide], make([]float32, wide)) {
			t.Error("an overwritten row kept what it was")
		}
	})
}

// TestPackedRows forgets what RMSNorm prepared for products as soon as somebody changes the rows,
// through whatever view.
func TestPackedRows(t *testing.T) {
	eachPath(t, BF16, func(t *testing.T, c *CPU) {
		const rows, in, out = 9, 64, 32
		w := matrix(t, c, 1, out, in)
		ones := make([]float32, in)
		for i := range ones {
			ones[i] = 1
		}
		norm, err := c.Load(dense(ones, models.F32, in), backend.Vector)
		if err != nil {
			t.Fatal(err)
		}
		x, whole := c.New(rows, in, backend.Exact), c.New(rows+1, in, backend.Work)
		c.Write(x, newSource(2).floats(rows*in))
		normed, dst := whole.Slice(0, rows), c.New(rows, out, backend.Work)
		product := func(change func()) []float32 {
			c.RMSNorm(normed, x, norm, 1e-6)
			change()
			c.Linear([]backend.Buffer{dst}, normed, []backend.Weight{w}, nil, backend.None)
			return contents(t, c, dst)
		}
		plain := product(func() {})
		if !slices.Equal(plain, product(func() { contents(t, c, whole) })) {
			t.Error("reading the rows changes a product of them")
		}
		cleared := make([]float32, rows*out)
		if got := product(func() { c.Write(whole, make([]float32, (rows+1)*in)) }); !slices.Equal(got, cleared) {
			t.Error("a product uses rows from before they were overwritten")
		}
		twice := product(func() { c.Add(normed, normed) })
		for i, v := range twice {
			if d := math.Abs(float64(v - 2*plain[i])); !(d <= 1e-5) {
				t.Fatalf("element %d of the product of doubled rows: got %v, want %v", i, v, 2*plain[i])
			}
		}
	})
}
