package models

import (
	"os"
	"testing"
)

const goldenDir = "../engine/testdata/golden/"

var checkpoints = []struct {
	dir, layout string
	centred     bool
	vision      bool
}{
	{"tiny-9b-shape-hf", "bf16", true, true},
	{"tiny-9b-shape-mlx-4bit", "4-bit", false, true},
	{"tiny-9b-shape-mlx-8bit", "8-bit", false, true},
	{"tiny-27b-shape-mlx-4bit", "4-bit", false, false},
}

func TestOpenCheckpoints(t *testing.T) {
	for _, c := range checkpoints {
		t.Run(c.dir, func(t *testing.T) {
			onDisk, err := Open(goldenDir + c.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer onDisk.Close()
			inFS, err := OpenFS(os.DirFS(goldenDir+c.dir), c.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer inFS.Close()
			for _, f := range []*Folder{onDisk, inFS} {
				if f.Name != c.dir || f.Layout != c.layout || f.Centred != c.centred || f.Vision() != c.vision {
					t.Errorf("got %s, layout %s, centred %v, vision %v; want %+v", f.Name, f.Layout, f.Centred, f.Vision(), c)
				}
				if err := f.Check(); err != nil {
					t.Errorf("Check: %v", err)
				}
			}
			if onDisk.DiskBytes != inFS.DiskBytes || onDisk.DiskBytes < 1<<20 {
				t.Errorf("DiskBytes: %d on disk, %d in a file system", onDisk.DiskBytes, inFS.DiskBytes)
			}
			for name, want := range onDisk.tensors {
				if got := inFS.tensors[name]; string(got.Data) != string(want.Data) {
					t.Errorf("%s differs between the two sources", name)
				}
			}
		})
	}
}
