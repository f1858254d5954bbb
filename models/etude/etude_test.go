package etude

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"testing"
)

// most is how large the embedded model may be.
const most = 32 << 20

func TestFolderIsWhole(t *testing.T) {
	var total int64
	for _, name := range []string{
		"config.json", "model.safetensors", "model.safetensors.index.json", "joint_head.safetensors", "joint_head_config.json",
		"tokenizer.json", "tokenizer_config.json", "clefbar.json",
	} {
		info, err := fs.Stat(FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > most {
		t.Errorf("got %d bytes, want at most %d", total, most)
	}
}

func TestCardSaysPractice(t *testing.T) {
	data, err := fs.ReadFile(FS(), "clefbar.json")
	if err != nil {
		t.Fatal(err)
	}
	var card struct {
		Name     string `json:"name"`
		Practice bool   `json:"practice"`
		Note     string `json:"practice_note"`
	}
	if err := json.Unmarshal(data, &card); err != nil {
		t.Fatal(err)
	}
	if card.Name != "etude" || !card.Practice || card.Note == "" {
		t.Errorf("got %+v, want etude, marked as practice with a note", card)
	}
}

// TestWeightsAreNotCopied: the files of weights give the very bytes that reading them gives, each time the same memory.
func TestWeightsAreNotCopied(t *testing.T) {
	bytesOf := func(name string) []byte {
		f, err := FS().Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		here, ok := f.(interface{ Bytes() []byte })
		if !ok {
			t.Fatalf("%s does not give its bytes", name)
		}
		return here.Bytes()
	}
	for _, name := range []string{"model.safetensors", "joint_head.safetensors"} {
		read, err := fs.ReadFile(FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		first, second := bytesOf(name), bytesOf(name)
		if !bytes.Equal(first, read) || &first[0] != &second[0] {
			t.Errorf("%s: %d bytes in place, %d read", name, len(first), len(read))
		}
	}
}
