package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// backbone gathers stored tensors under canonical names.
type backbone struct {
	have    map[string]*stored // canonical name → tensor
	names   [3]string          // one stored name of each family
	centred bool
}

// addBackbone checks every tensor of the plan and takes it in. Unlike the
// reference, which fills missing tensors with random numbers, it wants them all
// and it wants no others: a silently ignored layer or bias is a wrong answer.
func (f *Folder) addBackbone(tensors map[string]*stored) error {
	b, err := gather(tensors)
	if err != nil {
		return err
	}
	if b.centred, err = b.layout(f.Config); err != nil {
		return err
	}
	f.Centred = b.centred
	plan := backbonePlan(f.Config)
	if f.Config.Vision != nil {
		if b.anyVision() {
			plan = append(plan, visionPlan(f.Config.Vision)...)
		} else {
			f.Config.Vision = nil // text-only conversions keep the configuration but drop the tower
		}
	}
	for _, w := range plan {
		t, err := b.take(w, &f.Config.quantization)
		if err != nil {
			return err
		}
		f.tensors[w.name] = t
	}
	if f.Config.Tied {
		f.tensors["lm_head.weight"] = f.tensors["embed_tokens.weight"]
		for _, part := range []string{"weight", "scales", "biases"} {
			delete(b.have, "lm_head."+part)
		}
	}
	if name := firstKey(b.have); name != "" {
		return tensorError(Mismatch, b.have[name].file, b.have[name].name, "config.json has no place for this tensor (%d layers%s)",
			f.Config.Layers(), map[bool]string{true: "", false: ", no vision"}[f.Config.Vision != nil])
	}
	f.Layout = layoutName(f.tensors, plan)
	return nil
}

func gather(tensors map[string]*stored) (*backbone, error) {
	b := &backbone{have: map[string]*stored{}}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if unused(name) {
			continue
		}
		canon, family := canonical(name)
		if canon == "" {
			return nil, tensorError(Mismatch, tensors[name].file, name, "not a tensor of Clef's backbone")
		}
		if other := b.have[canon]; other != nil {
			return nil, tensorError(Mismatch, tensors[name].file, name, "the same tensor is also stored as %s", other.name)
		}
		b.have[canon] = tensors[name]
		b.names[family] = name
	}
	if b.names[hfNamed] != "" && b.names[mlxNamed] != "" {
		return nil, fileError(Mismatch, tensors[b.names[hfNamed]].file,
			"tensor names of the Hugging Face layout (%s) and of the MLX layout (%s) are mixed", b.names[hfNamed], b.names[mlxNamed])
	}
	return b, nil
}

// layout decides whether norms are stored zero-centred. The convolution's shape
// tells, (channels, 1, taps) or (channels, taps, 1), and the names must agree
// (clef.md 1.4): a wrong guess gives plausible but wrong numbers.
func (b *backbone) layout(c *Config) (centred bool, err error) {
	verdict, by := neutral, ""
	for i, full := range c.Full {
		t := b.have[fmt.Sprintf("layers.%d.linear_attn.conv1d.weight", i)]
		if full || t == nil {
			continue
		}
		var this family
		switch {
		case slices.Equal(t.shape, []int{c.QKV(), 1, c.ConvTaps}):
			this = hfNamed
		case slices.Equal(t.shape, []int{c.QKV(), c.ConvTaps, 1}):
			this = mlxNamed
		default:
			return false, tensorError(Mismatch, t.file, t.name, "shape %s, expected %s or %s", shapeString(t.shape),
				shapeString([]int{c.QKV(), 1, c.ConvTaps}), shapeString([]int{c.QKV(), c.ConvTaps, 1}))
		}
		if verdict != neutral && this != verdict {
			return false, tensorError(Mismatch, t.file, t.name, "its layout contradicts that of %s: one was converted, the other not", by)
		}
		verdict, by = this, t.name
	}
	switch {
	case verdict == neutral && b.names[hfNamed] != "":
		return true, nil
	case verdict == neutral && b.names[mlxNamed] != "":
		return false, nil
	case verdict == neutral:
		return false, &Error{Kind: Mismatch, Message: "neither tensor names nor shapes tell the Hugging Face layout from the MLX layout"}
	case verdict == hfNamed && b.names[mlxNamed] != "", verdict == mlxNamed && b.names[hfNamed] != "":
		t := b.have[strings.TrimSuffix(mustCanonical(by), ".")]
		return false, tensorError(Mismatch, t.file, t.name, "its shape %s contradicts the tensor names: one follows the Hugging Face layout, the other MLX's", shapeString(t.shape))
	}
	return verdict == hfNamed, nil
}

func mustCanonical(stored string) string {
	c, _ := canonical(stored)
	return c
}

func (b *backbone) anyVision() bool {
	for name := range b.have {
		if strings.HasPrefix(name, "vision.") {
			return true
		}
	}
	return false
}

