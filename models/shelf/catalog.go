package shelf

import (
	"strings"

	"clefbar/models"
)

// Known is a model that can be fetched from the Hub. Sizes are of the files that are fetched; they come
// from the published shard sizes or, where Computed, from the shapes. The Hub's own listing replaces them as soon as it
// is asked.
type Known struct {
	Repo, Name, Layout string
	Bytes              int64
	Computed           bool
	WeightBytes        int64 // weights that a text decision reads
	Note               string

	config *models.Config
}

// Need is what a decision takes beside the weights.
func (k Known) Need() Working { return workingSet(k.config, headWidth) }

// Memory is what the model needs to answer a request of so many tokens.
func (k Known) Memory(tokens int) int64 { return k.WeightBytes + k.Need().Bytes(tokens) }

// Operations is how many multiplications and additions a request of so many tokens takes.
func (k Known) Operations(tokens int) float64 { return operations(k.config, tokens) }

// Size says in words how large a model is that is not of the usual size, with a space behind; "" for the others.
func (k Known) Size() string {
	if k.config == shape27B {
		return "27 billion weights. "
	}
	return ""
}

// InCatalog finds the entry of a repository.
func InCatalog(repo string) (Known, bool) {
	for _, k := range Catalog() {
		if strings.EqualFold(k.Repo, repo) {
			return k, true
		}
	}
	return Known{}, false
}

const headWidth = 1024 // of the joint head, in both sizes

// The published sizes (clef.md 1.3).
var (
	shape9B = &models.Config{
		Hidden: 4096, MLP: 12288, Heads: 16, KVHeads: 4, HeadDim: 256, KeyHeads: 16, ValueHeads: 32, KeyDim: 128, ValueDim: 128,
		Rotary: 64, Full: fourth(32),
	}
	shape27B = &models.Config{
		Hidden: 5120, MLP: 17408, Heads: 24, KVHeads: 4, HeadDim: 256, KeyHeads: 16, ValueHeads: 48, KeyDim: 128, ValueDim: 128,
		Rotary: 64, Full: fourth(64),
	}
)

// fourth says which of n layers are full attention: each fourth one.
func fourth(n int) []bool {
	full := make([]bool, n)
	for i := 3; i < n; i += 4 {
		full[i] = true
	}
	return full
}

const (
	noteFull  = "Full precision: the reference for the others."
	note8     = "No changed answers reported."
	note4     = "Most answers stay the same. Look again at your thresholds."
	notePlain = "Text only. "
)

// Catalog lists the repositories that are known to hold a Clef model with its head, the small ones first.
func Catalog() []Known {
	return []Known{
		{"aufklarer/Clef-flash-9B-MLX-4bit", "Clef-flash", "4-bit", 5_301_000_000, true, 4_140_000_000, notePlain + note4, shape9B},
		{"mlx-community/clef-flash-4bit", "Clef-flash", "4-bit", 6_213_746_901, false, 4_140_000_000, note4, shape9B},
		{"mlx-community/clef-flash-8bit", "Clef-flash", "8-bit", 10_689_959_309, true, 7_600_000_000, note8, shape9B},
		{"Cloudflare/clef-flash", "Clef-flash", "bf16", 19_083_245_725, false, 14_080_000_000, noteFull, shape9B},
		{"mlx-community/clef-4bit", "Clef", "4-bit", 16_330_364_213, true, 13_950_000_000, note4, shape27B},
		{"mlx-community/clef-8bit", "Clef", "8-bit", 29_777_040_693, true, 26_130_000_000, note8, shape27B},
		{"Cloudflare/clef", "Clef", "bf16", 54_989_559_093, true, 48_960_000_000, noteFull, shape27B},
	}
}
