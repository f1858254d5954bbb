package metal

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
)

// Chip is what predictions know of a GPU: published core counts and clocks, and
// what fraction of them matrix products reached in public measurements
// (metal.md 1.2, 1.3, 1.5). Nothing here was measured by us.
type Chip struct {
	Name   string
	Family gpu.Family
	Peak   float64 // multiply-adds per second, in 1e12
	Memory float64 // bytes per second, in 1e9
	Cores  int     // 0 if unknown: products are then predicted as if every core always had work
	// Reach is the fraction of Peak that matrix products get: 82 % on M1 and M2 with half
	// operands, 87 % on later ones, and a seventeenth less with float ones.
	Reach float64
	// Tensor is what the tensor units multiply in a second, in 1e12, 0 without them.
	Tensor float64
}

// Times and fractions of the predictions, from public reports (metal.md 3.3, 3.8).
const (
	launchSeconds  = 5e-6  // between two dependent small dispatches
	bufferSeconds  = 20e-6 // between two command buffers
	attentionReach = 0.7   // of what matrix products reach
	tensorReach    = 0.8   // of Chip.Tensor
	saturation     = 24    // simdgroups that keep the lanes of a core busy (metal-benchmarks)
)

// Seconds predicts how long work takes: the slower of arithmetic and memory, and the launches.
func (c Chip) Seconds(w Work) float64 {
	reach := c.Peak * 1e12 * c.Reach
	arithmetic := (w.Multiplies-w.Attention-w.OnTensor+w.Idle)/reach + w.Attention/(reach*attentionReach) + w.Lanes/(c.Peak*1e12)
	if w.Passes > 0 {
		arithmetic += w.Passes / (max(c.Tensor, c.Peak) * 1e12 * tensorReach) // at least what simdgroups do
	}
	return max(arithmetic, w.Bytes/(c.Memory*1e9)) + launchSeconds*float64(max(w.Dispatches, 1))
}

// idle is how much time cores have nothing to multiply, as a fraction of the time of the
// product: the last ones have a threadgroup more than the others, and a core with few
// simdgroups waits for memory between its instructions.
func (c Chip) idle(groups float64, tile kernels.Tile) float64 {
	if c.Cores == 0 || groups == 0 {
		return 0
	}
	cores := float64(c.Cores)
	longest := max(math.Ceil(groups/cores), saturation/float64(tile.WM*tile.WN))
	return max(0, longest*cores/groups-1)
}

// Chips are the GPUs that predictions can be made for, by short name.
var Chips = map[string]Chip{
	"m1":       {"M1, 8 cores", gpu.Apple7, 1.30, 68, 8, .77, 0},
	"m1max32":  {"M1 Max, 32 cores", gpu.Apple7, 5.3, 400, 32, .77, 0},
	"m1ultra":  {"M1 Ultra, 64 cores", gpu.Apple7, 10.6, 800, 64, .77, 0},
	"m1pro16":  {"M1 Pro, 16 cores", gpu.Apple7, 2.65, 200, 16, .77, 0},
	"m2":       {"M2, 10 cores", gpu.Apple8, 1.80, 100, 10, .77, 0},
	"m2pro19":  {"M2 Pro, 19 cores", gpu.Apple8, 3.40, 200, 19, .77, 0},
	"m2max30":  {"M2 Max, 30 cores", gpu.Apple8, 5.35, 400, 30, .77, 0},
	"m2max38":  {"M2 Max, 38 cores", gpu.Apple8, 6.80, 400, 38, .77, 0},
	"m2ultra":  {"M2 Ultra, 76 cores", gpu.Apple8, 13.6, 800, 76, .77, 0},
	"m3":       {"M3, 10 cores", gpu.Apple9, 1.80, 100, 10, .82, 0},
	"m3pro18":  {"M3 Pro, 18 cores", gpu.Apple9, 3.20, 150, 18, .82, 0},
	"m3max40":  {"M3 Max, 40 cores", gpu.Apple9, 7.15, 400, 40, .82, 0},
	"m3ultra":  {"M3 Ultra, 80 cores", gpu.Apple9, 14.3, 819, 80, .82, 0},
	"m4":       {"M4, 10 cores", gpu.Apple9, 2.02, 120, 10, .82, 0},
	"m4pro20":  {"M4 Pro, 20 cores", gpu.Apple9, 4.30, 273, 20, .82, 0},
	"m4max40":  {"M4 Max, 40 cores", gpu.Apple9, 8.5, 546, 40, .82, 0},
	"m5":       {"M5, 10 cores", gpu.Apple10, 2.05, 153, 10, .82, 8.4},
	"m5pro20":  {"M5 Pro, 20 cores", gpu.Apple10, 4.2, 307, 20, .82, 17},
	"m5max40":  {"M5 Max, 40 cores", gpu.Apple10, 8.5, 614, 40, .82, 34},
	"emulator": {"emulator", gpu.Apple8, .001, 1, 0, 1, 0},
}

// ChipOf guesses the chip of a device by its name and core count, and scales it to the
// cores that the device says it has. An unknown one counts as a base M1: command buffers
// are then shorter than needed, never longer.
func ChipOf(i gpu.Info) Chip {
	name := strings.ToLower(strings.TrimPrefix(i.Name, "Apple "))
	best, found := Chips["m1"], false
	for _, key := range chipNames() {
		c := Chips[key]
		short, _, _ := strings.Cut(strings.ToLower(c.Name), ",")
		if short == name && (!found || away(c, i.Cores) < away(best, i.Cores)) {
			best, found = c, true
		}
	}
	if found && i.Cores > 0 && i.Cores != best.Cores {
		ratio := float64(i.Cores) / float64(best.Cores)
		short, _, _ := strings.Cut(best.Name, ",")
		best.Name = fmt.Sprintf("%s, %d cores", short, i.Cores)
		best.Peak, best.Tensor, best.Cores = best.Peak*ratio, best.Tensor*ratio, i.Cores
	}
	if i.Family != 0 {
		best.Family = i.Family
	}
	return best
}

// away is how far a chip's core count is from cores.
func away(c Chip, cores int) int { return max(c.Cores-cores, cores-c.Cores) }

// chipNames lists the chips that predictions can be made for.
func chipNames() []string {
	names := slices.Sorted(maps.Keys(Chips))
	return slices.DeleteFunc(names, func(n string) bool { return n == "emulator" })
}
