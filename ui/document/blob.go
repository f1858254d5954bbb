package document

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"clefbar/engine"
)

// blobMark begins a string that stands for a picture in a stored case; the SHA-256
// of the picture's JSON text follows. Pictures are large and rarely change, so they
// are not written again with every key.
const blobMark = "clefbar-blob:"

// blobBytes is the size from which an item is kept apart.
const blobBytes = 4 << 10

// splitBlobs returns the case without its large pictures, which are written to
// files of their own, once.
func (s *Store) splitBlobs(root *node) (*node, error) {
	at := root.find("images")
	if at < 0 || root.slots[at].value.typ != engine.Array {
		return root, nil
	}
	list := root.slots[at].value
	for i := range list.slots {
		item := list.slots[i].value
		if item.typ == engine.String && len(item.text)+len(item.raw) < blobBytes {
			continue
		}
		text := appendNode(nil, item)
		sum := sha256.Sum256(text)
		name := hex.EncodeToString(sum[:])
		path := filepath.Join(s.dir, "blobs", name)
		if !exists(path) {
			if err := writeFile(path, text, 0o600); err != nil {
				return nil, err
			}
		}
		list = list.set(i, stringNode(blobMark+name))
	}
	return root.set(at, list), nil
}

// withBlobs puts the pictures back into the text of a stored case.
func (s *Store) withBlobs(data []byte) ([]byte, error) {
	lead, root, tail, err := parseTree(data, func() Key { return 0 })
	if err != nil {
		return nil, fmt.Errorf("read a stored case: %w", err)
	}
	list := root.get("images")
	if list == nil || list.typ != engine.Array {
		return data, nil
	}
	for i := range list.slots {
		item := list.slots[i].value
		if item.typ != engine.String || len(item.text) != len(blobMark)+2*sha256.Size || item.text[:len(blobMark)] != blobMark {
			continue
		}
		name := item.text[len(blobMark):]
		if _, err := hex.DecodeString(name); err != nil {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "blobs", name))
		if err != nil {
			continue // the form shows the item as unreadable; the rest is there
		}
		p := parser{src: string(text), key: func() Key { return 0 }}
		if checkSource(text) == nil {
			list = list.set(i, p.value())
		}
	}
	root = root.set(root.find("images"), list)
	return slices.Concat([]byte(lead), appendNode(nil, root), []byte(tail)), nil
}
