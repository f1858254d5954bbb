package modeltest

import (
	"encoding/binary"
	"math"
	"strings"
	"testing/fstest"
)

// Quantize packs a matrix the way MLX does (clef.md 1.5): per group an affine map,
// codes as one little-endian bit stream a row. scales and biases are rounded to bfloat16.
func Quantize(values []float32, rows, cols, bits, group int) (codes []byte, scales, biases []float32) {
	for r := range rows {
		row := values[r*cols : (r+1)*cols]
		packed := make([]byte, cols*bits/8)
		for g := 0; g < cols; g += group {
			scale, bias := affine(row[g:g+group], bits)
			for i, w := range row[g : g+group] {
				top := float64(int(1)<<bits - 1)
				q := uint64(min(max(math.RoundToEven(float64((w-bias)/scale)), 0), top))
				at := (g + i) * bits
				if 8%bits == 0 { // within a byte
					packed[at/8] |= byte(q << (at % 8))
					continue
				}
				for k := range bits {
					packed[(at+k)/8] |= byte(q>>k&1) << ((at + k) % 8)
				}
			}
			scales, biases = append(scales, round(scale)), append(biases, round(bias))
		}
		codes = append(codes, packed...)
	}
	return codes, scales, biases
}

// affine finds the scale and bias of one group.
func affine(w []float32, bits int) (scale, bias float32) {
	low, high := w[0], w[0]
	for _, v := range w {
		low, high = min(low, v), max(high, v)
	}
	scale = max((high-low)/float32(int(1)<<bits-1), 1e-7)
	edge := low
	if math.Abs(float64(low)) <= math.Abs(float64(high)) {
		edge, scale = high, -scale
	}
	if q := float32(math.RoundToEven(float64(edge / scale))); q != 0 {
		return edge / q, edge
	}
	return scale, 0
}

// Bits says how a module is quantised; 0 bits leaves it alone.
type Bits struct{ Bits, Group int }

// MLX returns the folder as MLX's converter writes it: its names, norms with their
// +1, transposed convolutions, an unpadded header, and modules quantised as
// choose says. quantization is written to config.json; nil leaves the key out.
func (s Shape) MLX(tokenizer []byte, quantization map[string]any, choose func(module string) Bits) fstest.MapFS {
	files := s.Files(tokenizer)
	config := s.config()
	if quantization != nil {
		config["quantization"] = quantization
	}
	files["config.json"] = &fstest.MapFile{Data: marshal(config)}
	var out []Tensor
	for _, t := range s.Backbone() {
		out = append(out, t.mlx(choose)...)
	}
	files["model.safetensors"] = &fstest.MapFile{Data: Safetensors(out, 1)}
	return files
}

// mlx converts one tensor.
func (t Tensor) mlx(choose func(module string) Bits) []Tensor {
	stored := t.Name
	t.Name = MLXName(stored)
	switch {
	case Centred(stored):
		for i, w := range t.Data {
			t.Data[i] = round(1 + w)
		}
	case strings.HasSuffix(stored, "conv1d.weight"):
		t.Shape = []int{t.Shape[0], t.Shape[2], 1}
	case strings.HasSuffix(stored, "patch_embed.proj.weight"):
		t = channelsLast(t)
	}
	module, isWeight := strings.CutSuffix(t.Name, ".weight")
	if len(t.Shape) != 2 || !isWeight || choose == nil || strings.HasPrefix(t.Name, "vision_tower.") {
		return []Tensor{t}
	}
	b := choose(module)
	if b.Bits == 0 {
		return []Tensor{t}
	}
	rows, cols := t.Shape[0], t.Shape[1]
	codes, scales, biases := Quantize(t.Data, rows, cols, b.Bits, b.Group)
	groups := []int{rows, cols / b.Group}
	return []Tensor{
		{Name: t.Name, DType: "U32", Shape: []int{rows, cols * b.Bits / 32}, Raw: codes},
		{Name: module + ".scales", DType: "BF16", Shape: groups, Data: scales},
		{Name: module + ".biases", DType: "BF16", Shape: groups, Data: biases},
	}
}

// MLXName is the name that MLX's converter gives to a backbone tensor.
func MLXName(stored string) string {
	if rest, ok := strings.CutPrefix(stored, "model.language_model."); ok {
		return "language_model.model." + rest
	}
	if rest, ok := strings.CutPrefix(stored, "model.visual."); ok {
		return "vision_tower." + rest
	}
	return "language_model." + stored
}

// channelsLast turns (O, C, T, H, W) into (O, T, H, W, C).
func channelsLast(t Tensor) Tensor {
	o, c, rest := t.Shape[0], t.Shape[1], t.Shape[2]*t.Shape[3]*t.Shape[4]
	data := make([]float32, len(t.Data))
	for i := range o {
		for k := range c {
			for p := range rest {
				data[(i*rest+p)*c+k] = t.Data[(i*c+k)*rest+p]
			}
		}
	}
	t.Shape = []int{o, t.Shape[2], t.Shape[3], t.Shape[4], c}
	t.Data = data
	return t
}

// Words returns codes as the 32-bit words that a safetensors file lists.
func Words(codes []byte) []uint32 {
	out := make([]uint32, len(codes)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(codes[4*i:])
	}
	return out
}
