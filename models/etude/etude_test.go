package etude

import (
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
