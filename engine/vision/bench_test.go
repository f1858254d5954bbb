package vision

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"
)

// BenchmarkPrepare brings a photograph of 12 million pixels into shape.
func BenchmarkPrepare(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i >> 7)
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		b.Fatal(err)
	}
	p, err := newProcessor(released, nil)
	if err != nil {
		b.Fatal(err)
	}
	tower := &Tower{processor: p}
	for b.Loop() {
		if _, err := tower.Prepare(file.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}
