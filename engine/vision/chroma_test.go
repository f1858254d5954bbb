package vision

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestColoursEqualPillow compares decoded files with what Pillow 13.0.0 makes of them (the
// PNG beside each file). WebP must be equal; JPEG decoders may differ in the inverse
// transform, so a few levels are allowed there.
func TestColoursEqualPillow(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".png") {
			continue
		}
		tested++
		got, err := decodeFile(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		data, err := os.ReadFile(strings.ReplaceAll(file, ".", "_") + ".png")
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		want := flatten(img)
		if got.width != want.width || got.height != want.height {
			t.Errorf("%s: got %d by %d, want %d by %d", file, got.width, got.height, want.width, want.height)
			continue
		}
		most, sum := 0, 0
		for i, v := range want.pix {
			d := max(int(v)-int(got.pix[i]), int(got.pix[i])-int(v))
			most, sum = max(most, d), sum+d
		}
		mean := float64(sum) / float64(len(want.pix))
		if isJPEG := strings.HasSuffix(file, ".jpg"); isJPEG && (most > 4 || mean > 0.1) || !isJPEG && most > 0 {
			t.Errorf("%s: differs by up to %d, %.3f on average", file, most, mean)
		}
	}
	if tested != 10 {
		t.Errorf("compared %d files, want 10", tested)
	}
}

func decodeFile(name string) (*picture, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return decode(data)
}
