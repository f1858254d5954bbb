package shelf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clefbar/models/hub"
	"clefbar/models/modeltest"
)

const golden = "../../engine/testdata/golden/"

// place links the files of a golden checkpoint into a cache snapshot, as the Hub's tools do.
func place(t testing.TB, cache, repo, commit, from string, leaveOut ...string) {
	t.Helper()
	dir := filepath.Join(cache, "models--"+strings.ReplaceAll(repo, "/", "--"), "snapshots", commit)
	blobs := filepath.Join(dir, "../../blobs")
	for _, d := range []string{dir, blobs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
next:
	for n, f := range files {
		for _, out := range leaveOut {
			if f.Name() == out {
				continue next
			}
		}
		b, err := os.ReadFile(filepath.Join(from, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		blob := fmt.Sprintf("%s%02d", commit[:8], n)
		if err := os.WriteFile(filepath.Join(blobs, blob), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("../../blobs/"+blob, filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

func TestScan(t *testing.T) {
	cache := t.TempDir()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	place(t, cache, "mlx-community/clef-flash-4bit", a, golden+"tiny-9b-shape-mlx-4bit")
	place(t, cache, "mlx-community/clef-flash-4bit", b, golden+"tiny-9b-shape-mlx-8bit", "model.safetensors")
	place(t, cache, "someone/chat", a, golden+"tiny-9b-shape-hf", "joint_head.safetensors", "joint_head_config.json")
	place(t, cache, "someone/half", a, golden+"tiny-9b-shape-hf", "tokenizer.json")
	other := filepath.Join(cache, "models--someone--bert/snapshots", a)
	os.MkdirAll(other, 0o755)
	os.WriteFile(filepath.Join(other, "config.json"), []byte(`{"model_type":"bert"}`), 0o644)
	refs := filepath.Join(cache, "models--mlx-community--clef-flash-4bit/refs")
	os.MkdirAll(refs, 0o755)
	os.WriteFile(filepath.Join(refs, "main"), []byte(a), 0o644)

	items, err := Scan(context.Background(), hub.Cache{Dir: cache}, []string{golden, filepath.Join(cache, "nowhere")})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Item{}
	for _, i := range items {
		got[i.Name+" "+i.Commit] = i
	}
	tests := []struct {
		key   string
		state State
	}{
		{"clef-flash-4bit " + a, Ready},
		{"clef-flash-4bit " + b, Incomplete},
		{"chat " + a, NoHead},
		{"tiny-9b-shape-hf ", Ready},
		{"tiny-9b-shape-mlx-8bit ", Ready},
		{"tiny-27b-shape-mlx-4bit ", Ready},
		{"nowhere ", Away},
	}
	for _, tt := range tests {
		i, ok := got[tt.key]
		if !ok || i.State != tt.state || (i.Problem == nil) != (tt.state == Ready) {
			t.Errorf("%s: got %v %v (%v), want %v", tt.key, ok, i.State, i.Problem, tt.state)
		}
	}
	if i := got["half "+a]; i.State == Ready || i.Problem == nil || !strings.Contains(i.Problem.Error(), "tokenizer.json") {
		t.Errorf("without tokenizer.json: got %v, %v", i.State, i.Problem)
	}
	if _, ok := got["bert "+a]; ok {
		t.Error("a model of another kind is listed")
	}
	if i := got["clef-flash-4bit "+a]; len(i.Refs) != 1 || i.Refs[0] != "main" || i.Layout != "4-bit" || i.Repo != "mlx-community/clef-flash-4bit" {
		t.Errorf("got refs %v, layout %q, repository %q", i.Refs, i.Layout, i.Repo)
	}
	if i := got["tiny-9b-shape-hf "]; i.WeightBytes <= 0 || i.WeightBytes >= i.DiskBytes || i.Memory(500) <= i.WeightBytes {
		t.Errorf("weights %d of %d bytes on disk, memory %d", i.WeightBytes, i.DiskBytes, i.Memory(500))
	}
}

func TestScanOfTenThousandFiles(t *testing.T) {
	cache := t.TempDir()
	for r := range 100 {
		dir := filepath.Join(cache, fmt.Sprintf("models--owner--model%d/snapshots/%040d", r, r))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range 99 {
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d.bin", f)), nil, 0o644)
		}
		os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"model_type":"llama"}`), 0o644)
	}
	start := time.Now()
	items, err := Scan(context.Background(), hub.Cache{Dir: cache}, nil)
	if took := time.Since(start); err != nil || len(items) != 0 || took > time.Second {
		t.Errorf("got %d models, %v, in %v, want none in under a second", len(items), err, took)
	}
}

func TestFit(t *testing.T) {
	tests := []struct {
		need, have int64
		want       Verdict
		over       int64
	}{
		{10, 100, Fits, 0},
		{81, 100, Tight, 0},
		{80, 100, Fits, 0},
		{100, 100, Tight, 0},
		{101, 100, TooMuch, 1},
	}
	for _, tt := range tests {
		f := Fit{tt.need, tt.have}
		if f.Verdict() != tt.want || f.Over() != tt.over {
			t.Errorf("%+v: got %s, %d over, want %s, %d", f, f.Verdict(), f.Over(), tt.want, tt.over)
		}
	}
	if have, err := (Room{}).Gives(22 << 30); err != nil || have < 22<<30 {
		t.Errorf("got %d, %v: the model that will be unloaded has to count", have, err)
	}
	if have, err := (Room{GPU: 5 << 30}).Gives(1 << 30); err != nil || have != 5<<30 {
		t.Errorf("got %d, %v: the GPU's own figure has the open models in it", have, err)
	}
}

func TestScanOfWhatIsNoCache(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "hub")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "m")
	if err := os.CopyFS(model, modeltest.Small.Files(nil)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{file: "a file stands", filepath.Join(file, "deeper"): "a file stands", filepath.Join(dir, "none"): ""} {
		items, err := Scan(t.Context(), hub.Cache{Dir: name}, []string{model})
		if len(items) != 1 || items[0].Name != "m" {
			t.Errorf("%s: got %+v, want the one model of the folder", name, items)
		}
		if trouble, ok := errors.AsType[*hub.FolderError](err); ok != (want != "") || ok && (trouble.Path != name || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}
