package tokenizer_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"clefbar/engine/tokenizer/tokenizertest"
)

const golden = "../testdata/golden/"

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestGoldenTextsTiny(t *testing.T) {
	// The MLX folders hold the same tokenizer as transformers writes it again.
	for _, checkpoint := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit", "tiny-9b-shape-mlx-8bit", "tiny-27b-shape-mlx-4bit"} {
		tok := tokenizertest.Tiny(t, golden, checkpoint)
		if got := tok.Size(); got != 481 {
			t.Errorf("%s: got size %d, want 481", checkpoint, got)
		}
		for _, c := range tokenizertest.Pairs(t, golden) {
			if got := tok.Encode(nil, c.Text, false); !slices.Equal(got, c.Tiny) {
				t.Errorf("%s: %q: got %v, want %v", checkpoint, c.Text, got, c.Tiny)
			}
		}
	}
}

func TestGoldenTextsReleased(t *testing.T) {
	tok := tokenizertest.Released(t)
	for _, c := range tokenizertest.Pairs(t, golden) {
		if got := tok.Encode(nil, c.Text, false); !slices.Equal(got, c.Real) {
			t.Errorf("%q: got %v, want %v", c.Text, got, c.Real)
		}
	}
	if got := tok.Size(); got != 248077 {
		t.Errorf("got size %d, want 248077", got)
	}
	if got := tok.Encode(nil, "क्", false); !slices.Equal(got, []int32{149567}) {
		t.Errorf("control: got %v, want [149567]", got)
	}
}

func TestTokenizerCases(t *testing.T) {
	tok := tokenizertest.Released(t)
	for i, c := range tokenizertest.Cases(t, golden) {
		if got := tok.Encode(nil, c.Text, false); !slices.Equal(got, c.IDs) {
			t.Errorf("%d %s: %.60q: got %v, want %v", i, c.Category, c.Text, got, c.IDs)
		}
		if got := tok.Encode(nil, c.Text, true); !slices.Equal(got, c.Literal) {
			t.Errorf("%d %s: literal %.60q: got %v, want %v", i, c.Category, c.Text, got, c.Literal)
		}
	}
}

// parity returns the folder of published records, which is not part of the
// repository.
func parity(t testing.TB) string {
	t.Helper()
	const dir = "../../../shared/parity"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		t.Skip("the published records are not beside the repository (../shared/parity)")
	}
	return dir
}

func TestPublishedPieces(t *testing.T) {
	dir, tok := parity(t), tokenizertest.Released(t)
	var pieces map[string][]int32
	readJSON(t, dir+"/piece-ids.json", &pieces)
	if len(pieces) != 90 {
		t.Fatalf("got %d pieces, want 90", len(pieces))
	}
	for text, want := range pieces {
		if got := tok.Encode(nil, text, false); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
		if got := tok.Decode(want); got != text {
			t.Errorf("%v: got %q, want %q", want, got, text)
		}
	}
}
