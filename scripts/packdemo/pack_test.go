package main

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"clefbar/models"
	"clefbar/models/modeltest"
)

// TestPack opens what it wrote in every layout, and compares a tensor with the generator's own.
func TestPack(t *testing.T) {
	for _, layout := range []string{"bf16", "8-bit", "4-bit"} {
		dir := filepath.Join(t.TempDir(), "demo")
		o, err := parse([]string{"-size", "12MB", "-shard", "5MB", "-layout", layout, "-out", dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.pack(); err != nil {
			t.Fatal(err)
		}
		f, err := models.Open(dir)
		if err != nil {
			t.Fatalf("%s: %v", layout, err)
		}
		if f.Layout != layout || f.Centred != (layout == "bf16") || f.DiskBytes < 6e6 || f.DiskBytes > 60e6 {
			t.Errorf("%s: got layout %s, %d bytes, centred %v", layout, f.Layout, f.DiskBytes, f.Centred)
		}
		norm := f.Tensor("norm.weight")
		want := modeltest.Values("model.language_model.norm.weight", norm.Shape, modeltest.TinyScalars)
		if layout != "bf16" {
			want[0]++
		}
		if got := half(norm.Data); got-want[0] > 0.01 || want[0]-got > 0.01 {
			t.Errorf("%s: norm starts with %v, want %v", layout, got, want[0])
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func half(b []byte) float32 {
	return math.Float32frombits(uint32(b[0])<<16 | uint32(b[1])<<24)
}

func TestPackWithout(t *testing.T) {
	for what, kind := range map[string]models.Kind{"head": models.NoHead, "tokenizer": models.Incomplete, "shard": models.Incomplete} {
		dir := filepath.Join(t.TempDir(), "demo")
		o, err := parse([]string{"-size", "12MB", "-shard", "5MB", "-out", dir, "-without", what})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.pack(); err != nil {
			t.Fatal(err)
		}
		_, err = models.Open(dir)
		if e, ok := errors.AsType[*models.Error](err); !ok || e.Kind != kind {
			t.Errorf("without %s: got %v", what, err)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, size := range []int64{30e6, 200e6, 1e9, 5e9, 18e9} {
		got := weightBytes(nearest(size, "4-bit"), "4-bit")
		if got < size*6/10 || got > size*14/10 {
			t.Errorf("asked for %d bytes, got %d", size, got)
		}
	}
	for _, bad := range []string{"", "x", "-1GB", "10kB", "5000GB", "NaNGB"} {
		if n, err := bytesOf(bad); err == nil {
			t.Errorf("%q: got %d", bad, n)
		}
	}
}