// take removes a wanted tensor, with its scales and biases if it is quantised.
func (b *backbone) take(w want, rule *quantization) (Tensor, error) {
	s := b.have[w.name]
	if s == nil {
		return Tensor{}, &Error{Kind: Incomplete, Tensor: w.name, Message: "missing from the weight files: download the model again or choose another conversion"}
	}
	delete(b.have, w.name)
	module, isWeight := strings.CutSuffix(w.name, ".weight")
	if w.quant && isWeight {
		scales, biases := b.have[module+".scales"], b.have[module+".biases"]
		set, declared, err := rule.of(module, scales != nil)
		if err != nil {
			return Tensor{}, &Error{Kind: Mismatch, File: s.file, Tensor: s.name, Message: err.Error(), Err: err}
		}
		if set != nil {
			if declared && scales == nil {
				return Tensor{}, tensorError(Mismatch, s.file, s.name, "config.json declares it quantised, but its scales are missing")
			}
			delete(b.have, module+".scales")
			delete(b.have, module+".biases")
			return quantised(s, scales, biases, w, set)
		}
	}
	if strings.HasSuffix(w.name, "conv1d.weight") {
		return conv(s, w)
	}
	if w.name == patchEmbed {
		return patches(s, w)
	}
	return plain(s, w, s.file)
}

const patchEmbed = "vision.patch_embed.proj.weight"

// plain takes an unquantised float tensor.
func plain(s *stored, w want, file string) (Tensor, error) {
	if s == nil {
		return Tensor{}, tensorError(Incomplete, file, w.name, "missing from the file")
	}
	if !slices.Equal(s.shape, w.shape) && !(s.dtype == "U32" && w.quant) {
		return Tensor{}, tensorError(Mismatch, s.file, s.name, "shape %s, expected %s", shapeString(s.shape), shapeString(w.shape))
	}
	d := dtypeOf(s.dtype)
	switch {
	case d == U32 && w.quant:
		return Tensor{}, tensorError(Mismatch, s.file, s.name, "it holds packed codes (U32), but config.json or its missing scales say that it is not quantised")
	case !d.isFloat():
		return Tensor{}, tensorError(Unsupported, s.file, s.name, "dtype %s is not supported here, expected BF16, F16 or F32", s.dtype)
	}
	return Tensor{Name: s.name, DType: d, Shape: w.shape, Data: s.data}, nil
}

// conv takes a depthwise convolution; both layouts flatten to (channels, taps).
func conv(s *stored, w want) (Tensor, error) {
	flat := *s
	if len(s.shape) == 3 && s.shape[0]*s.shape[1]*s.shape[2] == w.shape[0]*w.shape[1] && s.shape[0] == w.shape[0] {
		flat.shape = w.shape
	}
	return plain(&flat, w, s.file)
}

// patches takes the patch embedding in its stored order: (out, C, T, H, W) or, from MLX, (out, T, H, W, C).
func patches(s *stored, w want) (Tensor, error) {
	n := w.shape
	if last := []int{n[0], n[2], n[3], n[4], n[1]}; slices.Equal(s.shape, last) {
		w.shape = last
	}
	return plain(s, w, s.file)
}

// quantised joins packed codes, scales and biases (clef.md 1.5).
func quantised(s, scales, biases *stored, w want, set *quantSetting) (Tensor, error) {
	rows, cols := w.shape[0], w.shape[1]
	if cols%set.group != 0 {
		return Tensor{}, tensorError(Mismatch, s.file, s.name, "%d columns are not a multiple of the group size %d", cols, set.group)
	}
	packed := []int{rows, cols / 32 * set.bits}
	switch {
	case s.dtype != "U32":
		return Tensor{}, tensorError(Mismatch, s.file, s.name, "dtype %s, but quantised codes are U32", s.dtype)
	case !slices.Equal(s.shape, packed):
		return Tensor{}, tensorError(Mismatch, s.file, s.name, "shape %s, expected %s for %d bits", shapeString(s.shape), shapeString(packed), set.bits)
	case biases == nil:
		return Tensor{}, tensorError(Incomplete, s.file, s.name, "its biases are missing")
	}
	groups := want{shape: []int{rows, cols / set.group}}
	sc, err := plain(scales, groups, s.file)
	if err != nil {
		return Tensor{}, err
	}
	bi, err := plain(biases, groups, s.file)
	if err != nil {
		return Tensor{}, err
	}
	return Tensor{
		Name: s.name, DType: U32, Shape: w.shape, Data: s.data,
		Quant: &Quant{Bits: set.bits, Group: set.group, Scales: sc, Biases: bi},
	}, nil
}

func firstKey(m map[string]*stored) string {
	if len(m) == 0 {
		return ""
	}
	return slices.Min(slices.Collect(maps.Keys(m)))
}
