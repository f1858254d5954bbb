package metal

import (
	"context"
	"fmt"

	"clefbar/metal/gpu"
)

// rule chooses how a product is computed. Rules of units that cannot compute it give way
// to the shipped tiles.
func (b *Backend) rule(p product) Rule {
	m, dense := p.x.Rows(), p.dense()
	r := b.table.Choose(m, dense)
	if r.Unit == TensorUnits && b.noTensor != nil || r.Unit == System && (b.noSystem || !p.plain()) || r.Unit == Direct && (b.noDirect || !b.direct(p)) {
		return Shipped().Choose(m, dense)
	}
	return r
}

// dense reports whether no weight of a product has codes.
func (p product) dense() bool {
	for _, w := range p.w {
		if w.bits > 0 {
			return false
		}
	}
	return true
}

// direct reports whether direct.metal can make a product: all weights are stored in the
// one type that they are multiplied as.
func (b *Backend) direct(p product) bool {
	for _, w := range p.w {
		if w.bits > 0 || w.format != p.w[0].format {
			return false
		}
	}
	as := map[uint32]int{formatHalf: operandHalf, formatBfloat: operandBfloat, formatFloat: operandFloat}
	return p.x.cols%8 == 0 && as[p.w[0].format] == b.operands(p, p.w[0].format)
}

// onTensor reports whether products run on tensor units.
func (b *Backend) onTensor() bool {
	return b.noTensor == nil && b.table.Choose(blockRows, false).Unit == TensorUnits
}

// refuseTensor remembers that the tensor units' kernels do not compile or are wrong.
func (b *Backend) refuseTensor(err error) { b.noTensor = err }

// passes is how often a tensor unit multiplies for one product of float numbers: both
// halves of x by weights that are exact, and by the lower half of weights that are not.
func passes(weights int) int {
	if weights == operandFloat {
		return 3
	}
	return 2
}

// unitError is the most that products of other units may differ from those of simdgroups,
// relative to the largest number: two bfloats have 17 bits.
const unitError = 1e-4

// TensorTest compares the tensor units' products with those of simdgroups. It returns nil
// if they can be used, else the reason why not: usually what the system's compiler says.
func TensorTest(ctx context.Context, dev gpu.Device) error {
	if !dev.Info().Tensor {
		return fmt.Errorf("%s has no tensor units, or the system is older than macOS 26.2", dev.Info().Name)
	}
	var rules []Rule
	for _, tile := range TensorTiles() {
		rules = append(rules, Rule{Tile: tile, Unit: TensorUnits})
	}
	return compareRules(ctx, dev, rules)
}

// systemTest compares the system's products with those of simdgroups.
func systemTest(ctx context.Context, dev gpu.Device) error {
	if !dev.Info().Products {
		return fmt.Errorf("%s has none", dev.Info().Name)
	}
	return compareRules(ctx, dev, []Rule{{Unit: System}})
}

// compareRules computes a small product by each rule and by the reference tile.
func compareRules(ctx context.Context, dev gpu.Device, rules []Rule) error {
	t, err := newTrial(dev, TuneSize{Rows: 40, Depth: 128, Outputs: 96})
	if err != nil {
		return err
	}
	defer t.close()
	want, _, err := t.run(ctx, Rule{Tile: tileTall})
	if err != nil {
		return err
	}
	for _, r := range rules {
		got, _, err := t.run(ctx, r)
		if err != nil {
			return err
		}
		if d := differ(got, want); d > unitError {
			return fmt.Errorf("%v differs from simdgroups by %.1e, at most %.0e is right", r, d, unitError)
		}
	}
	return nil
}
