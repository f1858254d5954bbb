// Package etude holds Etude, the practice model inside the binary: a small decision
// model in exactly Clef's MLX layout, so that the engine loads it through the same code
// as the released ones. REPORT.md says how good it is; train/ makes it again.
package etude

import (
	"embed"
	"io/fs"
	"unsafe"
)

//go:embed model
var files embed.FS

// The two files of weights once more, by the same bytes of the binary: a file of an embed.FS can only be copied.
//
//go:embed model/model.safetensors
var backbone string

//go:embed model/joint_head.safetensors
var head string

//go:embed REPORT.md
var report string

// Report is REPORT.md: what the model learned from, how good it is and where it fails, with its numbers, in Markdown.
func Report() string { return report }

// FS returns the model's folder: config.json, model.safetensors with its index,
// joint_head.safetensors, joint_head_config.json, tokenizer.json, tokenizer_config.json
// and clefbar.json, the card that names it a practice model. Its files live in the binary, and those of the weights
// have a method Bytes that gives them where they are; nobody may write there.
func FS() fs.FS {
	dir, err := fs.Sub(files, "model")
	if err != nil {
		panic("etude: the embedded folder has no model") // fs.Sub fails on a malformed path only
	}
	return inBinary{dir}
}

// inBinary is a file system some of whose files know their bytes.
type inBinary struct{ fs.FS }

func (f inBinary) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	switch name {
	case "model.safetensors":
		return known{file, backbone}, nil
	case "joint_head.safetensors":
		return known{file, head}, nil
	}
	return file, nil
}

type known struct {
	fs.File
	data string
}

// Bytes are the file's bytes in the binary, to read only.
func (k known) Bytes() []byte { return unsafe.Slice(unsafe.StringData(k.data), len(k.data)) }
