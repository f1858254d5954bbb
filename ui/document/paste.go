package document

import (
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"clefbar/engine"
)

// Paste is what a pasted text turns out to be.
type Paste uint8

// The kinds of pasted text.
const (
	PasteText    Paste = iota // goes into the editor
	PasteLong                 // too long for the editor: offer an attachment
	PasteImage                // a data URL that holds a picture: offer to attach it
	PasteRequest              // a System One request: offer to open it
)

// Classify says what a text pasted into the state is; typed is what the editor
// already holds. For PasteImage data is the picture.
func Classify(typed, pasted string) (kind Paste, data []byte) {
	trimmed := strings.TrimSpace(pasted)
	if head, payload, ok := strings.Cut(trimmed, ","); ok && strings.HasPrefix(head, "data:image/") && strings.HasSuffix(head, ";base64") {
		if data, err := base64.StdEncoding.DecodeString(payload); err == nil {
			return PasteImage, data
		}
	}
	if strings.HasPrefix(trimmed, "{") && len(trimmed) <= maxSource {
		if _, root, _, err := parseTree([]byte(trimmed), func() Key { return 0 }); err == nil && root.find("questions") >= 0 && checkShape([]byte(trimmed), root) == nil {
			return PasteRequest, nil
		}
	}
	if !FitsEditor(pasted) || len(typed)+len(pasted) > EditorBytes {
		return PasteLong, nil
	}
	return PasteText, nil
}

// maxPastedRows is how many rows one paste may add.
const maxPastedRows = 2000

// PasteRows adds one option or level per line of a pasted column, after the row at
// (0 or unknown: at the end). A tab separates a name from its description; cells
// in a spreadsheet's quotes are read as such. An empty row at is filled first. It
// returns how many rows were written.
func (c *Case) PasteRows(q, at Key, text string) (int, error) {
	lines := pastedRows(text)
	if len(lines) > maxPastedRows {
		return 0, fmt.Errorf("these are %d rows; at most %d are pasted at once", len(lines), maxPastedRows)
	}
	written := 0
	c.editCriteria(tag{what: "paste rows"}, q, func(kind engine.Kind, n *node, st style) *node {
		old := n
		n, ok := rows(kind, n)
		if !ok || len(lines) == 0 {
			return old
		}
		i := n.byKey(at)
		if i < 0 {
			i = len(n.slots) - 1
		}
		for _, line := range lines {
			e := pastedRow(kind, line)
			if written == 0 && i >= 0 && n.slots[i].blank {
				e.key = n.slots[i].key
				if n.typ == engine.Object {
					e.colon = n.slots[i].colon
				}
				n = n.setEntry(i, e)
			} else {
				e.key = c.nextKey()
				i++
				n = n.insert(i, e, st)
			}
			written++
		}
		return n
	})
	return written, nil
}

func pastedRow(kind engine.Kind, cells []string) entry {
	if kind == engine.Score {
		return entry{value: stringNode(strings.Join(cells, ": ")), at: -1}
	}
	e := entry{id: cells[0], value: nullNode(), at: -1}
	if len(cells) > 1 {
		e.value = stringNode(strings.Join(cells[1:], " "))
	}
	return e
}

// pastedRows cuts a column into rows of one or two or more cells, without empty
// ones.
func pastedRows(text string) [][]string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd")
	var list [][]string
	for _, cells := range cells(text) {
		var filled []string
		for _, cell := range cells {
			if cell = strings.TrimSpace(cell); cell != "" {
				filled = append(filled, cell)
			}
		}
		if len(filled) > 0 {
			list = append(list, filled)
		}
	}
	return list
}

// cells reads tab-separated text as spreadsheets put it on the clipboard. Text that
// only happens to hold quotes is read line by line.
func cells(text string) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = '\t'
	r.FieldsPerRecord = -1
	var list [][]string
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			break
		}
		list = append(list, record)
	}
	list = nil
	for line := range strings.SplitSeq(text, "\n") {
		list = append(list, strings.Split(line, "\t"))
	}
	return list
}
