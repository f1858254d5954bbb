package tokenizer

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"clefbar/engine"
)

func tinyFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/golden/tiny-9b-shape-hf/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestLoadRefusesByName(t *testing.T) {
	file := string(tinyFile(t))
	for _, c := range []struct{ old, new, want string }{
		{`"type": "BPE"`, `"type": "WordPiece"`, `model.type "WordPiece"`},
		{`"type": "BPE"`, `"type": 3`, "model: type should not be number"},
		{`"dropout": null`, `"dropout": 0.1`, "model.dropout"},
		{`"unk_token": null`, `"unk_token": "<unk>"`, "model.unk_token"},
		{`"type": "NFC"`, `"type": "NFKC"`, `normalizer "NFKC"`},
		{`"normalizer": {`, `"normaliser": {`, "normalizer is missing"},
		{`"fuse_unk": false`, `"fuse_unk": true`, "model.fuse_unk"},
		{`"byte_fallback": false`, `"byte_fallback": true`, "model.byte_fallback"},
		{`"ignore_merges": false`, `"ignore_merges": true`, "model.ignore_merges"},
		{`[\\p{L}\\p{M}]+|`, `\\p{L}+|`, "split pattern"},
		{`"behavior": "Isolated"`, `"behavior": "Removed"`, "split behavior"},
		{`"invert": false`, `"invert": true`, "inverted split"},
		{`"use_regex": false`, `"use_regex": true`, "use_regex"},
		{`"add_prefix_space": false`, `"add_prefix_space": true`, "add_prefix_space"},
		{`"lstrip": false`, `"lstrip": true`, `added_tokens: "<|endoftext|>" sets lstrip`},
		{`"single_word": false`, `"single_word": true`, `added_tokens: "<|endoftext|>" sets single_word`},
		{`"normalized": false`, `"normalized": true`, `added_tokens: "<|endoftext|>" sets normalized`},
		{`"content": "<|im_end|>"`, `"content": ""`, "added_tokens: a token is empty"},
		{`"content": "<|im_end|>"`, `"content": "<|im_start|>"`, "added_tokens"},
		{`"id": 449`, `"id": 448`, "added_tokens"},
		{`"id": 449`, `"id": 5`, "of the vocabulary's"},
		{`"id": 449`, `"id": -1`, "added_tokens"},
		{`"id": 449`, `"id": 4000000000`, "added_tokens"},
		{`"id": 449`, `"id": 1e99`, "added_tokens"},
		{`"vocab": {`, `"vocab": {"x y": 900,`, "model.vocab"},
		{`"vocab": {`, `"vocab": {"": 900,`, "model.vocab: the empty token"},
		{`"vocab": {`, `"vocab": {"zz": 5,`, "share the id 5"},
		{`"vocab": {`, `"vocab": {"zz": 99999999,`, "not below"},
		{`"vocab": {`, `"vocab": {"zz": -1,`, "expected a number"},
		{`"vocab": {`, `"vocab": {"zz": "a",`, "expected a number"},
		{`"vocab": {`, `"vocabulary": {`, "model.vocab is missing"},
		{`"!": 0`, `"!!!!": 0`, "has no token"},
		{`"merges": [`, `"merge": [`, "model.merges is missing"},
		{`"merges": [`, `"merges": [["!"],`, "not two tokens"},
		{`"merges": [`, `"merges": [["!","!","!"],`, "not two tokens"},
		{`"merges": [`, `"merges": ["!!",`, "does not join"},
		{`"merges": [`, `"merges": [["!","~"],`, "entry 0 does not join"},
		{`"merges": [`, `"merges": [5,`, "model.merges"},
		{`"version"`, `"x": [` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `], "version"`, ""},
		{`"version"`, `"x": ]`, "unexpected"},
	} {
		if !strings.Contains(file, c.old) {
			t.Fatalf("the file has no %s", c.old)
		}
		_, err := Load([]byte(strings.Replace(file, c.old, c.new, 1)))
		if c.want == "" {
			if err != nil {
				t.Errorf("%.40s: %v", c.new, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || engine.ReasonOf(err) != engine.BadModel {
			t.Errorf("%s: got %v, want BadModel with %q", c.new, err, c.want)
		}
	}
	for _, text := range []string{"", "{", "[]", "null", `"x"`, "<!doctype html>", "version https://git-lfs", "{}", file + "x", `{"model":`} {
		if _, err := Load([]byte(text)); engine.ReasonOf(err) != engine.BadModel {
			t.Errorf("%.20q: got %v, want BadModel", text, err)
		}
	}
}

func TestLoadRefusesCutFiles(t *testing.T) {
	file := tinyFile(t)
	for n := 0; n < len(file)-1; n += 1 + len(file)/997 {
		if _, err := Load(file[:n]); err == nil {
			t.Fatalf("a file cut to %d bytes was loaded", n)
		}
	}
}

// Old files spell a merge as one string.
func TestLoadBothSpellingsOfMerges(t *testing.T) {
	file := tinyFile(t)
	at := bytes.Index(file, []byte(`"merges": [`))
	head, list := string(file[:at]), string(file[at:])
	list = strings.NewReplacer("[\n        \"", `"`, "\",\n        \"", " ", "\"\n      ]", `"`).Replace(list)
	if strings.Count(list, "[") != 1 {
		t.Fatalf("the merges are not strings: %.200s", list)
	}
	old, err := Load([]byte(head + list))
	if err != nil {
		t.Fatal(err)
	}
	now, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	const text = "Read the complete state and schema. Décidez — the opinions <|im_end|>"
	if got, want := fmt.Sprint(old.Encode(nil, text, false)), fmt.Sprint(now.Encode(nil, text, false)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAddedTokensAndIDs(t *testing.T) {
	tok, err := Load(tinyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	added := tok.Added()
	if len(added) != 33 || added[0] != (AddedToken{448, "<|endoftext|>", true}) {
		t.Errorf("got %d tokens, the first %v, want 33 and <|endoftext|>", len(added), added[0])
	}
	for _, a := range added {
		if id, ok := tok.ID(a.Content); !ok || id != a.ID {
			t.Errorf("ID(%q) = %d, %v, want %d", a.Content, id, ok, a.ID)
		}
		if got := tok.Decode([]int32{a.ID}); got != a.Content {
			t.Errorf("Decode(%d) = %q, want %q", a.ID, got, a.Content)
		}
	}
	if id, ok := tok.ID("he"); !ok || tok.Decode([]int32{id}) != "he" {
		t.Errorf("ID(he) = %d, %v", id, ok)
	}
	if _, ok := tok.ID("nonesuch"); ok {
		t.Error("ID(nonesuch) is there")
	}
	if _, ok := tok.ID(""); ok {
		t.Error("ID of nothing is there")
	}
	if got := tok.Decode([]int32{-1, 1 << 30, 500}); got != "" {
		t.Errorf("got %q for unknown ids, want nothing", got)
	}
}

func TestFind(t *testing.T) {
	tok, err := Load(tinyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	text := "é<|im_end|><|im_end|\n<think></think><|im_<|im_start|>"
	got := tok.Find(text)
	want := []string{"<|im_end|>", "<think>", "</think>", "<|im_start|>"}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i, m := range got {
		if text[m.From:m.To] != want[i] || tok.Decode([]int32{m.ID}) != want[i] {
			t.Errorf("%d: got %q, want %q", i, text[m.From:m.To], want[i])
		}
	}
	if got := tok.Find("<|IM_END|> <|im_end"); got != nil {
		t.Errorf("got %v, want none", got)
	}
}
