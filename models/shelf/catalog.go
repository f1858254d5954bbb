package shelf

// Known is a model that can be fetched from the Hub. Sizes are of the files that are fetched; they come
// from the published shard sizes or, where Computed, from the shapes. The Hub's own listing replaces them as soon as it
// is asked.
type Known struct {
	Repo, Name, Layout string
	Bytes              int64
	Computed           bool
	WeightBytes        int64 // weights that a text decision reads
	Note               string
}

const (
	noteFull  = "Full precision: the reference for the others."
	note8     = "No changed answers reported."
	note4     = "Most answers stay the same. Look again at your thresholds."
	notePlain = " Text only."
)

// Catalog lists the repositories that are known to hold a Clef model with its head, the small ones first.
func Catalog() []Known {
	return []Known{
		{"aufklarer/Clef-flash-9B-MLX-4bit", "Clef-flash", "4-bit", 5_301_000_000, true, 4_140_000_000, note4 + notePlain},
		{"mlx-community/clef-flash-4bit", "Clef-flash", "4-bit", 6_213_746_901, false, 4_140_000_000, note4},
		{"mlx-community/clef-flash-8bit", "Clef-flash", "8-bit", 10_689_959_309, true, 7_600_000_000, note8},
		{"Cloudflare/clef-flash", "Clef-flash", "bf16", 19_083_245_725, false, 14_080_000_000, noteFull},
		{"mlx-community/clef-4bit", "Clef", "4-bit", 16_330_364_213, true, 13_950_000_000, note4 + " 27 billion weights."},
		{"mlx-community/clef-8bit", "Clef", "8-bit", 29_777_040_693, true, 26_130_000_000, note8 + " 27 billion weights."},
		{"Cloudflare/clef", "Clef", "bf16", 54_989_559_093, true, 48_960_000_000, noteFull + " 27 billion weights."},
	}
}
