package metal

import (
	"maps"
	"slices"
	"strings"

	"clefbar/metal/gpu"
)

// Chip is what predictions know of a GPU: published core counts and clocks, and
// what fraction of them matrix products reached in public measurements
// (metal.md 1.2, 1.3, 1.5). Nothing here was measured by us.
type Chip struct {
	Name   string
	Family gpu.Family
	Peak   float64 // multiply-adds per second, in 1e12
	Memory float64 // bytes per second, in 1e9
	// Reach is the fraction of Peak that matrix products get: 82 % on M1 and M2 with half
	// operands, 87 % on later ones, and a seventeenth less with float ones.
	Reach float64
}

// Times and fractions of the predictions, from public reports (metal.md 3.3, 3.8).
const (
	launchSeconds  = 5e-6  // between two dependent small dispatches
	bufferSeconds  = 20e-6 // between two command buffers
	attentionReach = 0.7   // of what matrix products reach
)

// Seconds predicts how long work takes: the slower of arithmetic and memory, and the launches.
func (c Chip) Seconds(w Work) float64 {
	reach := c.Peak * 1e12 * c.Reach
	arithmetic := (w.Multiplies-w.Attention)/reach + w.Attention/(reach*attentionReach) + w.Lanes/(c.Peak*1e12)
	return max(arithmetic, w.Bytes/(c.Memory*1e9)) + launchSeconds*float64(max(w.Dispatches, 1))
}

// Chips are the GPUs that predictions can be made for, by short name.
var Chips = map[string]Chip{
	"m1":       {"M1", gpu.Apple7, 1.30, 68, .77},
	"m1max32":  {"M1 Max, 32 cores", gpu.Apple7, 5.3, 400, .77},
	"m1ultra":  {"M1 Ultra, 64 cores", gpu.Apple7, 10.6, 800, .77},
	"m2":       {"M2, 10 cores", gpu.Apple8, 1.80, 100, .77},
	"m2pro19":  {"M2 Pro, 19 cores", gpu.Apple8, 3.40, 200, .77},
	"m2max30":  {"M2 Max, 30 cores", gpu.Apple8, 5.35, 400, .77},
	"m2max38":  {"M2 Max, 38 cores", gpu.Apple8, 6.80, 400, .77},
	"m2ultra":  {"M2 Ultra, 76 cores", gpu.Apple8, 13.6, 800, .77},
	"m3":       {"M3, 10 cores", gpu.Apple9, 1.80, 100, .82},
	"m3max40":  {"M3 Max, 40 cores", gpu.Apple9, 7.15, 400, .82},
	"m3ultra":  {"M3 Ultra, 80 cores", gpu.Apple9, 14.3, 819, .82},
	"m4":       {"M4, 10 cores", gpu.Apple9, 2.02, 120, .82},
	"m4pro20":  {"M4 Pro, 20 cores", gpu.Apple9, 4.30, 273, .82},
	"m4max40":  {"M4 Max, 40 cores", gpu.Apple9, 8.5, 546, .82},
	"m5":       {"M5, 10 cores, without tensor units", gpu.Apple10, 2.05, 153, .82},
	"m5max40":  {"M5 Max, 40 cores, without tensor units", gpu.Apple10, 8.5, 614, .82},
	"emulator": {"emulator", gpu.Apple8, .001, 1, 1},
}

// ChipOf guesses the chip of a device by its name and core count. An unknown one
// counts as a base M1: command buffers are then shorter than needed, never longer.
func ChipOf(i gpu.Info) Chip {
	name := strings.ToLower(strings.TrimPrefix(i.Name, "Apple "))
	best := Chips["m1"]
	for key, c := range Chips {
		short, _, _ := strings.Cut(strings.ToLower(c.Name), ",")
		if key != "emulator" && short == name && (best.Name == "M1" || nearer(c, best, i.Cores)) {
			best = c
		}
	}
	if i.Family != 0 {
		best.Family = i.Family
	}
	return best
}

// nearer says whether c has a core count closer to cores than best.
func nearer(c, best Chip, cores int) bool {
	distance := func(c Chip) int {
		_, rest, _ := strings.Cut(c.Name, ", ")
		n := 0
		for _, r := range rest {
			if r < '0' || r > '9' {
				break
			}
			n = 10*n + int(r-'0')
		}
		return max(n-cores, cores-n)
	}
	return distance(c) < distance(best)
}

// chipNames lists the chips that predictions can be made for.
func chipNames() []string {
	names := slices.Sorted(maps.Keys(Chips))
	return slices.DeleteFunc(names, func(n string) bool { return n == "emulator" })
}
