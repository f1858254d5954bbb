// Package etude holds Etude, the practice model inside the binary: a small decision
// model in exactly Clef's MLX layout, so that the engine loads it through the same code
// as the released ones. REPORT.md says how good it is; train/ makes it again.
package etude

import (
	"embed"
	"io/fs"
)

//go:embed model
var files embed.FS

//go:embed REPORT.md
var report string

// Report is REPORT.md: what the model learned from, how good it is and where it fails, with its numbers, in Markdown.
func Report() string { return report }

// FS returns the model's folder: config.json, model.safetensors with its index,
// joint_head.safetensors, joint_head_config.json, tokenizer.json, tokenizer_config.json
// and clefbar.json, the card that names it a practice model. Its files live in the binary.
func FS() fs.FS {
	dir, err := fs.Sub(files, "model")
	if err != nil {
		panic("etude: the embedded folder has no model") // fs.Sub fails on a malformed path only
	}
	return dir
}
