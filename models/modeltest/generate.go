// Package modeltest writes synthetic model folders for tests. Every weight follows
// from its name (clef.md 8.1), so a test can rebuild a checkpoint without files and
// still know the answers that the reference gives for it.
package modeltest

import (
	"hash/fnv"
	"math"
	"strings"
)

// Uniform returns u(name, i) in [0, 1) for i < n: 24 random bits each, from FNV-1a
// of the name and SplitMix64.
func Uniform(name string, n int) []float64 {
	out, start := make([]float64, n), seed(name)
	for i := range out {
		out[i] = uniform(start, i)
	}
	return out
}

func seed(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}

func uniform(seed uint64, i int) float64 {
	z := seed + uint64(i+1)*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>40) / (1 << 24)
}

// Scalars are the three learned numbers of the joint head.
type Scalars struct{ Prior, Joint, Gate float64 }

// GoldenScalars are those of the file-free golden model, TinyScalars those of the tiny checkpoints.
var (
	GoldenScalars = Scalars{Prior: 2.302585, Joint: 1, Gate: -0.5}
	TinyScalars   = Scalars{Prior: 2.302585, Joint: 2, Gate: 1}
)

// Values returns the generated values of a tensor, rounded to bfloat16. name is the
// Hugging Face name of a backbone tensor or the bare name of a head tensor.
func Values(name string, shape []int, s Scalars) []float32 {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return ValuesAt(name, shape, 0, n, s)
}

// ValuesAt returns the values [from, to) of a tensor, row after row, so that a large one need not be held whole.
func ValuesAt(name string, shape []int, from, to int, s Scalars) []float32 {
	fan := 1
	for _, d := range shape[min(1, len(shape)):] {
		fan *= d
	}
	out, start := make([]float32, to-from), seed(name)
	value := rule(name, len(shape), fan, s)
	for i := range out {
		out[i] = round(float32(value(2*uniform(start, from+i) - 1)))
	}
	return out
}

// rule returns how s = 2u-1 is scaled according to what the tensor is.
func rule(name string, rank, fan int, k Scalars) func(s float64) float64 {
	constant := func(c float64) func(float64) float64 { return func(float64) float64 { return c } }
	switch {
	case name == "prior_logit_scale":
		return constant(k.Prior)
	case name == "joint_logit_scale":
		return constant(k.Joint)
	case name == "residual_gate":
		return constant(k.Gate)
	case strings.HasSuffix(name, "A_log"):
		return func(s float64) float64 { return -1 + 3*(s+1)/2 }
	case strings.HasSuffix(name, "dt_bias"):
		return func(s float64) float64 { return s }
	case strings.HasSuffix(name, "linear_attn.norm.weight"):
		return func(s float64) float64 { return 1 + 0.1*s }
	case Centred(name), strings.HasSuffix(name, ".bias"), strings.HasSuffix(name, "in_proj_bias"):
		return func(s float64) float64 { return 0.1 * s }
	case rank == 1:
		return func(s float64) float64 { return 1 + 0.1*s }
	case strings.HasSuffix(name, "conv1d.weight"), strings.Contains(name, "embed_tokens"),
		strings.Contains(name, "type_embedding"), strings.Contains(name, "pos_embed"):
		return func(s float64) float64 { return 0.5 * s }
	}
	wide := math.Sqrt(3 / float64(fan))
	return func(s float64) float64 { return s * wide }
}

// Centred tells the norms that the Hugging Face layout stores without their +1.
func Centred(name string) bool {
	if !strings.HasPrefix(name, "model.language_model.") {
		return false
	}
	for _, end := range []string{"input_layernorm.weight", "post_attention_layernorm.weight", "q_norm.weight", "k_norm.weight"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "model.language_model.norm.weight"
}

// round rounds to bfloat16, ties to even.
func round(x float32) float32 {
	u := math.Float32bits(x)
	return math.Float32frombits((u + 0x7FFF + u>>16&1) &^ 0xFFFF)
}
