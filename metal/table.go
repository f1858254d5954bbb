package metal

import (
	"slices"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// Unit is what multiplies matrices.
type Unit string

// The units. Products of one unit have the same bits with every tile of it; products of
// different units agree to about seventeen bits.
const (
	Simdgroups  Unit = ""       // gemm.metal, on every GPU
	Direct      Unit = "direct" // direct.metal, for dense weights: the bits of Simdgroups
	TensorUnits Unit = "tensor" // tensor.metal, on an M5 with macOS 26.2
	System      Unit = "system" // MPSMatrixMultiplication on weights expanded to float32
)

// Table says how a matrix product is computed, by the number of rows. Rules are in order
// of rows; the last serves the rest.
type Table struct {
	Rules []Rule `json:"rules"`
	Dense []Rule `json:"dense,omitempty"` // for weights that are not codes; none: as Rules says
}

// Rule is the choice for products of at most Rows rows.
type Rule struct {
	Rows int          `json:"rows"`
	Tile kernels.Tile `json:"tile"` // no meaning for System
	Unit Unit         `json:"unit,omitempty"`
}

// The tiles of gemm.metal. Slim ones are for few rows: more threadgroups share the
// weights and each has more of the depth under way. Large ones expand a quantised weight
// for more rows at once (metal.md 3.3, 3.4).
var (
	tileFew   = kernels.Tile{BM: 8, BN: 32, BK: 64, WM: 1, WN: 2}
	tileSlim  = kernels.Tile{BM: 32, BN: 32, BK: 64, WM: 2, WN: 2}
	tileShort = kernels.Tile{BM: 32, BN: 64, BK: 32, WM: 2, WN: 2}
	tileTall  = kernels.Tile{BM: 64, BN: 64, BK: 32, WM: 2, WN: 2}
	tileBig   = kernels.Tile{BM: 128, BN: 64, BK: 32, WM: 4, WN: 2}
	tileWide  = kernels.Tile{BM: 64, BN: 128, BK: 32, WM: 2, WN: 4}
	tileFlat  = kernels.Tile{BM: 64, BN: 64, BK: 16, WM: 2, WN: 2}
	tileAhead = kernels.Tile{BM: 64, BN: 64, BK: 32, WM: 2, WN: 2, Ahead: true}
	tileReach = kernels.Tile{BM: 128, BN: 64, BK: 16, WM: 4, WN: 2, Ahead: true}
)

// The tiles of tensor.metal: two halves of BN/2 columns, each spread over all simdgroups.
var (
	tensorShort = kernels.Tile{BM: 32, BN: 64, BK: 32, WM: 1, WN: 2}
	tensorTall  = kernels.Tile{BM: 64, BN: 128, BK: 32, WM: 2, WN: 2}
	tensorBig   = kernels.Tile{BM: 128, BN: 64, BK: 32, WM: 4, WN: 1}
)

// The tiles of direct.metal. BK is the step of the depth that all fragments have.
var (
	directOne = kernels.Tile{BM: 32, BN: 32, BK: 8, WM: 1, WN: 1}
	directTwo = kernels.Tile{BM: 64, BN: 32, BK: 8, WM: 2, WN: 1}
)

// DirectTiles are the tiles of direct.metal that the autotuner times.
func DirectTiles() []kernels.Tile { return []kernels.Tile{directOne, directTwo} }

// Tiles are the tiles of gemm.metal that the autotuner times.
func Tiles() []kernels.Tile {
	return []kernels.Tile{tileFew, tileSlim, tileShort, tileTall, tileBig, tileWide, tileFlat, tileAhead, tileReach}
}

// TensorTiles are the tiles of tensor.metal that the autotuner times, the reference first.
func TensorTiles() []kernels.Tile { return []kernels.Tile{tensorTall, tensorShort, tensorBig} }

// Shipped returns the table for GPUs that have not been tuned: guesses from public
// measurements of similar kernels, not measurements of ours.
func Shipped() *Table {
	return &Table{Rules: []Rule{
		{Rows: 8, Tile: tileFew},
		{Rows: 96, Tile: tileSlim},
		{Rows: 768, Tile: tileTall},
		{Rows: 1 << 30, Tile: tileBig},
	}}
}

// ShippedTensor is Shipped for GPUs whose tensor units have passed the test at start.
func ShippedTensor() *Table {
	return &Table{Rules: []Rule{
		{Rows: 40, Tile: tensorShort, Unit: TensorUnits},
		{Rows: 1 << 30, Tile: tensorTall, Unit: TensorUnits},
	}}
}

// Choose returns the rule for a product with that many rows by dense weights or by codes.
func (t *Table) Choose(rows int, dense bool) Rule {
	list := t.Rules
	if dense && len(t.Dense) > 0 {
		list = t.Dense
	}
	for _, r := range list {
		if rows <= r.Rows {
			return r
		}
	}
	return Rule{Rows: 1 << 30, Tile: tileTall}
}

// String returns the choice as "64x64x32 2x2", "tensor 64x128x32 2x2" or "system".
func (r Rule) String() string {
	switch r.Unit {
	case Simdgroups:
		return r.Tile.String()
	case System:
		return string(System)
	}
	return string(r.Unit) + " " + r.Tile.String()
}

// candidates are the rules that the autotuner times for a size on a GPU.
func candidates(i gpu.Info, s TuneSize) (list []Rule) {
	for _, tile := range Tiles() {
		list = append(list, Rule{Tile: tile})
	}
	if i.Tensor {
		for _, tile := range TensorTiles() {
			list = append(list, Rule{Tile: tile, Unit: TensorUnits})
		}
	}
	if s.Dense {
		for _, tile := range DirectTiles() {
			list = append(list, Rule{Tile: tile, Unit: Direct})
		}
	}
	if i.Products && s.Rows >= systemRows {
		list = append(list, Rule{Unit: System})
	}
	return list
}

// known reports whether a stored rule can be used on a GPU.
func (r Rule) known(i gpu.Info) bool {
	switch r.Unit {
	case Simdgroups:
		return slices.Contains(Tiles(), r.Tile)
	case Direct:
		return slices.Contains(DirectTiles(), r.Tile)
	case TensorUnits:
		return i.Tensor && slices.Contains(TensorTiles(), r.Tile)
	case System:
		return i.Products
	}
	return false
}
