package shelf

import (
	"strings"

	"clefbar/models"
)

// Known is a model that can be fetched from the Hub. Sizes are of the files that are fetched; they come
// from the published shard sizes or, where Computed, from the shapes. The Hub's own listing replaces them as soon as it
// is asked.
type Known struct {
	Repo        string  `json:"repo"`
	Name        string  `json:"name"`
	Layout      string  `json:"layout"`
	Bytes       int64   `json:"bytes"`
	Computed    bool    `json:"computed"`
	WeightBytes int64   `json:"weight_bytes"` // weights that a text decision reads
	Need        Working `json:"need"`         // what a decision takes beside the weights
	PerToken    float64 `json:"per_token"`    // multiplications and additions for one token of a request
	Note        string  `json:"note"`
}

// Memory is what the model needs to answer a request of so many tokens.
func (k Known) Memory(tokens int) int64 { return k.WeightBytes + k.Need.Bytes(tokens) }

// Operations is how many multiplications and additions a request of so many tokens takes.
func (k Known) Operations(tokens int) float64 { return k.PerToken * float64(tokens) }

// Size says in words how large a model is that is not of the usual size, with a space behind; "" for the others.
func (k Known) Size() string {
	if k.PerToken == operations(shape27B) {
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
	noteOther = "A conversion of its own kind: compare it with the original before you trust it."
	notePlain = "Text only. "
)

// Catalog lists the repositories that are known to hold a Clef model with its head, the small ones first. Others are found
// by their files: see Shaped.
func Catalog() []Known {
	list := []struct {
		Known
		shape *models.Config
	}{
		{Known{Repo: "aufklarer/Clef-flash-9B-MLX-4bit", Layout: "4-bit", Bytes: 5_301_000_000, Computed: true, WeightBytes: 4_140_000_000, Note: notePlain + note4}, shape9B},
		{Known{Repo: "mlx-community/clef-flash-4bit", Layout: "4-bit", Bytes: 6_213_746_901, WeightBytes: 4_140_000_000, Note: note4}, shape9B},
		{Known{Repo: "mlx-community/clef-flash-8bit", Layout: "8-bit", Bytes: 10_689_959_309, Computed: true, WeightBytes: 7_600_000_000, Note: note8}, shape9B},
		{Known{Repo: "Cloudflare/clef-flash", Layout: "bf16", Bytes: 19_083_245_725, WeightBytes: 14_080_000_000, Note: noteFull}, shape9B},
		{Known{Repo: "mlx-community/clef-4bit", Layout: "4-bit", Bytes: 16_330_364_213, Computed: true, WeightBytes: 13_950_000_000, Note: note4}, shape27B},
		{Known{Repo: "mlx-community/clef-8bit", Layout: "8-bit", Bytes: 29_777_040_693, Computed: true, WeightBytes: 26_130_000_000, Note: note8}, shape27B},
		{Known{Repo: "Cloudflare/clef", Layout: "bf16", Bytes: 54_989_559_093, Computed: true, WeightBytes: 48_960_000_000, Note: noteFull}, shape27B},
	}
	known := make([]Known, len(list))
	for i, k := range list {
		known[i] = k.Known
		known[i].Name = "Clef-flash"
		if k.shape == shape27B {
			known[i].Name = "Clef"
		}
		known[i].Need, known[i].PerToken = workingSet(k.shape, headWidth), operations(k.shape)
	}
	return known
}
