package tokenizer

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"unicode/utf8"
)

// vocab holds the tokens as raw bytes and finds them by id and by bytes. A Go map
// of as many strings would take five times the memory.
type vocab struct {
	text  []byte
	spans []span  // by id
	table []int32 // open addressing: id+1, 0 for a free slot
	seed  maphash.Seed
}

// span locates a token in vocab.text; a token is never empty, so an empty span is an
// id that nobody has.
type span struct{ from, to uint32 }

func (v *vocab) token(id int32) []byte {
	if id < 0 || int(id) >= len(v.spans) {
		return nil
	}
	return v.text[v.spans[id].from:v.spans[id].to]
}

// index builds the table from the spans.
func (v *vocab) index() {
	v.seed = maphash.MakeSeed()
	v.table = make([]int32, 1<<bits.Len(uint(2*len(v.spans))))
	for id := range v.spans {
		if token := v.token(int32(id)); len(token) > 0 {
			v.table[v.slot(token)] = int32(id) + 1
		}
	}
}

// slot returns where a token is, or the free slot where it belongs.
func (v *vocab) slot(token []byte) int {
	mask := len(v.table) - 1
	for i := int(maphash.Bytes(v.seed, token)) & mask; ; i = (i + 1) & mask {
		if v.table[i] == 0 || bytes.Equal(v.token(v.table[i]-1), token) {
			return i
		}
	}
}

func (v *vocab) id(token []byte) (int32, bool) {
	if len(token) == 0 || len(v.table) == 0 {
		return 0, false
	}
	id := v.table[v.slot(token)] - 1
	return max(id, 0), id >= 0
}

// byteRunes is the alphabet of byte-level BPE: the printable character that stands
// for each byte. Bytes 33–126, 161–172 and 174–255 stand for themselves, the other
// 68 are U+0100 and up, in order.
var byteRunes = func() (runes [256]rune) {
	next := rune(256)
	for b := range runes {
		if b >= 33 && b <= 126 || b >= 161 && b <= 172 || b >= 174 {
			runes[b] = rune(b)
		} else {
			runes[b], next = next, next+1
		}
	}
	return runes
}()

// runeBytes is its inverse; -1 for a character that stands for nothing.
var runeBytes = func() (inverse [256 + 68]int16) {
	for i := range inverse {
		inverse[i] = -1
	}
	for b, r := range byteRunes {
		inverse[r] = int16(b)
	}
	return inverse
}()

// appendRaw turns a token as files spell it into its bytes.
func appendRaw(dst, spelled []byte) ([]byte, bool) {
	for i := 0; i < len(spelled); {
		r, size := rune(spelled[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(spelled[i:])
		}
		if int(r) >= len(runeBytes) || runeBytes[r] < 0 {
			return dst, false
		}
		dst = append(dst, byte(runeBytes[r]))
		i += size
	}
	return dst, true
}
