package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"clefbar/engine/backend"
	"clefbar/models"
)

// The product that Pace measures: a block of rows times one matrix of the width of the released models.
const (
	paceRows  = 512
	paceIn    = 4096
	paceOut   = 2048
	paceGroup = 64
)

// PaceLayouts are the stored forms that Pace measures.
var PaceLayouts = []string{"bf16", "8-bit", "4-bit"}

// Pace measures how many multiplications and additions a second a backend does in matrix products with
// weights stored in each of PaceLayouts. It takes about a second and as many processors as the backend has.
func Pace(ctx context.Context, b backend.Backend) (map[string]float64, error) {
	rates := map[string]float64{}
	x, dst := b.New(paceRows, paceIn, backend.Work), b.New(paceRows, paceOut, backend.Work)
	defer b.Free(x, dst)
	for _, layout := range PaceLayouts {
		w, err := b.Load(paceWeight(layout), backend.Matrix)
		if err != nil {
			return nil, fmt.Errorf("measure products: %w", err)
		}
		best := time.Duration(0)
		for range 3 {
			b.Begin(ctx)
			began := time.Now()
			b.Linear([]backend.Buffer{dst}, x, []backend.Weight{w}, nil, backend.None)
			if err := b.Sync(); err != nil {
				return nil, fmt.Errorf("measure products: %w", err)
			}
			if took := time.Since(began); best == 0 || took < best {
				best = took
			}
		}
		if best <= 0 {
			return nil, errors.New("measure products: the clock stands still")
		}
		rates[layout] = 2 * paceRows * paceIn * paceOut / best.Seconds()
	}
	return rates, nil
}

// paceWeight makes a matrix of small numbers in a stored form.
func paceWeight(layout string) models.Tensor {
	halves := func(n int) []byte { // bfloat16 0.0078125
		data := make([]byte, 2*n)
		for i := 1; i < len(data); i += 2 {
			data[i] = 0x3c
		}
		return data
	}
	if layout == "bf16" {
		return models.Tensor{Name: "pace", DType: models.BF16, Shape: []int{paceOut, paceIn}, Data: halves(paceOut * paceIn)}
	}
	bits := 8
	if layout == "4-bit" {
		bits = 4
	}
	codes := make([]byte, paceOut*paceIn*bits/8)
	for i := range codes {
		codes[i] = byte(i * 37)
	}
	affine := func() models.Tensor {
		const groups = paceIn / paceGroup
		return models.Tensor{Name: "pace", DType: models.BF16, Shape: []int{paceOut, groups}, Data: halves(paceOut * groups)}
	}
	return models.Tensor{
		Name: "pace", DType: models.U32, Shape: []int{paceOut, paceIn}, Data: codes,
		Quant: &models.Quant{Bits: bits, Group: paceGroup, Scales: affine(), Biases: affine()},
	}
}
