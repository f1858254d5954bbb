package cpu

import (
	"fmt"
	"math"
	"strings"

	"clefbar/engine"
	"clefbar/engine/backend"
	"clefbar/models"
)

// codes stands for quantised storage beside the dense types of package models.
const codes = models.DType(4)

// weight is a tensor as kernels see it: a matrix in its stored bytes, or a vector as
// float32.
type weight struct {
	shape      []int
	rows, cols int

	data, scales, biases []byte
	dtype, groupType     models.DType // dtype is codes when bits > 0
	bits, group          int
	delicate             bool // products with it are never of bytes
	rowBytes, groupBytes int

	vector []float32 // Vector: all elements, padded to whole vectors
	taps   mat       // (K, C), made on first use by CausalConv
}

func (w *weight) Shape() []int { return w.shape }

// delicateName marks the projections of the gated delta rule. Its state sums up what goes in
// over the whole sequence: with bytes there, probabilities of the golden 4-bit case move
// by up to 0.08, without by 0.03.
const delicateName = ".linear_attn."

// bytesFit reports whether the weight may be multiplied with bytes.
func (w *weight) bytesFit() bool { return w.bits > 0 && !w.delicate }

// Load takes a view of a tensor. Matrices and tables stay where they are, in their stored
// form; vectors are copied. A tensor whose bytes do not fit its shape is refused.
func (c *CPU) Load(t models.Tensor, use backend.Use) (backend.Weight, error) {
	w, err := describe(t)
	if err != nil {
		return nil, &engine.Error{Reason: engine.BadModel, Message: fmt.Sprintf("tensor %q: %v", t.Name, err)}
	}
	if use == backend.Vector {
		return w, c.unpackVector(w)
	}
	for _, b := range [][]byte{w.data, w.scales, w.biases} {
		if len(b) > 0 {
			c.pins.Pin(&b[0])
		}
	}
	return w, nil
}

// unpackVector converts all elements to float32.
func (c *CPU) unpackVector(w *weight) error {
	n := w.rows * w.cols
	b, err := c.mem.get(strideFor(n) * 4)
	if err != nil {
		return err
	}
	clear(b)
	w.vector = b[:n:len(b)]
	for r := range w.rows {
		w.decodeRow(w.vector[r*w.cols:(r+1)*w.cols], r)
	}
	w.data, w.scales, w.biases = nil, nil, nil
	return nil
}

// describe checks a tensor and fills in the layout. Dimensions after the first are one
// row: a convolution's (C, 1, K) is (C, K).
func describe(t models.Tensor) (*weight, error) {
	w := &weight{shape: t.Shape, rows: 1, cols: 1, data: t.Data, dtype: t.DType, delicate: strings.Contains(t.Name, delicateName)}
	total := 1
	for i, n := range t.Shape {
		if n < 0 || (n > 0 && total > math.MaxInt/8/n) {
			return nil, fmt.Errorf("shape %v is impossible", t.Shape)
		}
		total *= n
		if i == 0 && len(t.Shape) > 1 {
			w.rows = n
		} else {
			w.cols *= n
		}
	}
	if t.Quant != nil {
		return w, w.describeQuant(t)
	}
	size := elementSize(t.DType)
	if size == 0 {
		return nil, fmt.Errorf("element type %d is not a number type of weights", t.DType)
	}
	w.rowBytes = w.cols * size
	if len(t.Data) != w.rows*w.rowBytes {
		return nil, fmt.Errorf("%d bytes for shape %v, want %d", len(t.Data), t.Shape, w.rows*w.rowBytes)
	}
	return w, nil
}

func elementSize(d models.DType) int {
	switch d {
	case models.F32:
		return 4
	case models.BF16, models.F16:
		return 2
	}
	return 0
}

func (w *weight) describeQuant(t models.Tensor) error {
	q := t.Quant
	w.dtype, w.bits, w.group, w.groupType = codes, q.Bits, q.Group, q.Scales.DType
	w.scales, w.biases = q.Scales.Data, q.Biases.Data
	switch q.Bits {
	case 2, 3, 4, 5, 6, 8:
	default:
		return fmt.Errorf("codes of %d bits are not supported", q.Bits)
	}
	switch q.Group {
	case 32, 64, 128:
	default:
		return fmt.Errorf("groups of %d are not supported", q.Group)
	}
	size := elementSize(w.groupType)
	if size == 0 || q.Biases.DType != w.groupType {
		return fmt.Errorf("scales and biases of types %d and %d are not supported", q.Scales.DType, q.Biases.DType)
	}
	if w.cols%q.Group != 0 {
		return fmt.Errorf("%d columns are no multiple of the group, %d", w.cols, q.Group)
	}
	w.rowBytes, w.groupBytes = w.cols*q.Bits/8, w.cols/q.Group*size
	if len(t.Data) != w.rows*w.rowBytes {
		return fmt.Errorf("%d bytes of codes, want %d", len(t.Data), w.rows*w.rowBytes)
	}
	if n := w.rows * w.groupBytes; len(w.scales) != n || len(w.biases) != n {
		return fmt.Errorf("%d and %d bytes of scales and biases, want %d", len(w.scales), len(w.biases), n)
	}
	return nil
}

// vectorOf returns a Vector weight's elements, with room up to a whole kernel vector behind
// them, or nil.
func vectorOf(w backend.Weight) []float32 {
	if w == nil {
		return nil
	}
	return w.(*weight).vector
}
