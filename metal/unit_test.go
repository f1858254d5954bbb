package metal

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/metal/emu"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// products are the scenarios of matrix products.
func products() []scenario {
	return slices.DeleteFunc(scenarios(), func(c scenario) bool {
		return !slices.Contains([]string{"linear dense", "linear codes", "linear ragged", "feed forward", "head layer"}, c.name)
	})
}

// TestTensorUnits compares products on emulated tensor units with the oracle, with every
// tile, in every way to run them: the same bits each time.
func TestTensorUnits(t *testing.T) {
	t.Parallel()
	for _, c := range products() {
		t.Run(c.name, func(t *testing.T) {
			want, err := c.attempt(scalar.New())
			if err != nil {
				t.Fatal(err)
			}
			var first []float32
			for _, w := range tensorWays() {
				w.Family = gpu.Apple10
				b, dev := emulated(t, w.DeviceOptions)
				b.table = &Table{Rules: []Rule{{Rows: 1 << 30, Tile: w.tile, Unit: TensorUnits}}}
				before := dev.Ran()["gemm"]
				got, err := c.attempt(b)
				if err != nil {
					t.Fatalf("%s, %v: %v", w.name, w.tile, err)
				}
				if ran := dev.Ran(); b.noTensor != nil || ran["gemm"] != before || ran["gemm_tensor"] == 0 {
					t.Fatalf("%s: products did not run on tensor units: %v, %v", w.name, b.noTensor, ran)
				}
				if d := differ(got, want); d > max(c.within, unitError) {
					t.Fatalf("%s, %v: differs from the oracle by %g, want at most %g", w.name, w.tile, d, max(c.within, unitError))
				}
				if first == nil {
					t.Logf("differs from the oracle by %.1e", differ(got, want))
					first = got
				} else if !sameBits(first, got) {
					t.Errorf("%s, %v: other bits than the first way", w.name, w.tile)
				}
			}
		})
	}
}

// tensorWay is a way to run kernels with a tile.
type tensorWay struct {
	way
	tile kernels.Tile
}

// tensorWays are all tiles, and the smallest in every order and instrumented.
func tensorWays() (list []tensorWay) {
	for _, tile := range TensorTiles() {
		list = append(list, tensorWay{way{"fast forward", emu.DeviceOptions{}}, tile})
	}
	for _, w := range ways()[1:] {
		list = append(list, tensorWay{w, tensorShort})
	}
	return list
}

// TestTensorUnitsByDefault: a GPU that has them and passes the test at start uses them; one
// whose compiler refuses the library, or whose numbers are wrong, loses nothing.
func TestTensorUnitsByDefault(t *testing.T) {
	run := func(family gpu.Family, mutate func(source string) string) (*Backend, []float32) {
		b, _ := emulated(t, emu.DeviceOptions{Family: family, Mutate: func(l kernels.Library, source string) string {
			if l.Tensor() && mutate != nil {
				return mutate(source)
			}
			return source
		}})
		got, err := chain(newScene(b))
		if err != nil {
			t.Fatal(err)
		}
		return b, got
	}
	plain, want := run(gpu.Apple9, nil)
	if plain.table.Rules[0].Unit != Simdgroups {
		t.Errorf("Apple9: got %v, want simdgroups", plain.table.Rules[0])
	}
	b, got := run(gpu.Apple10, nil)
	if b.table.Rules[0].Unit != TensorUnits || b.noTensor != nil || !strings.Contains(b.Info().Detail, "tensor units") {
		t.Errorf("Apple10: got %v, %v, want tensor units", b.table.Rules[0], b.noTensor)
	}
	if d := differ(got, want); d > 1e-4 || d == 0 {
		t.Errorf("Apple10: differs from simdgroups by %g, want a little", d)
	}
	for what, mutate := range map[string]func(string) string{
		"refused by the compiler": func(string) string { return "#error refused\n" },
		"wrong numbers": func(s string) string {
			return strings.ReplaceAll(s, "multiply.run(low, first, sum)", "multiply.run(high, first, sum)")
		},
	} {
		b, got := run(gpu.Apple10, mutate)
		if b.noTensor == nil || b.table.Rules[0].Unit != Simdgroups || !sameBits(got, want) { // nothing else changes
			t.Errorf("%s: got %v, %v, want simdgroups and their numbers", what, b.table.Rules[0], b.noTensor)
		}
	}
}

