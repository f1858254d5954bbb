package vision

import (
	"context"
	"math"
	"testing"

	"clefbar/engine/goldentest"
	"clefbar/engine/qwen"
	"clefbar/models"
	"clefbar/models/modeltest"
)

// generated is what golden.json records of the file-free model with two images.
type generated struct {
	Vision struct {
		Row0 []float64 `json:"merged_row0"`
		Row7 []float64 `json:"merged_row7"`
	} `json:"vision"`
	Multimodal struct {
		IDs       []int32   `json:"ids"`
		Positions [][]int32 `json:"position_ids"`
		Fields    []struct {
			Type    int      `json:"type"`
			Span    [2]int   `json:"span"`
			Options [][2]int `json:"options"`
		} `json:"fields"`
		Logits [][]float32 `json:"logits"`
		Probs  [][]float64 `json:"probs"`
	} `json:"multimodal"`
}

// generatorGrids are the two images' places: 2 by 3 and 4 by 2 merged patches.
var generatorGrids = []qwen.Grid{{At: 6, Rows: 2, Cols: 3}, {At: 14, Rows: 4, Cols: 2}}

// TestGeneratorTower runs the file-free golden model, whose patches are 4 pixels wide.
func TestGeneratorTower(t *testing.T) {
	golden := goldentest.Load[generated](t, "golden.json")
	f, err := models.OpenFS(modeltest.Golden.Files(nil), "golden")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := newRun(t, newCPU(t), f)
	media, merged := r.embedGenerated(t)
	for row, want := range map[int][]float64{0: golden.Vision.Row0, 7: golden.Vision.Row7} {
		for i, w := range want {
			if got := merged[row*modeltest.Golden.Hidden+i]; math.Abs(float64(got)-w) > goldentest.RowTolerance {
				t.Errorf("merged row %d, %d: got %v, want %v", row, i, got, w)
			}
		}
	}
	m := golden.Multimodal
	in := qwen.Input{IDs: m.IDs, Media: media, Positions: qwen.Positions(len(m.IDs), generatorGrids)}
	for i, p := range in.Positions {
		if want := (qwen.Position{m.Positions[0][i], m.Positions[1][i], m.Positions[2][i]}); p != want {
			t.Fatalf("position of token %d: got %v, want %v", i, p, want)
		}
	}
	c := goldentest.Case{IDs: m.IDs}
	for _, q := range m.Fields {
		c.Questions = append(c.Questions, goldentest.Question{Type: q.Type, Span: q.Span, Options: q.Options})
	}
	hidden, err := r.qwen.Forward(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	logits, err := r.head.Score(context.Background(), hidden, c.IDs, c.Spans())
	if err != nil {
		t.Fatal(err)
	}
	goldentest.Expected{Logits: m.Logits, Probs: m.Probs}.CheckLogits(t, logits)
}

// embedGenerated feeds generated pixel values, one stream for both images, to the tower.
func (r run) embedGenerated(t *testing.T) (media []qwen.Media, merged []float32) {
	t.Helper()
	const size = 96 // floats of a patch
	values := modeltest.Uniform("pixel_values", 56*size)
	for _, g := range generatorGrids {
		mine := values[:4*g.Rows*g.Cols*size]
		values = values[len(mine):]
		p := &Pixels{Rows: g.Rows, Cols: g.Cols, fill: func(dst []float32, from, to int) {
			for i, u := range mine[from*size : to*size] {
				dst[i] = float32(2*u - 1)
			}
		}}
		rows, err := r.tower.Embed(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float32, rows.Rows()*rows.Cols())
		if err := r.b.Read(out, rows); err != nil {
			t.Fatal(err)
		}
		merged = append(merged, out...)
		media = append(media, qwen.Media{At: g.At, Rows: rows})
	}
	return media, merged
}
