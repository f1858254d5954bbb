package shelf

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/models/hub"
)

// TestUnfinished tells downloads that have not ended from models that lack something for good.
func TestUnfinished(t *testing.T) {
	cache := hub.Cache{Dir: t.TempDir()}
	a := strings.Repeat("a", 40)
	hf := golden + "tiny-9b-shape-hf"
	place(t, cache.Dir, "someone/ours", a, hf, "joint_head.safetensors", "joint_head_config.json", "model.safetensors")
	repo := hub.Repo{ID: "someone/ours", Revision: "main", Commit: a, Files: []hub.File{
		{Path: "config.json", Size: 10, Hash: a},
		{Path: "joint_head.safetensors", Size: 1000, Hash: strings.Repeat("c", 64), LFS: true},
		{Path: "picture.png", Size: 5000, Hash: a},
	}}
	record, err := json.Marshal(repo)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(cache.Dir, "models--someone--ours/.clefbar", a+".json")
	os.MkdirAll(filepath.Dir(file), 0o755)
	if err := os.WriteFile(file, record, 0o600); err != nil {
		t.Fatal(err)
	}
	place(t, cache.Dir, "someone/theirs", a, hf, "joint_head.safetensors", "joint_head_config.json")
	place(t, cache.Dir, "someone/orphan", a, hf)
	for name, blob := range map[string]string{"theirs": strings.Repeat("d", 64), "orphan": a[:8] + "00"} {
		part := filepath.Join(cache.Dir, "models--someone--"+name, "blobs", blob+".incomplete")
		if err := os.WriteFile(part, make([]byte, 777), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := filepath.Join(cache.Dir, "models--mlx-community--clef-flash-4bit/blobs")
	os.MkdirAll(first, 0o755)
	if err := os.WriteFile(filepath.Join(first, strings.Repeat("e", 64)+".incomplete"), make([]byte, 12), 0o600); err != nil {
		t.Fatal(err)
	}
	items, err := Scan(context.Background(), cache, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Item{}
	for _, i := range items {
		got[i.Repo] = i
	}
	if i := got["someone/ours"]; i.State != Incomplete || i.Missing != 1010 || len(i.Refs) != 1 || !strings.Contains(i.Problem.Error(), "2 of 2 files") {
		t.Errorf("begun here: got %v, %d missing, %v, %v", i.State, i.Missing, i.Refs, i.Problem)
	}
	if i := got["someone/theirs"]; i.State != Incomplete || !strings.Contains(i.Problem.Error(), "another tool") {
		t.Errorf("begun by another tool: got %v, %v", i.State, i.Problem)
	}
	if i := got["someone/orphan"]; i.State != Ready {
		t.Errorf("an orphan beside the finished blob: got %v, %v", i.State, i.Problem)
	}
	if i := got["mlx-community/clef-flash-4bit"]; i.State != Incomplete || i.DiskBytes != 12 || i.Missing < 6_000_000_000 || i.Layout != "4-bit" || i.Memory(500) < 4_000_000_000 {
		t.Errorf("the first file of a known one: got %+v", i)
	}
}

func TestWork(t *testing.T) {
	for _, k := range Catalog() {
		weights := 6.92e9 // of the backbone without its tables (clef.md 1.4)
		if k.Name == "Clef" {
			weights = 24.35e9
		}
		if got, want := k.Operations(500), 2.2*weights*500; math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s %s: got %g operations, want about %g", k.Name, k.Layout, got, want)
		}
		if m := k.Memory(16384); m <= k.WeightBytes || m > k.WeightBytes+4<<30 {
			t.Errorf("%s %s: got %d bytes of memory for %d of weights", k.Name, k.Layout, m, k.WeightBytes)
		}
	}
}
