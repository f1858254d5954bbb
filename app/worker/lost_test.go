package worker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clefbar/engine"
	"clefbar/engine/goldentest"
	"clefbar/engine/local"
)

// disk is a shelf with one real model in a folder.
type disk struct {
	shelf
	dir string
}

func (d *disk) Open(ctx context.Context, _ string, progress func(done, total int64)) (Model, error) {
	m, err := local.Open(ctx, d.dir, local.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// TestLostFiles cuts the files of an open model and puts them back: the request that finds out is refused, the next
// one opens the model anew and says what is wrong with it, and when the files are whole again it answers.
func TestLostFiles(t *testing.T) {
	d := &disk{dir: t.TempDir()}
	if err := os.CopyFS(d.dir, os.DirFS(goldentest.Path(t, "tiny-9b-shape-mlx-4bit"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(d.dir, "model.safetensors")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := New(d, "m", Options{})
	r, err := engine.ParseRequest([]byte(`{"state":"a","questions":{"b":{"type":"noul"}}}`), engine.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		content []byte // nil: as it is
		reason  engine.Reason
		want    string // "": an answer
	}{
		{nil, 0, ""},
		{whole[:len(whole)/2], engine.NoModel, "was cut"},
		{nil, engine.BadModel, "incomplete"},
		{whole, 0, ""},
		{nil, 0, ""},
	} {
		if tt.content != nil { // in place, as a tool does that fetches it again
			if err := os.WriteFile(file, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := w.Decide(t.Context(), r)
		if tt.want == "" {
			if err != nil {
				t.Errorf("step %d: got %v, want an answer", i, err)
			}
			continue
		}
		if engine.ReasonOf(err) != tt.reason || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "model.safetensors") {
			t.Errorf("step %d: got reason %d, %v; want %d, …%s…", i, engine.ReasonOf(err), err, tt.reason, tt.want)
		}
	}
	w.Drain(t.Context(), 0)
	if st := w.Status(); len(st.Loaded) != 0 || len(w.lost) != 0 {
		t.Errorf("after Drain: got %v open, %d lost, want none", st.Loaded, len(w.lost))
	}
}
