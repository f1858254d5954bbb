package endpoint

import (
	"bytes"
	"image"
	"image/png"
)

// pngOf returns a picture of w by h pixels.
func pngOf(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, w, h))); err != nil {
		panic(err)
	}
	return b.Bytes()
}
