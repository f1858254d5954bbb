package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"clefbar/models/etude"
	"clefbar/models/hub"
	"clefbar/models/modeltest"
)

// pack writes the checkpoint.
func (o options) pack() error {
	dir := o.out
	if o.cache {
		var err error
		if dir, err = o.snapshot(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	s := nearest(o.size, o.layout)
	if err := o.small(dir, s); err != nil {
		return err
	}
	shards, total, err := o.weights(dir, s)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s, %d layers of width %d, %.2f GB in %d files\n", dir, o.layout, s.Layers, s.Hidden, float64(total)/1e9, shards)
	return nil
}

// snapshot is where the Hub's tools would put it.
func (o options) snapshot() (string, error) {
	name := filepath.Base(o.out)
	if name == "." || name == "/" || strings.Contains(name, "--") {
		return "", fmt.Errorf("%q is not a name for a repository", name)
	}
	sum := sha1.Sum([]byte(name + o.layout))
	return hub.DefaultCache().Snapshot(&hub.Repo{ID: "demo/" + name, Commit: hex.EncodeToString(sum[:])}), nil
}

// small writes everything but weights.
func (o options) small(dir string, s modeltest.Shape) error {
	var quantization map[string]any
	if o.layout != "bf16" {
		bits := 4
		if o.layout == "8-bit" {
			bits = 8
		}
		quantization = map[string]any{"group_size": group, "bits": bits, "mode": "affine"}
	}
	config, head := s.Configs(quantization)
	files := map[string][]byte{"config.json": config}
	if o.without != "head" {
		files["joint_head_config.json"] = head
	}
	if o.without != "tokenizer" {
		for _, name := range []string{"tokenizer.json", "tokenizer_config.json"} {
			data, err := fs.ReadFile(etude.FS(), name)
			if err != nil {
				return err
			}
			files[name] = data
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// weights writes the shards with their index, and the head.
func (o options) weights(dir string, s modeltest.Shape) (shards int, total int64, err error) {
	backbone, headPlan := s.Plan()
	var files [][]piece
	room := int64(0)
	for _, t := range backbone {
		for _, p := range pieces(t, o.layout, s.Scalars) {
			if room < p.bytes() && !strings.HasSuffix(p.name, ".scales") && !strings.HasSuffix(p.name, ".biases") {
				files, room = append(files, nil), o.shard
			}
			files[len(files)-1] = append(files[len(files)-1], p)
			room -= p.bytes()
			total += p.bytes()
		}
	}
	where := map[string]string{}
	for i, list := range files {
		name := fmt.Sprintf("model-%05d-of-%05d.safetensors", i+1, len(files))
		for _, p := range list {
			where[p.name] = name
		}
		if o.without == "shard" && i == len(files)-1 {
			continue
		}
		if err := writeFile(filepath.Join(dir, name), list, o.layout == "bf16"); err != nil {
			return 0, 0, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors.index.json"), modeltest.Index(where, total), 0o644); err != nil {
		return 0, 0, err
	}
	if o.without == "head" {
		return len(files), total, nil
	}
	var head []piece
	for _, t := range headPlan {
		head = append(head, plain(t, t.Name, t.Shape, s.Scalars))
		total += head[len(head)-1].bytes()
	}
	return len(files), total, writeFile(filepath.Join(dir, "joint_head.safetensors"), head, true)
}

// writeFile streams a safetensors file. Torch pads the header to 8 bytes, MLX does not.
func writeFile(name string, list []piece, pad bool) (err error) {
	var header strings.Builder
	at := int64(0)
	for i, p := range list {
		shape, err := json.Marshal(append([]int{}, p.shape...))
		if err != nil {
			return err
		}
		lead := ","
		if i == 0 {
			lead = "{"
		}
		fmt.Fprintf(&header, `%s%q:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`, lead, p.name, p.dtype, shape, at, at+p.bytes())
		at += p.bytes()
	}
	header.WriteString("}")
	for pad && (8+header.Len())%8 != 0 {
		header.WriteString(" ")
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := binary.Write(w, binary.LittleEndian, uint64(header.Len())); err != nil {
		return err
	}
	if _, err := w.WriteString(header.String()); err != nil {
		return err
	}
	for _, p := range list {
		if err := p.write(w); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return w.Flush()
}
