package models

import (
	"bytes"
	"cmp"
	"slices"
)

// blankBytes is the size from which a matrix of nothing but zeros is no coincidence.
const blankBytes = 4096

// unwritten reports a weight file of the right length whose end was never written: a download or a copy that makes
// room first, or a machine that lost its power, leaves zeros there, and they give answers like any numbers. body is what
// the entries are in. Only the end of the file is read, unless it is zeros.
func unwritten(file string, entries []entry, body []byte) error {
	ordered := slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return cmp.Compare(a.from, b.from) })
	for _, e := range slices.Backward(ordered) {
		switch {
		case !zeros(body[e.from:e.to]):
			return nil
		case len(e.shape) > 1 && e.to-e.from >= blankBytes:
			return tensorError(Incomplete, file, e.name, "it is all zeros, and so is the rest of the file, which was never written: download it again")
		}
	}
	return nil
}

// zeros looks from the end, where a file that was written in part has most of them.
func zeros(b []byte) bool {
	var none [1 << 12]byte
	for len(b) > 0 {
		at := max(0, len(b)-len(none))
		if !bytes.Equal(b[at:], none[:len(b)-at]) {
			return false
		}
		b = b[:at]
	}
	return true
}
