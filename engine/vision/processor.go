package vision

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"clefbar/models"
)

// processor holds how images are brought into shape (clef.md 5.1). Values come from
// processor_config.json; the defaults are those of the released models.
type processor struct {
	patch, temporal, merge int
	minPixels, maxPixels   int // area after resizing
	mean, std              [3]float64
	rescale                float64
}

// maxRatio is the largest allowed ratio of the longer to the shorter side.
const maxRatio = 200

func newProcessor(v *models.VisionConfig, config []byte) (*processor, error) {
	p := &processor{
		patch: v.Patch, temporal: v.Temporal, merge: v.Merge, minPixels: 1 << 16, maxPixels: 1 << 24,
		mean: [3]float64{0.5, 0.5, 0.5}, std: [3]float64{0.5, 0.5, 0.5}, rescale: 1.0 / 255,
	}
	if config == nil {
		return p, nil
	}
	var file struct {
		Image imageConfig `json:"image_processor"`
	}
	err := json.Unmarshal(config, &file)
	if err == nil {
		err = p.adopt(file.Image)
	}
	if err != nil {
		return nil, fmt.Errorf("processor_config.json: %w", err)
	}
	return p, nil
}

// imageConfig is image_processor of processor_config.json.
type imageConfig struct {
	Size struct {
		Shortest int `json:"shortest_edge"`
		Longest  int `json:"longest_edge"`
	} `json:"size"`
	Mean    []float64 `json:"image_mean"`
	Std     []float64 `json:"image_std"`
	Rescale float64   `json:"rescale_factor"`
	Patch   int       `json:"patch_size"`
	Merge   int       `json:"merge_size"`
}

// adopt takes over what the file says and checks it.
func (p *processor) adopt(i imageConfig) error {
	if i.Size.Shortest != 0 || i.Size.Longest != 0 {
		p.minPixels, p.maxPixels = i.Size.Shortest, i.Size.Longest
	}
	if i.Rescale != 0 {
		p.rescale = i.Rescale
	}
	if i.Mean != nil {
		copy(p.mean[:], i.Mean)
	}
	if i.Std != nil {
		copy(p.std[:], i.Std)
	}
	switch factor := p.patch * p.merge; {
	case p.minPixels < 1 || p.maxPixels < p.minPixels || p.maxPixels < factor*factor || p.maxPixels > maxPixels:
		return fmt.Errorf("image_processor.size from %d to %d pixels makes no sense", p.minPixels, p.maxPixels)
	case i.Mean != nil && len(i.Mean) != 3, i.Std != nil && len(i.Std) != 3, !(p.std[0] > 0 && p.std[1] > 0 && p.std[2] > 0), !(p.rescale > 0):
		return errors.New("image_processor needs three means and three positive deviations")
	case i.Patch != 0 && i.Patch != p.patch, i.Merge != 0 && i.Merge != p.merge:
		return fmt.Errorf("patches of %d, merged %d to a side, contradict config.json (%d, %d)", i.Patch, i.Merge, p.patch, p.merge)
	}
	return nil
}

// fit returns the size to which an image is resized: multiples of a merged patch,
// with an area within the processor's limits.
func (p *processor) fit(width, height int) (int, int, error) {
	if long, short := max(width, height), min(width, height); long > maxRatio*short {
		return 0, 0, fmt.Errorf("%d by %d pixels: one side may be at most %d times the other", width, height, maxRatio)
	}
	f := float64(p.patch * p.merge)
	w, h := float64(width), float64(height)
	fw, fh := math.RoundToEven(w/f)*f, math.RoundToEven(h/f)*f
	switch {
	case fw*fh > float64(p.maxPixels):
		beta := math.Sqrt(h * w / float64(p.maxPixels))
		fw, fh = max(f, math.Floor(w/beta/f)*f), max(f, math.Floor(h/beta/f)*f)
	case fw*fh < float64(p.minPixels):
		beta := math.Sqrt(float64(p.minPixels) / (h * w))
		fw, fh = math.Ceil(w*beta/f)*f, math.Ceil(h*beta/f)*f
	}
	return int(fw), int(fh), nil
}

// tokens returns how many tokens an image of this size takes in the prompt.
func (p *processor) tokens(width, height int) (int, error) {
	w, h, err := p.fit(width, height)
	side := p.patch * p.merge
	return w / side * (h / side), err
}

// Pixels is an image ready for the tower.
type Pixels struct {
	Rows, Cols int // the grid of merged patches
	img        *picture
	// fill writes the patch vectors [from, to) to dst; they are made when the tower wants them, for they are 24
	// times as large as the image.
	fill func(dst []float32, from, to int)
}

// Tokens returns how many tokens the image takes in the prompt.
func (p *Pixels) Tokens() int { return p.Rows * p.Cols }

// pixels takes a resized image.
func (p *processor) pixels(img *picture) *Pixels {
	side := p.patch * p.merge
	x := &Pixels{Rows: img.height / side, Cols: img.width / side, img: img}
	x.fill = func(dst []float32, from, to int) { p.patches(dst, x, from, to) }
	return x
}

// normalised maps a stored byte of each channel to the model's range.
func (p *processor) normalised() (table [3][256]float32) {
	for c := range table {
		for v := range table[c] {
			table[c][v] = (float32(float64(v)*p.rescale) - float32(p.mean[c])) / float32(p.std[c])
		}
	}
	return table
}

// patches writes the patch vectors [from, to) of an image to dst: merged blocks row by
// row, the patches of a block row by row; a vector has channel, frame, row and column
// order, and all frames of a still image are the same.
func (p *processor) patches(dst []float32, x *Pixels, from, to int) {
	table := p.normalised()
	frame := p.patch * p.patch
	size := 3 * p.temporal * frame
	for i := from; i < to; i++ {
		row, col := p.place(x, i)
		vector := dst[(i-from)*size:][:size]
		for c := range 3 {
			first := vector[c*p.temporal*frame:][:frame]
			for y := range p.patch {
				line := x.img.pix[3*((row*p.patch+y)*x.img.width+col*p.patch):]
				for k := range p.patch {
					first[y*p.patch+k] = table[c][line[3*k+c]]
				}
			}
			for t := 1; t < p.temporal; t++ {
				copy(vector[(c*p.temporal+t)*frame:], first)
			}
		}
	}
}

// place returns the row and column of the i-th patch in the image.
func (p *processor) place(x *Pixels, i int) (row, col int) {
	m := p.merge
	block, inner := i/(m*m), i%(m*m)
	return block/x.Cols*m + inner/m, block%x.Cols*m + inner%m
}
