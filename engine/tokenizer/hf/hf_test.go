//go:build hftokenizers

package hf

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"clefbar/engine/prompt"
	"clefbar/engine/tokenizer/tokenizertest"
)

const golden = "../../testdata/golden"

var _ prompt.Tokenizer = (*Tokenizer)(nil)

func load(t testing.TB, data []byte) *Tokenizer {
	t.Helper()
	tok, err := Load(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tok.Close() })
	return tok
}

func TestGoldenTexts(t *testing.T) {
	for _, checkpoint := range []string{"tiny-9b-shape-hf", "tiny-9b-shape-mlx-4bit"} {
		tok := load(t, tokenizertest.TinyFile(t, golden, checkpoint))
		for _, c := range tokenizertest.Pairs(t, golden) {
			if got := tok.Encode(nil, c.Text, false); !slices.Equal(got, c.Tiny) {
				t.Errorf("%s: %q: got %v, want %v", checkpoint, c.Text, got, c.Tiny)
			}
		}
	}
}

func TestCases(t *testing.T) {
	tok := load(t, tokenizertest.ReleasedFile(t))
	rust := 0
	for i, c := range tokenizertest.Cases(t, golden) {
		if tok.encodes(c.Text, false) {
			rust++
		}
		if got := tok.Encode(nil, c.Text, false); !slices.Equal(got, c.IDs) {
			t.Errorf("%d %s: %.60q: got %v, want %v", i, c.Category, c.Text, got, c.IDs)
		}
	}
	if rust < 200 {
		t.Errorf("the library encoded only %d of the cases", rust)
	}
}

// TestBothAgree holds the two tokenizers against each other on random text.
func TestBothAgree(t *testing.T) {
	tok := load(t, tokenizertest.ReleasedFile(t))
	pools := [][]rune{
		[]rune("abcdefg hijklmnopqrstuvwxyzABC'ſ'stdmlreRVE  \n\r\t"), []rune("0123456789٣٤Ⅷ½"), []rune("!\"#$%&()*+,-./:;<=>?@[]^_`{|}~—…€"),
		[]rune("éàüñçßøåÅΩﬁ"), []rune("日本語中文人力资源毛泽东"), []rune("한국어가각\u1100\u1161\u11a8"), []rune("क्षत्रियবাংলাதமிழ்ไทยไม่"), []rune("😀👩‍👩‍👧🇩🇪👍🏽❤️"),
		[]rune("\u0301\u0323\u0344\u0308\u0345\u093c\u3099\u0f71\u200d\ufeff"), []rune("\u00a0\u0085\u2028\u3000\x01\x1f\x7f"), []rune("приветмирЁё"),
	}
	var added []string
	for _, a := range tok.Added() {
		added = append(added, a.Content)
	}
	r := rand.New(rand.NewPCG(11, 11))
	for range 20_000 {
		var s strings.Builder
		for range 1 + r.IntN(8) {
			pool := pools[r.IntN(len(pools))]
			switch r.IntN(8) {
			case 0:
				s.WriteString(added[r.IntN(len(added))])
			case 1:
				s.WriteString(strings.Repeat(string(pool[r.IntN(len(pool))]), 1+r.IntN(150)))
			case 2:
				s.WriteRune(rune(0x20 + r.IntN(0xd000)))
			default:
				for range 1 + r.IntN(12) {
					s.WriteRune(pool[r.IntN(len(pool))])
				}
			}
		}
		text := s.String()
		if got, want := tok.Encode(nil, text, false), tok.Tokenizer.Encode(nil, text, false); !slices.Equal(got, want) {
			t.Errorf("%+q: the library gives %v, ours %v", text, got, want)
		}
	}
}

func FuzzBothAgree(f *testing.F) {
	tok := load(f, tokenizertest.TinyFile(f, golden, "tiny-9b-shape-hf"))
	for _, c := range tokenizertest.Pairs(f, golden) {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := tok.Encode(nil, text, false), tok.Tokenizer.Encode(nil, text, false); !slices.Equal(got, want) {
			t.Errorf("%+q: the library gives %v, ours %v", text, got, want)
		}
	})
}
