package vision

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"clefbar/engine"
)

// maxPixels caps what is decoded, before it is decoded.
const maxPixels = 64 << 20

// format decodes one kind of image file.
type format struct {
	name   string
	colour colour // of images that store luma and chroma
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// formats are keyed by what engine.Image calls them.
var formats = map[string]format{
	"png":  {"PNG", colour{}, png.DecodeConfig, png.Decode},
	"jpeg": {"JPEG", jpegColour, jpeg.DecodeConfig, jpeg.Decode},
	"webp": {"WebP", webpColour, webp.DecodeConfig, webp.Decode},
}

// sniff tells the format by the file's first bytes.
func sniff(data []byte) (format, error) {
	f, ok := formats[engine.Image{Data: data}.Format()]
	if !ok {
		return f, errors.New("not a PNG, JPEG or WebP image")
	}
	return f, nil
}

// Size returns the width and height of an encoded image as it is meant to be seen,
// without decoding it.
func Size(data []byte) (width, height int, err error) {
	f, err := sniff(data)
	if err != nil {
		return 0, 0, err
	}
	c, err := f.config(bytes.NewReader(data))
	if err != nil {
		return 0, 0, fmt.Errorf("the %s header is damaged: %w", f.name, err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return 0, 0, fmt.Errorf("%d by %d pixels are too many, at most %d in all", c.Width, c.Height, maxPixels)
	}
	if orientation(data).swaps() {
		return c.Height, c.Width, nil
	}
	return c.Width, c.Height, nil
}

// picture is an image of 8-bit RGB, row by row.
type picture struct {
	width, height int
	pix           []byte
}

func newPicture(width, height int) *picture {
	return &picture{width, height, make([]byte, 3*width*height)}
}

// decode reads an image as the servers of Clef do: alpha is dropped, leaving the
// stored colours, grey is replicated, and the camera's orientation is applied
// (clef.md 5.1).
func decode(data []byte) (*picture, error) {
	if _, _, err := Size(data); err != nil {
		return nil, err
	}
	f, err := sniff(data)
	if err != nil {
		return nil, err
	}
	img, err := f.decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the %s data is damaged: %w", f.name, err)
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return orientation(data).apply(f.colour.picture(m)), nil
	case *image.NYCbCrA: // lossy WebP with alpha
		return orientation(data).apply(f.colour.picture(&m.YCbCr)), nil
	}
	return orientation(data).apply(flatten(img)), nil
}

// flatten turns any decoded image into RGB.
func flatten(img image.Image) *picture {
	b := img.Bounds()
	p := newPicture(b.Dx(), b.Dy())
	rgb := reader(img)
	for y := range p.height {
		for x := range p.width {
			r, g, bl := rgb(b.Min.X+x, b.Min.Y+y)
			at := 3 * (y*p.width + x)
			p.pix[at], p.pix[at+1], p.pix[at+2] = r, g, bl
		}
	}
	return p
}

// reader returns the stored colour of a pixel, whatever its alpha. Of 16 bits the
// high byte counts.
func reader(img image.Image) func(x, y int) (r, g, b byte) {
	switch m := img.(type) {
	case *image.NRGBA:
		return func(x, y int) (byte, byte, byte) {
			s := m.Pix[m.PixOffset(x, y):]
			return s[0], s[1], s[2]
		}
	case *image.NRGBA64:
		return func(x, y int) (byte, byte, byte) {
			s := m.Pix[m.PixOffset(x, y):]
			return s[0], s[2], s[4]
		}
	case *image.RGBA: // decoders use it for opaque images only
		return func(x, y int) (byte, byte, byte) {
			s := m.Pix[m.PixOffset(x, y):]
			return s[0], s[1], s[2]
		}
	case *image.RGBA64:
		return func(x, y int) (byte, byte, byte) {
			s := m.Pix[m.PixOffset(x, y):]
			return s[0], s[2], s[4]
		}
	case *image.Gray:
		return func(x, y int) (byte, byte, byte) {
			v := m.Pix[m.PixOffset(x, y)]
			return v, v, v
		}
	case *image.Paletted:
		return func(x, y int) (byte, byte, byte) { return stored(m.Palette[m.ColorIndexAt(x, y)]) }
	}
	return func(x, y int) (byte, byte, byte) { return stored(img.At(x, y)) }
}

// stored returns a colour without its alpha.
func stored(c color.Color) (r, g, b byte) {
	if n, ok := c.(color.NRGBA); ok {
		return n.R, n.G, n.B
	}
	r16, g16, b16, _ := c.RGBA()
	return byte(r16 >> 8), byte(g16 >> 8), byte(b16 >> 8)
}
