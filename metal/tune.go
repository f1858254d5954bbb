package metal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"clefbar/engine/backend"
	"clefbar/metal/gpu"
	"clefbar/metal/kernels"
	"clefbar/models"
)

// TuneSize is one product that candidates are timed on.
type TuneSize struct{ Rows, Depth, Outputs int }

// TuneSizes are what the autotuner times by default: the products of a 9B layer with
// the row counts of short suffixes, usual prompts and full blocks.
func TuneSizes() (list []TuneSize) {
	for _, rows := range []int{32, 64, 128, 256, 512, 1024} {
		list = append(list, TuneSize{rows, 4096, 12288}, TuneSize{rows, 4096, 4096})
	}
	return list
}

// Timing is what one candidate needed.
type Timing struct {
	TuneSize
	Tile  kernels.Tile
	Took  time.Duration // best of a few runs, as the GPU says
	Wrong bool          // other bits than the reference tile: never used
}

// Tune times every tile on every size, in turn, and returns the best table. A tile
// whose numbers differ from the reference tile's is left out, whatever its speed.
func Tune(ctx context.Context, dev gpu.Device, sizes []TuneSize) (*Table, []Timing, error) {
	const runs = 3
	var all []Timing
	for _, s := range sizes {
		timings := make([]Timing, len(Tiles()))
		var want []float32
		for range runs {
			for i, tile := range slices.Concat([]kernels.Tile{tileTall}, Tiles()) {
				if ctx.Err() != nil {
					return nil, nil, fmt.Errorf("tune the GPU: %w", ctx.Err())
				}
				got, took, err := timeTile(ctx, dev, s, tile)
				if err != nil && tile == tileTall {
					return nil, nil, fmt.Errorf("tune the GPU: %w", err)
				}
				if i == 0 { // the reference, which also warms the clocks
					want = got
					continue
				}
				t := &timings[i-1]
				wrong := t.Wrong || err != nil || !slices.Equal(got, want)
				if t.Took == 0 || took < t.Took {
					*t = Timing{s, tile, took, false}
				}
				t.Wrong = wrong
			}
		}
		all = append(all, timings...)
	}
	return best(all), all, nil
}

// timeTile multiplies once with one tile.
func timeTile(ctx context.Context, dev gpu.Device, s TuneSize, tile kernels.Tile) ([]float32, time.Duration, error) {
	b, err := New(keepOpen{dev}, Options{Table: &Table{Rules: []Rule{{Rows: 1 << 30, Tile: tile}}}})
	if err != nil {
		return nil, 0, err
	}
	defer b.Close() //nolint:errcheck // the device stays open
	codes := make([]byte, s.Outputs*s.Depth/2)
	for i := range codes {
		codes[i] = byte(i * 131)
	}
	ones := func(name string, v uint16) models.Tensor {
		data := make([]byte, s.Outputs*s.Depth/64*2)
		for i := 0; i < len(data); i += 2 {
			data[i], data[i+1] = byte(v), byte(v>>8)
		}
		return models.Tensor{Name: name, DType: models.BF16, Shape: []int{s.Outputs, s.Depth / 64}, Data: data}
	}
	const scale, bias = 0x3c00, 0xbd80 // 2^-7 and -2^-4
	w, err := b.Load(models.Tensor{
		Name: "tuned", DType: models.U32, Shape: []int{s.Outputs, s.Depth}, Data: codes,
		Quant: &models.Quant{Bits: 4, Group: 64, Scales: ones("scales", scale), Biases: ones("biases", bias)},
	}, backend.Matrix)
	if err != nil {
		return nil, 0, err
	}
	b.Begin(ctx)
	x, y := b.New(s.Rows, s.Depth, backend.Exact), b.New(s.Rows, s.Outputs, backend.Exact)
	values := make([]float32, s.Rows*s.Depth)
	for i := range values {
		values[i] = float32(i*7%256-128) / 128
	}
	b.Write(x, values)
	b.Linear([]backend.Buffer{y}, x, []backend.Weight{w}, nil, backend.None)
	got := make([]float32, s.Rows*s.Outputs)
	err = b.Read(got, y)
	return got, b.rec.gpu, err
}

// keepOpen is a device that its backend does not close.
type keepOpen struct{ gpu.Device }

// Close does nothing.
func (keepOpen) Close() error { return nil }

// best makes a table of timings: for each number of rows the tile with the least total.
func best(all []Timing) *Table {
	type key struct {
		rows int
		tile kernels.Tile
	}
	total, wrong := map[key]time.Duration{}, map[kernels.Tile]bool{}
	var rows []int
	for _, t := range all {
		total[key{t.Rows, t.Tile}] += t.Took
		wrong[t.Tile] = wrong[t.Tile] || t.Wrong
		if !slices.Contains(rows, t.Rows) {
			rows = append(rows, t.Rows)
		}
	}
	slices.Sort(rows)
	table := &Table{}
	for i, r := range rows {
		choice, least := tileTall, time.Duration(1<<62)
		for _, tile := range Tiles() {
			if took := total[key{r, tile}]; !wrong[tile] && took < least {
				choice, least = tile, took
			}
		}
		limit := 1 << 30
		if i+1 < len(rows) {
			limit = (r + rows[i+1]) / 2
		}
		table.Rules = append(table.Rules, Rule{limit, choice})
	}
	return table
}

// tuned is a table as it is stored, with what it is valid for.
type tuned struct {
	Key   string `json:"key"`
	Table Table  `json:"table"`
}

// tuneKey says what a table is valid for: the GPU, the system's compiler and our kernels.
func tuneKey(i gpu.Info) string {
	version := ""
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, s := range build.Settings {
			if s.Key == "vcs.revision" {
				version = s.Value
			}
		}
	}
	return fmt.Sprintf("%s/%d/%s/%s", i.Architecture, i.Cores, i.OS, version)
}

// tunePath is where the table of this machine is kept.
func tunePath() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for tuning results: %w", err)
	}
	return filepath.Join(dir, "clefbar", "metal-tuning.json"), nil
}

// SaveTable keeps a table for later starts on this machine.
func SaveTable(i gpu.Info, t *Table) error {
	path, err := tunePath()
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(tuned{tuneKey(i), *t}, "", "\t")
	if err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return fmt.Errorf("store tuning results: %w", err)
	}
	return os.Rename(tmp, path)
}

// SavedTable returns the table that was kept for this GPU, system and build, or the
// shipped one. Tiles that do not exist are not used.
func SavedTable(i gpu.Info) *Table {
	path, err := tunePath()
	if err != nil {
		return Shipped()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return Shipped()
	}
	var t tuned
	if json.Unmarshal(b, &t) != nil || t.Key != tuneKey(i) || len(t.Table.Rules) == 0 {
		return Shipped()
	}
	for _, r := range t.Table.Rules {
		if !slices.Contains(Tiles(), r.Tile) {
			return Shipped()
		}
	}
	return &t.Table
}
