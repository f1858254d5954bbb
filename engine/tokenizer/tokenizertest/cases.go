package tokenizertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"clefbar/engine/tokenizer"
)

// Case is a text with the ids that the reference gives it. Literal are the ids when
// no added token is recognised.
type Case struct {
	Category, Text string
	IDs, Literal   []int32
}

// Cases returns the recorded strings for the released vocabulary. golden is the path
// of testdata/golden.
func Cases(t testing.TB, golden string) []Case {
	t.Helper()
	var file struct {
		Cases []struct {
			C, S     string
			IDs, Lit []int32
		}
	}
	readJSON(t, filepath.Join(golden, "tokenizer", "cases.json"), &file)
	if len(file.Cases) != 260 {
		t.Fatalf("got %d cases, want 260", len(file.Cases))
	}
	var cases []Case
	for _, c := range file.Cases {
		if c.Lit == nil {
			c.Lit = c.IDs
		}
		cases = append(cases, Case{c.C, c.S, c.IDs, c.Lit})
	}
	return cases
}

// Pair is a text with its ids in the tiny and in the released vocabulary.
type Pair struct {
	Text       string
	Tiny, Real []int32
}

// Pairs returns the golden texts.
func Pairs(t testing.TB, golden string) []Pair {
	t.Helper()
	var file struct{ Pairs []Pair }
	readJSON(t, filepath.Join(golden, "tokenizer_golden.json"), &file)
	if len(file.Pairs) != 54 {
		t.Fatalf("got %d golden texts, want 54", len(file.Pairs))
	}
	return file.Pairs
}

// TinyFile returns the tokenizer.json of a tiny checkpoint.
func TinyFile(t testing.TB, golden, checkpoint string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(golden, checkpoint, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Tiny returns the tokenizer of a tiny checkpoint.
func Tiny(t testing.TB, golden, checkpoint string) *tokenizer.Tokenizer {
	t.Helper()
	tok, err := tokenizer.Load(TinyFile(t, golden, checkpoint))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

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
