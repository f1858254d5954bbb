package models

import (
	"strings"
)

// family says which naming scheme a stored tensor name belongs to.
type family uint8

const (
	neutral  family = iota // used by both schemes
	hfNamed                // original Hugging Face names
	mlxNamed               // names of an MLX conversion
)

// prefixes maps stored prefixes to canonical ones, longest first (clef.md 1.4).
// Canonical text names have no prefix: "layers.0.mlp.up_proj.weight".
var prefixes = []struct {
	stored, canon string
	family        family
}{
	{"model.language_model.visual.", "vision.", hfNamed},
	{"model.language_model.", "", hfNamed},
	{"model.visual.", "vision.", hfNamed},
	{"language_model.model.", "", mlxNamed},
	{"language_model.lm_head.", "lm_head.", mlxNamed},
	{"vision_tower.", "vision.", mlxNamed},
	{"lm_head.", "lm_head.", neutral},
	{"model.", "", neutral},
}

// canonical returns the name that the engine uses for a stored backbone tensor or
// module, "" for a name of neither scheme.
func canonical(stored string) (string, family) {
	// Override keys name modules: "lm_head" stands for "lm_head.".
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(stored, p.stored); ok && rest != "" {
			return p.canon + rest, p.family
		}
		if stored+"." == p.stored && p.canon != "" {
			return strings.TrimSuffix(p.canon, "."), p.family
		}
	}
	return "", neutral
}

// unused tells tensors that no decision needs: multi-token prediction, and
// rotary frequencies that some converters store.
func unused(stored string) bool {
	return strings.HasPrefix(stored, "mtp.") || strings.Contains(stored, ".mtp.") || strings.HasSuffix(stored, "rotary_emb.inv_freq") ||
		strings.HasSuffix(stored, "rotary_pos_emb.inv_freq")
}
