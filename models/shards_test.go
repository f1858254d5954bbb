package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"clefbar/models/modeltest"
)

// sharded spreads the small backbone over three files with an index.
func sharded() (fsys fstest.MapFS, where map[string]string, total int64) {
	parts := make([][]modeltest.Tensor, 3)
	where = map[string]string{}
	for i, t := range modeltest.Small.Backbone() {
		parts[i%3] = append(parts[i%3], t)
		where[t.Name] = shardFile(i % 3)
	}
	files := map[string][]byte{"model.safetensors": nil}
	for i, p := range parts {
		files[shardFile(i)] = modeltest.Safetensors(p, 8)
		total += int64(len(files[shardFile(i)]))
	}
	files[indexFile] = modeltest.Index(where, total)
	return with(files), where, total
}

func shardFile(i int) string { return fmt.Sprintf("model-%05d-of-00003.safetensors", i+1) }

func TestShards(t *testing.T) {
	fsys, _, _ := sharded()
	f, err := OpenFS(fsys, "m")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := OpenFS(small, "m")
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for name, want := range whole.tensors {
		if got := f.Tensor(name); string(got.Data) != string(want.Data) {
			t.Errorf("%s differs when the model is split", name)
		}
	}
}

func TestRefusedShards(t *testing.T) {
	const norm = hf + "norm.weight"
	for name, tt := range map[string]struct {
		damage func(fsys fstest.MapFS, where map[string]string, total int64)
		kind   Kind
		want   string
	}{
		"a shard is missing": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			delete(fsys, shardFile(1))
		}, Incomplete, shardFile(1) + ": the weight file is missing (1 of 3, about "},
		"two shards are missing": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			delete(fsys, shardFile(0))
			delete(fsys, shardFile(2))
		}, Incomplete, "2 of 3 weight files are missing (" + shardFile(0) + ", " + shardFile(2)},
		"a shard is cut": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[shardFile(2)].Data = cut(fsys[shardFile(2)].Data, 1)
		}, Incomplete, shardFile(2) + ": the file is incomplete"},
		"a shard is a pointer": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[shardFile(2)].Data = []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
		}, Malformed, "LFS"},
		"mapped to the wrong shard": {func(fsys fstest.MapFS, where map[string]string, total int64) {
			from := slices.Index([]string{shardFile(0), shardFile(1), shardFile(2)}, where[norm])
			where[norm] = shardFile((from + 1) % 3)
			fsys[indexFile].Data = modeltest.Index(where, total)
		}, Mismatch, norm + ": the index maps it to"},
		"the index promises too much": {func(fsys fstest.MapFS, where map[string]string, total int64) {
			where[hf+"layers.1.bonus"] = shardFile(0)
			fsys[indexFile].Data = modeltest.Index(where, total)
		}, Incomplete, "layers.1.bonus: the index promises"},
		"the index leaves the folder": {func(fsys fstest.MapFS, where map[string]string, total int64) {
			where[norm] = "../model-00001-of-00003.safetensors"
			fsys[indexFile].Data = modeltest.Index(where, total)
		}, Malformed, "not a file of this folder"},
		"the index names another kind of file": {func(fsys fstest.MapFS, where map[string]string, total int64) {
			where[norm] = "pytorch_model.bin"
			fsys[indexFile].Data = modeltest.Index(where, total)
		}, Malformed, "has no weight file"},
		"the index is missing": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			delete(fsys, indexFile)
		}, Incomplete, indexFile + ": the index is missing although"},
		"only one shard and no index": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			delete(fsys, indexFile)
			delete(fsys, shardFile(0))
			delete(fsys, shardFile(2))
		}, Incomplete, "2 of 3 weight files are missing"},
		"the index is empty": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[indexFile].Data = []byte(`{"weight_map":{}}`)
		}, Malformed, "weight_map is empty"},
		"the index has no map": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[indexFile].Data = []byte(`{"metadata":{}}`)
		}, Malformed, "weight_map"},
		"the index is a web page": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[indexFile].Data = []byte(`<html>`)
		}, Malformed, "web page"},
		"a tensor is in two shards": {func(fsys fstest.MapFS, _ map[string]string, _ int64) {
			fsys[shardFile(1)].Data = fsys[shardFile(0)].Data
		}, Mismatch, "it is also in"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, where, total := sharded()
			tt.damage(fsys, where, total)
			f, err := OpenFS(fsys, "m")
			if err == nil {
				f.Close()
				t.Fatal("the folder was accepted")
			}
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Kind != tt.kind || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("got %v, want kind %d, …%s…", err, tt.kind, tt.want)
			}
		})
	}
}

// TestMissingBytes: with the totals of the index the size of the download is known.
func TestMissingBytes(t *testing.T) {
	fsys, _, _ := sharded()
	want := int64(len(fsys[shardFile(1)].Data))
	delete(fsys, shardFile(1))
	_, err := OpenFS(fsys, "m")
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Bytes != want || !slices.Equal(e.Missing, []string{shardFile(1)}) {
		t.Errorf("got %+v, want %d bytes of %s", e, want, shardFile(1))
	}
}
