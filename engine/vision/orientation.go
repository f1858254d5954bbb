package vision

import (
	"bytes"
	"encoding/binary"
)

// turn is the EXIF orientation of an image, 1 to 8; anything else means upright.
type turn int

// swaps says whether width and height change places.
func (t turn) swaps() bool { return t >= 5 && t <= 8 }

// apply turns an image upright.
func (t turn) apply(p *picture) *picture {
	if t < 2 || t > 8 {
		return p
	}
	w, h := p.width, p.height
	out := newPicture(w, h)
	if t.swaps() {
		out = newPicture(h, w)
	}
	for y := range out.height {
		for x := range out.width {
			sx, sy := t.source(x, y, w, h)
			copy(out.pix[3*(y*out.width+x):], p.pix[3*(sy*w+sx):][:3])
		}
	}
	return out
}

// source tells which stored pixel of a w by h image is seen at (x, y).
func (t turn) source(x, y, w, h int) (int, int) {
	switch t {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// orientation reads the EXIF orientation of a JPEG, PNG or WebP file; 0 when there is
// none or it is damaged, as viewers do.
func orientation(data []byte) turn {
	var exif []byte
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8")):
		exif = jpegEXIF(data)
	case bytes.HasPrefix(data, []byte("\x89PNG")):
		exif = pngEXIF(data)
	case bytes.HasPrefix(data, []byte("RIFF")):
		exif = webpEXIF(data)
	}
	return tiffOrientation(bytes.TrimPrefix(exif, []byte("Exif\x00\x00")))
}

// jpegEXIF returns the payload of the APP1 segment that holds EXIF data.
func jpegEXIF(data []byte) []byte {
	for at := 2; at+4 <= len(data) && data[at] == 0xFF; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xFF { // a fill byte
			at++
			continue
		}
		if marker == 0xDA || size < 2 || at+2+size > len(data) {
			return nil
		}
		body := data[at+4 : at+2+size]
		if marker == 0xE1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return body
		}
		at += 2 + size
	}
	return nil
}

// pngEXIF returns the eXIf chunk.
func pngEXIF(data []byte) []byte {
	for at := 8; at+12 <= len(data); {
		size := binary.BigEndian.Uint32(data[at:])
		if uint64(size) > uint64(len(data)-at-12) {
			return nil
		}
		if string(data[at+4:at+8]) == "eXIf" {
			return data[at+8 : at+8+int(size)]
		}
		at += 12 + int(size)
	}
	return nil
}

// webpEXIF returns the EXIF chunk.
func webpEXIF(data []byte) []byte {
	for at := 12; at+8 <= len(data); {
		size := binary.LittleEndian.Uint32(data[at+4:])
		if uint64(size) > uint64(len(data)-at-8) {
			return nil
		}
		if string(data[at:at+4]) == "EXIF" {
			return data[at+8 : at+8+int(size)]
		}
		at += 8 + int(size) + int(size&1)
	}
	return nil
}

// tiffOrientation looks the orientation tag up in the first directory of a TIFF block.
func tiffOrientation(tiff []byte) turn {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(tiff[:2]) {
	case "II":
	case "MM":
		order = binary.BigEndian
	default:
		return 0
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 0
	}
	entries := int(order.Uint16(tiff[at:]))
	for i := range entries {
		e := at + 2 + 12*uint64(i)
		if e+12 > uint64(len(tiff)) {
			return 0
		}
		const orientationTag, short = 0x0112, 3
		if order.Uint16(tiff[e:]) == orientationTag && order.Uint16(tiff[e+2:]) == short {
			return turn(order.Uint16(tiff[e+8:]))
		}
	}
	return 0
}
