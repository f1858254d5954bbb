package metal

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"clefbar/engine/backend/scalar"
	"clefbar/metal/emu"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// TestTune: a tile with wrong numbers is never chosen, even if it is the fastest.
func TestTune(t *testing.T) {
	dev, err := emu.NewDevice(emu.DeviceOptions{Mutate: func(l kernels.Library, source string) string {
		if l.Name == "gemm" && l.Tile == tileShort {
			return strings.Replace(source, "k0 += BK", "k0 += 2 * BK", 1) // half the work, and wrong
		}
		return source
	}})
	if err != nil {
		t.Skip(err)
	}
	table, timings, err := Tune(context.Background(), dev, []TuneSize{{33, 128, 64, false}, {33, 128, 64, true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range timings {
		if (m.Wrong != "") != (m.Rule.Tile == tileShort) {
			t.Errorf("%v: wrong is %q", m.Rule, m.Wrong)
		}
		if m.Took <= 0 {
			t.Errorf("%v: took %v", m.Rule, m.Took)
		}
	}
	if len(table.Rules) != 1 || len(table.Dense) != 1 || table.Rules[0].Tile == tileShort || table.Dense[0].Tile == tileShort {
		t.Errorf("got table %+v, want one rule for codes and one for dense weights without the wrong tile", table)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Tune(ctx, dev, TuneSizes()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestBest(t *testing.T) {
	m := func(rows int, tile kernels.Tile, ms int) Timing {
		return Timing{TuneSize: TuneSize{rows, 64, 64, false}, Rule: Rule{Tile: tile}, Took: time.Duration(ms) * time.Millisecond}
	}
	unit := func(t Timing, u Unit, wrong string) Timing {
		t.Rule.Unit, t.Wrong = u, wrong
		return t
	}
	simd := []Timing{
		m(32, tileShort, 1), m(32, tileTall, 2), m(32, tileBig, 9), m(32, tileWide, 9), m(32, tileFlat, 9),
		m(512, tileShort, 9), m(512, tileTall, 4), m(512, tileBig, 3), m(512, tileWide, 9), m(512, tileFlat, 9),
	}
	tensor := func(short, tall int, wrong string) []Timing {
		return []Timing{unit(m(32, tensorTall, short), TensorUnits, wrong), unit(m(512, tensorTall, tall), TensorUnits, wrong)}
	}
	plain := []Rule{{272, tileShort, Simdgroups}, {1 << 30, tileBig, Simdgroups}}
	for _, c := range []struct {
		what string
		more []Timing
		want []Rule
	}{
		{"simdgroups alone", nil, plain},
		{"tensor units faster", tensor(2, 1, ""), []Rule{{272, tensorTall, TensorUnits}, {1 << 30, tensorTall, TensorUnits}}},
		{"tensor units slower together", tensor(9, 1, ""), plain},
		{"tensor units wrong", tensor(1, 1, "refused"), plain},
		{"the system faster for many rows", []Timing{unit(m(512, kernels.Tile{}, 2), System, "")}, []Rule{plain[0], {1 << 30, kernels.Tile{}, System}}},
		{"the system wrong", []Timing{unit(m(512, kernels.Tile{}, 2), System, "refused")}, plain},
	} {
		got := best(append(c.more, simd...))
		if !slices.Equal(got.Rules, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got.Rules, c.want)
		}
		if got.Choose(5, false) != c.want[0] || got.Choose(4000, true) != c.want[1] {
			t.Errorf("%s: Choose does not follow the table", c.what)
		}
	}
}

func TestSavedTable(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	info := gpu.Info{Architecture: "applegpu_g14s", Cores: 38, OS: "24A335"}
	if got := SavedTable(info); got != nil {
		t.Error("nothing saved: want no table")
	}
	mine := &Table{Rules: []Rule{{1 << 30, tileWide, Simdgroups}}}
	if err := SaveTable(info, mine); err != nil {
		t.Fatal(err)
	}
	if got := SavedTable(info); !slices.Equal(got.Rules, mine.Rules) {
		t.Errorf("got %v, want what was saved", got.Rules)
	}
	other := info
	other.OS = "25A1"
	if got := SavedTable(other); got != nil {
		t.Error("another system: want no table")
	}
	for _, r := range []Rule{{1 << 30, kernels.Tile{BM: 7}, Simdgroups}, {1 << 30, tensorTall, TensorUnits}, {1 << 30, kernels.Tile{}, System}, {1 << 30, tileTall, "other"}} {
		if err := SaveTable(info, &Table{Rules: []Rule{r}}); err != nil {
			t.Fatal(err)
		}
		if got := SavedTable(info); got != nil {
			t.Errorf("%v, which this GPU does not have: want no table", r)
		}
	}
	path, err := tunePath()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := SavedTable(info); got != nil {
		t.Error("a damaged file: want no table")
	}
}

// TestTilesGiveTheSameBits: a table changes speed only, with products straight from device memory, too.
func TestTilesGiveTheSameBits(t *testing.T) {
	t.Parallel()
	var rules []Rule
	for _, tile := range Tiles() {
		rules = append(rules, Rule{1 << 30, tile, Simdgroups})
	}
	for _, tile := range DirectTiles() {
		rules = append(rules, Rule{1 << 30, tile, Direct})
	}
	for _, family := range []gpu.Family{gpu.Apple8, gpu.Apple9} {
		var first []float32
		for _, r := range rules {
			b, dev := emulated(t, emu.DeviceOptions{Family: family})
			b.table = &Table{Rules: []Rule{r}}
			var all []float32
			for _, run := range []func(*scene) ([]float32, error){linearDense, linearCodes, linearRagged, feedForward, headLayer} {
				got, err := run(newScene(b))
				if err != nil {
					t.Fatalf("%v: %v", r, err)
				}
				all = append(all, got...)
			}
			if first == nil {
				first = all
			}
			if !sameBits(all, first) {
				t.Errorf("Apple%d: %v gives other bits than %v", family, r, rules[0])
			}
			if n := dev.Ran()["gemm_direct"]; (n > 0) != (r.Unit == Direct) {
				t.Errorf("Apple%d: %v ran %d products straight from device memory", family, r, n)
			}
		}
	}
}

// TestTilesChecked: products straight from device memory, reading ahead and with slim tiles
// stay inside of their memory.
func TestTilesChecked(t *testing.T) {
	t.Parallel()
	for _, c := range products() {
		want, err := c.attempt(scalar.New())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []Rule{{1 << 30, directTwo, Direct}, {1 << 30, tileReach, Simdgroups}, {1 << 30, tileFew, Simdgroups}} {
			b, _ := emulated(t, emu.DeviceOptions{Options: emu.Options{Mode: emu.Checked}, Family: gpu.Apple9, Order: emu.Seeded, Seed: 6})
			b.table = &Table{Rules: []Rule{r}}
			got, err := c.attempt(b)
			if err != nil {
				t.Fatalf("%s, %v: %v", c.name, r, err)
			}
			if d := differ(got, want); d > c.within {
				t.Errorf("%s, %v: differs from the oracle by %g, want at most %g", c.name, r, d, c.within)
			}
		}
	}
}
