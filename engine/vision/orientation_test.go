package vision

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// tiff builds an EXIF block with an orientation behind another tag.
func tiff(order binary.AppendByteOrder, value uint16) []byte {
	head := "II*\x00"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		head = "MM\x00*"
	}
	b := order.AppendUint32([]byte(head), 8)
	b = order.AppendUint16(b, 2)
	for _, e := range [][2]uint16{{0x010F, 1}, {0x0112, value}} {
		b = order.AppendUint16(b, e[0])
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, e[1])
		b = order.AppendUint16(b, 0)
	}
	return order.AppendUint32(b, 0)
}

// asJPEG, asPNG and asWebP put an EXIF block where the format has its place for it.
func asJPEG(data, exif []byte) []byte {
	body := append([]byte("Exif\x00\x00"), exif...)
	app1 := binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(body)+2))
	return bytes.Join([][]byte{data[:2], app1, body, data[2:]}, nil)
}

func asPNG(data, exif []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)))
	chunk = append(append(chunk, "eXIf"...), exif...)
	crc := crc(chunk[4:])
	return bytes.Join([][]byte{data[:33], binary.BigEndian.AppendUint32(chunk, crc), data[33:]}, nil)
}

func asWebP(exif []byte) []byte {
	chunk := binary.LittleEndian.AppendUint32([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00EXIF"), uint32(len(exif)))
	return append(chunk, exif...)
}

// crc is the checksum of a PNG chunk.
func crc(b []byte) uint32 {
	c := ^uint32(0)
	for _, v := range b {
		c ^= uint32(v)
		for range 8 {
			c = c>>1 ^ 0xEDB88320*(c&1)
		}
	}
	return ^c
}

// arrow is 3 by 2 pixels with a different grey in each.
func arrow() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(10 * (i + 1))
	}
	return img
}

// TestOrientation: what must be seen for each of the eight values, from the EXIF
// specification: where row 0 and column 0 of the file are.
func TestOrientation(t *testing.T) {
	want := map[uint16]string{
		0: "[10 20 30] [40 50 60]", 1: "[10 20 30] [40 50 60]", 2: "[30 20 10] [60 50 40]", 3: "[60 50 40] [30 20 10]",
		4: "[40 50 60] [10 20 30]", 5: "[10 40] [20 50] [30 60]", 6: "[40 10] [50 20] [60 30]", 7: "[60 30] [50 20] [40 10]",
		8: "[30 60] [20 50] [10 40]", 9: "[10 20 30] [40 50 60]",
	}
	data := encodePNG(t, arrow())
	for value, rows := range want {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			file := asPNG(data, tiff(order, value))
			p, err := decode(file)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for y := range p.height {
				row := make([]byte, p.width)
				for x := range row {
					row[x] = p.pix[3*(y*p.width+x)]
				}
				got += fmt.Sprint(row, " ")
			}
			if got != rows+" " {
				t.Errorf("%d: got %s, want %s", value, got, rows)
			}
			if w, h, err := Size(file); err != nil || w != p.width || h != p.height {
				t.Errorf("%d: Size says %d by %d, %v; the image is %d by %d", value, w, h, err, p.width, p.height)
			}
		}
	}
}

func TestOrientationOfFormats(t *testing.T) {
	var jpg bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 24, 8))
	for i := range 64 {
		img.Set(i%8, i/8, color.White)
	}
	if err := jpeg.Encode(&jpg, img, nil); err != nil {
		t.Fatal(err)
	}
	file := asJPEG(jpg.Bytes(), tiff(binary.BigEndian, 6))
	p, err := decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.width != 8 || p.height != 24 || p.pix[0] < 200 || p.pix[3*8*20] > 50 {
		t.Errorf("JPEG: got %d by %d, top %d, bottom %d", p.width, p.height, p.pix[0], p.pix[3*8*20])
	}
	if got := orientation(asWebP(tiff(binary.LittleEndian, 8))); got != 8 {
		t.Errorf("WebP: got %d, want 8", got)
	}
	whole := tiff(binary.LittleEndian, 6)
	for n := range whole {
		orientation(asJPEG(jpg.Bytes(), whole[:n])) // cut anywhere: no panic
		orientation(asWebP(whole[:n]))
	}
}
