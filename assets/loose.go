package assets

import (
	"encoding/binary"
	"fmt"

	"fyne.io/fyne/v2"
)

// Loose returns a TrueType font whose lines are line times the type size apart. The
// window's editors need it: Fyne sets lines as close as the font says and ignores
// its own line spacing within a text. Glyphs and widths stay as they are.
func Loose(font fyne.Resource, line float64) fyne.Resource {
	data := append([]byte(nil), font.Content()...)
	tables := fontTables(data)
	head, hhea := tables["head"], tables["hhea"]
	if len(head) < 20 || len(hhea) < 10 {
		return font
	}
	em := float64(binary.BigEndian.Uint16(head[18:]))
	ascent, descent := int16At(hhea, 4), int16At(hhea, 6)
	extra := (line*em - float64(ascent) + float64(descent)) / 2
	ascent, descent = ascent+int16(extra), descent-int16(extra)
	putInt16(hhea, 4, ascent)
	putInt16(hhea, 6, descent)
	putInt16(hhea, 8, 0)
	if os2 := tables["OS/2"]; len(os2) >= 78 {
		putInt16(os2, 68, ascent)  // sTypoAscender
		putInt16(os2, 70, descent) // sTypoDescender
		putInt16(os2, 72, 0)       // sTypoLineGap
		putInt16(os2, 74, ascent)  // usWinAscent
		putInt16(os2, 76, -descent)
	}
	return fyne.NewStaticResource(fmt.Sprintf("%s-%.3f", font.Name(), line), data)
}

// fontTables returns the tables of an sfnt file as views of its bytes.
func fontTables(data []byte) map[string][]byte {
	tables := map[string][]byte{}
	if len(data) < 12 {
		return tables
	}
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		at := 12 + 16*i
		if at+16 > len(data) {
			break
		}
		from := uint64(binary.BigEndian.Uint32(data[at+8:]))
		to := from + uint64(binary.BigEndian.Uint32(data[at+12:]))
		if to <= uint64(len(data)) {
			tables[string(data[at:at+4])] = data[from:to]
		}
	}
	return tables
}

func int16At(b []byte, at int) int16 { return int16(binary.BigEndian.Uint16(b[at:])) }

func putInt16(b []byte, at int, v int16) { binary.BigEndian.PutUint16(b[at:], uint16(v)) }