// TestTensorUnitsRefusedLater: a table that wants tensor units does no harm where they do not compile.
func TestTensorUnitsRefusedLater(t *testing.T) {
	dev, err := emu.NewDevice(emu.DeviceOptions{Family: gpu.Apple10, Mutate: func(l kernels.Library, source string) string {
		if l.Tensor() {
			return "#error refused\n"
		}
		return source
	}})
	if err != nil {
		t.Skip(err)
	}
	b, err := New(dev, Options{Table: ShippedTensor()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, err := chain(newScene(b)); err != nil || b.noTensor == nil {
		t.Errorf("got error %v, reason %v, want a run on simdgroups", err, b.noTensor)
	}
	table, timings, err := Tune(context.Background(), dev, []TuneSize{{33, 128, 64, false}, {33, 128, 64, true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range timings {
		if (m.Wrong != "") != (m.Rule.Unit == TensorUnits) {
			t.Errorf("%v: got %q", m.Rule, m.Wrong)
		}
	}
	if table.Rules[0].Unit != Simdgroups {
		t.Errorf("got table %v, want simdgroups", table)
	}
	if r := SelfTest(context.Background(), dev); !r.OK() || !strings.Contains(r.String(), "tensor units               ok      not used: ") {
		t.Errorf("got report\n%s\nwant a note that tensor units are not used", r)
	}
}

// TestSystemProducts compares products that the system makes, on weights that were
// expanded in pieces, with the oracle. What it cannot make stays with the tiles.
func TestSystemProducts(t *testing.T) {
	t.Parallel()
	for _, mode := range []emu.Mode{emu.Fast, emu.Checked} {
		for _, c := range products() {
			want, err := c.attempt(scalar.New())
			if err != nil {
				t.Fatal(err)
			}
			b, dev := emulated(t, emu.DeviceOptions{Options: emu.Options{Mode: mode}, Products: true, Order: emu.Seeded, Seed: 4})
			b.table = &Table{Rules: []Rule{{Rows: 1 << 30, Unit: System}}}
			got, err := c.attempt(b)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if d := differ(got, want); d > c.within {
				t.Errorf("%s: differs from the oracle by %g, want at most %g", c.name, d, c.within)
			}
			if dev.Ran()["product"] == 0 {
				t.Errorf("%s: no product ran: %v", c.name, dev.Ran())
			}
		}
	}
}

// TestSystemProductsAgain: a run with products of the system is repeated like others.
func TestSystemProductsAgain(t *testing.T) {
	failures := 0
	b, _ := emulated(t, emu.DeviceOptions{Products: true, Fail: func(list []gpu.Dispatch) error {
		for _, d := range list {
			if d.Product != nil && failures == 0 {
				failures++
				return gpu.ErrTimeout
			}
		}
		return nil
	}})
	calm, _ := emulated(t, emu.DeviceOptions{Products: true})
	b.table = &Table{Rules: []Rule{{Rows: 1 << 30, Unit: System}}}
	calm.table = b.table
	want, err := chain(newScene(calm))
	if err != nil {
		t.Fatal(err)
	}
	got, err := chain(newScene(b))
	if err != nil || failures != 1 || !sameBits(got, want) {
		t.Errorf("got error %v after %d failures, want the numbers of a calm run", err, failures)
	}
}

// TestTuneTriesEveryUnit: a GPU with all units has candidates of all, and all are right.
func TestTuneTriesEveryUnit(t *testing.T) {
	t.Parallel()
	dev, err := emu.NewDevice(emu.DeviceOptions{Family: gpu.Apple10, Products: true})
	if err != nil {
		t.Skip(err)
	}
	_, timings, err := Tune(context.Background(), dev, []TuneSize{{systemRows, 64, 64, false}, {systemRows, 64, 64, true}})
	if err != nil {
		t.Fatal(err)
	}
	units := map[Unit]int{}
	for _, m := range timings {
		units[m.Rule.Unit]++
		if m.Wrong != "" || m.Took <= 0 {
			t.Errorf("%v: took %v, wrong: %q", m.Rule, m.Took, m.Wrong)
		}
	}
	if units[Simdgroups] != 2*len(Tiles()) || units[TensorUnits] != 2*len(TensorTiles()) || units[System] != 2 || units[Direct] != len(DirectTiles()) {
		t.Errorf("got candidates %v, want all tiles and the system", units)
	}
	if r := SelfTest(context.Background(), dev); !r.OK() || strings.Contains(r.String(), "not used") {
		t.Errorf("got report\n%s\nwant every unit in use", r)
	}
}

// TestNewerFamilies: M3 and later multiply bfloat weights as such.
func TestNewerFamilies(t *testing.T) {
	t.Parallel()
	bfloats := false
	for _, c := range products() {
		want, err := c.attempt(scalar.New())
		if err != nil {
			t.Fatal(err)
		}
		var first []float32
		for _, o := range []emu.DeviceOptions{{}, {Order: emu.Reverse}, {Options: emu.Options{Mode: emu.Checked}, Order: emu.Seeded, Seed: 2}} {
			o.Family = gpu.Apple9
			b, _ := emulated(t, o)
			got, err := c.attempt(b)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if d := differ(got, want); d > c.within {
				t.Errorf("%s: differs from the oracle by %g, want at most %g", c.name, d, c.within)
			}
			if first == nil {
				first = got
			} else if !sameBits(got, first) {
				t.Errorf("%s: other bits than the first way", c.name)
			}
			for k := range b.pipelines {
				bfloats = bfloats || k.Name == "gemm" && k.Weights == operandBfloat
			}
		}
	}
	if !bfloats {
		t.Error("no product had bfloat operands")
	}
}

// TestWrongProducts: the emulated device refuses products with arguments that do not fit.
func TestWrongProducts(t *testing.T) {
	b, dev := emulated(t, emu.DeviceOptions{Products: true})
	x, y := b.New(2, 8, backend.Exact), b.New(2, 8, backend.Exact)
	b.Begin(context.Background())
	b.record(launch{name: "product", product: &gpu.Product{Rows: 3, Depth: 8, Outputs: 8, Pitch: 8}, args: []operand{b.update(0, of(x)), b.update(1, of(x)), b.update(2, of(y))}})
	if err := b.Sync(); err == nil || dev.Ran()["product"] != 0 {
		t.Errorf("got error %v, want one about the arguments", err)
	}
}

// TestSystemProductsFail: a system that fails to make a product is not asked again; the same run works then.
func TestSystemProductsFail(t *testing.T) {
	b, dev := emulated(t, emu.DeviceOptions{})
	want, err := chain(newScene(b))
	if err != nil {
		t.Fatal(err)
	}
	b.table = &Table{Rules: []Rule{{Rows: 1 << 30, Unit: System}}} // which this device does not have
	if _, err := chain(newScene(b)); !errors.Is(err, backend.ErrAgain) || !errors.Is(err, gpu.ErrProduct) {
		t.Errorf("got %v, want to be asked again", err)
	}
	got, err := chain(newScene(b))
	if err != nil || !sameBits(got, want) || dev.Ran()["product"] != 0 {
		t.Errorf("again: got error %v, want the numbers of our own kernels", err)
	}
}
