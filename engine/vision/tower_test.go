package vision

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"testing"

	"clefbar/engine/backend"
	"clefbar/engine/backend/scalar"
	"clefbar/engine/cpu"
	"clefbar/engine/goldentest"
	"clefbar/engine/head"
	"clefbar/engine/qwen"
	"clefbar/models"
)

// mediaCase is a case of vision_cases.json.
type mediaCase struct {
	goldentest.Case
	PIL struct {
		Pixels pixelStat `json:"pixel_values"`
	} `json:"pil"`
}

type pixelStat struct {
	Grid    [][3]int `json:"grid_thw"`
	Mean    float64  `json:"mean"`
	Resized []string `json:"resized_rgb_u8_sha256"`
	Hash    string   `json:"float32_sha256"`
}

// images lists what each golden case shows. The transparent one composited on white
// is what transformers makes of an image object; we drop alpha as every server does,
// so that case starts from the recorded picture.
var images = map[string][]string{
	"image_a": {"a_96x64.png"}, "image_b": {"b_200x300.png"}, "image_c": {"c_640x8.png"}, "image_e": {"e_250x300.png"},
	"image_rgba": {"resized/d_white_256x256.png"}, "image_rgba_alpha_dropped": {"d_rgba_64x64.png"},
	"images_ab": {"a_96x64.png", "b_200x300.png"},
}

func prepareAll(t *testing.T, tower *Tower, names []string) []*Pixels {
	t.Helper()
	var out []*Pixels
	for _, name := range names {
		data, err := os.ReadFile(goldentest.Path(t, "images/"+name))
		if err != nil {
			t.Fatal(err)
		}
		p, err := tower.Prepare(data)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tower.Tokens(data); err != nil || n != p.Tokens() {
			t.Errorf("%s: Tokens says %d, %v; the image takes %d", name, n, err, p.Tokens())
		}
		out = append(out, p)
	}
	return out
}

// checkPixels compares with the processor's output, bit for bit.
func checkPixels(t *testing.T, tower *Tower, got []*Pixels, want pixelStat) {
	t.Helper()
	var all []byte
	for i, p := range got {
		if h := hash(p.img.pix); h != want.Resized[i] {
			t.Errorf("resized image %d: got %s, want %s", i, h, want.Resized[i])
		}
		if g := want.Grid[i]; g[1] != 2*p.Rows || g[2] != 2*p.Cols {
			t.Errorf("image %d: got %d by %d blocks, want a grid of %v", i, p.Rows, p.Cols, g)
		}
		n := 4 * p.Tokens()
		rows := make([]float32, n*tower.cfg.PatchSize())
		p.fill(rows, 0, n)
		for _, v := range rows {
			all = binary.LittleEndian.AppendUint32(all, math.Float32bits(v))
		}
	}
	if h := hash(all); h != want.Hash {
		t.Errorf("pixel values: got %s, want %s", h, want.Hash)
	}
}

// unrotated hides the optional rotation of a backend, so that the tower falls back to the host.
type unrotated struct{ backend.Backend }

// towerBackends are what the golden cases run on.
var towerBackends = map[string]func(t *testing.T) backend.Backend{
	"scalar": func(*testing.T) backend.Backend { return scalar.New() },
	"cpu":    newCPU,
	"host rotation": func(t *testing.T) backend.Backend {
		return unrotated{newCPU(t)}
	},
}

func newCPU(t *testing.T) backend.Backend {
	t.Helper()
	b, err := cpu.New(cpu.Options{Precision: cpu.F32})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestVisionGolden(t *testing.T) {
	cases := goldentest.Load[map[string]mediaCase](t, "vision_cases.json")
	for _, dir := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit"} {
		f, err := models.Open(goldentest.Path(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		expected := goldentest.Results(t, dir+"-vision")
		for name, open := range towerBackends {
			t.Run(name+"/"+dir, func(t *testing.T) {
				run := newRun(t, open(t), f)
				for kase, files := range images {
					if name == "scalar" && kase != "image_c" {
						continue
					}
					t.Run(kase, func(t *testing.T) { run.check(t, files, cases[kase], expected[kase]) })
				}
			})
		}
	}
}

// run holds everything that a media case needs.
type run struct {
	b     backend.Backend
	f     *models.Folder
	tower *Tower
	qwen  *qwen.Model
	head  *head.Head
}

func newRun(t *testing.T, b backend.Backend, f *models.Folder) run {
	t.Helper()
	tower, err := Load(b, f)
	if err != nil {
		t.Fatal(err)
	}
	q, err := qwen.Load(context.Background(), b, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	h, err := head.Load(b, f)
	if err != nil {
		t.Fatal(err)
	}
	return run{b, f, tower, q, h}
}

func (r run) check(t *testing.T, files []string, c mediaCase, want goldentest.Expected) {
	pixels := prepareAll(t, r.tower, files)
	checkPixels(t, r.tower, pixels, c.PIL.Pixels)
	seen := map[string][]float32{}
	see := func(name string, x backend.Buffer) {
		rows := make([]float32, x.Rows()*x.Cols())
		if err := r.b.Read(rows, x); err != nil {
			t.Fatal(err)
		}
		seen[name] = append(seen[name], rows...)
	}
	r.tower.SetProbe(see)
	r.qwen.SetProbe(func(name string, _ int, x backend.Buffer) { see(name, x) })
	in := qwen.Input{IDs: c.IDs}
	var grids []qwen.Grid
	at := 0
	for _, p := range pixels {
		for c.IDs[at] != r.f.Config.ImageToken {
			at++
		}
		rows, err := r.tower.Embed(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer r.b.Free(rows)
		in.Media = append(in.Media, qwen.Media{At: at, Rows: rows})
		grids = append(grids, qwen.Grid{At: at, Rows: p.Rows, Cols: p.Cols})
		at += p.Tokens()
	}
	in.Positions = qwen.Positions(len(c.IDs), grids)
	for i, p := range in.Positions {
		for axis := range 3 {
			if p[axis] != want.Positions[axis][i] {
				t.Fatalf("position of token %d: got %v, want axis %d at %d", i, p, axis, want.Positions[axis][i])
			}
		}
	}
	hidden, err := r.qwen.Forward(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	defer r.b.Free(hidden)
	logits, err := r.head.Score(context.Background(), hidden, c.IDs, c.Spans())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vis.patch_embed", "vis.block0_input", "vis.block0", "vis.block1", "vis.merged", "embed", "layer0", "layer7", "hidden"} {
		s, ok := want.Stat(t, name)
		if !ok {
			t.Errorf("%s was not recorded", name)
			continue
		}
		s.Check(t, name, seen[name])
	}
	want.CheckLogits(t, logits)
}
