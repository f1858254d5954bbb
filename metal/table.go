package metal

import "clefbar/metal/kernels"

// Table says which tile a matrix product uses, by the number of rows. All tiles
// give the same bits, so a table changes speed only.
type Table struct {
	Rules []Rule `json:"rules"` // in order of rows; the last serves the rest
}

// Rule is a tile for products of at most Rows rows.
type Rule struct {
	Rows int          `json:"rows"`
	Tile kernels.Tile `json:"tile"`
}

// The tiles that exist. Small ones fill the GPU when there are few rows, large ones
// expand a quantised weight for more rows at once (metal.md 3.3, 3.4).
var (
	tileShort = kernels.Tile{BM: 32, BN: 64, BK: 32, WM: 2, WN: 2}
	tileTall  = kernels.Tile{BM: 64, BN: 64, BK: 32, WM: 2, WN: 2}
	tileBig   = kernels.Tile{BM: 128, BN: 64, BK: 32, WM: 4, WN: 2}
	tileWide  = kernels.Tile{BM: 64, BN: 128, BK: 32, WM: 2, WN: 4}
	tileFlat  = kernels.Tile{BM: 64, BN: 64, BK: 16, WM: 2, WN: 2}
)

// Tiles are the candidates of the autotuner.
func Tiles() []kernels.Tile { return []kernels.Tile{tileShort, tileTall, tileBig, tileWide, tileFlat} }

// Shipped returns the table for GPUs that have not been tuned: guesses from public
// measurements of similar kernels, not measurements of ours.
func Shipped() *Table {
	return &Table{Rules: []Rule{{Rows: 40, Tile: tileShort}, {Rows: 768, Tile: tileTall}, {Rows: 1 << 30, Tile: tileBig}}}
}

// Choose returns the tile for a product with that many rows.
func (t *Table) Choose(rows int) kernels.Tile {
	for _, r := range t.Rules {
		if rows <= r.Rows {
			return r.Tile
		}
	}
	return tileTall
}
