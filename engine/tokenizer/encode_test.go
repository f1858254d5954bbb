package tokenizer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func loadTiny(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Load(tinyFile(t))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// mergeSlow is BPE as it is defined: look at every pair, join the best, again.
func (t *Tokenizer) mergeSlow(word string) []int32 {
	ids := make([]int32, 0, len(word))
	for i := range len(word) {
		ids = append(ids, t.bytes[word[i]])
	}
	for {
		best, at := noMerge, -1
		for i := range len(ids) - 1 {
			if m := t.pairs.get(ids[i], ids[i+1]); m < best {
				best, at = m, i
			}
		}
		if at < 0 {
			return ids
		}
		ids = slices.Replace(ids, at, at+2, best.id())
	}
}

// shuffled is a tokenizer whose merges come in a random order, so that joins make
// room for lower ranks, which a trained list hardly does.
func shuffled(t *testing.T, tok *Tokenizer, seed uint64) *Tokenizer {
	t.Helper()
	other := &Tokenizer{vocab: tok.vocab, bytes: tok.bytes, split: tok.split}
	var all []pair
	for _, s := range tok.pairs.slots {
		if s.key > 0 {
			all = append(all, s)
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	slices.SortFunc(all, func(a, b pair) int { return int(a.merge>>32) - int(b.merge>>32) })
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	other.pairs = newPairs(len(all))
	for rank, s := range all {
		left, right := int32((s.key-1)>>32), int32(uint32(s.key-1))
		other.pairs.put(left, right, merge(rank)<<32|merge(uint32(s.merge.id())))
	}
	return other
}

func TestMergesAgreeWithTheDefinition(t *testing.T) {
	trained := loadTiny(t)
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 40 {
		tok := trained
		if round%2 == 1 {
			tok = shuffled(t, trained, uint64(round))
		}
		for range 60 {
			letters := "etaoinshr decision"[:2+r.IntN(16)]
			word := make([]byte, 1+r.IntN(300))
			for i := range word {
				word[i] = letters[r.IntN(len(letters))]
			}
			want := tok.mergeSlow(string(word))
			if got := tok.mergeLong(nil, string(word)); !slices.Equal(got, want) {
				t.Fatalf("long %q: got %v, want %v", word, got, want)
			}
			if len(word) <= shortWord {
				if got := tok.mergeShort(nil, string(word)); !slices.Equal(got, want) {
					t.Fatalf("short %q: got %v, want %v", word, got, want)
				}
			}
		}
	}
}

func TestSplit(t *testing.T) {
	s := splitter{class: classes()}
	for text, want := range map[string]string{
		"it's I'LL don't 'S 'ſing": "it|'s| I|'LL| don|'t| '|S| '|ſing",
		"'ſing'ſ":                  "'ſ|ing|'ſ",
		"a  b":                     "a| | b",
		"a \n b\r\n\r\n  c  ":      "a| \n| b|\r\n\r\n| | c|  ",
		"x=1234;\n\n y":            "x|=|1|2|3|4|;\n\n| y",
		"\tif (x) {}":              "\tif| (|x|)| {}",
		"क् ்a\u0301":              "क्| ்a\u0301",
		"\u0301\u0301":             "\u0301\u0301",
		"!\u0301":                  "!\u0301",
		"\n\u0301":                 "\n|\u0301",
		"1\u0301":                  "1|\u0301",
		"\u0301 \u0301":            "\u0301| \u0301",
		"Ⅷ½x":                      "Ⅷ|½|x",
		"  \u0085\u3000x":          "  \u0085|\u3000x",
		"'re've'RE'x'r":            "'re|'ve|'RE|'x|'r",
		"'":                        "'",
		" ":                        " ",
		"a\xff b":                  "a|\xff| b",
		"\U00013853.W":             "\U00013853|.W", // letters, marks and a number of Unicode 16
		"x\U00010d6d\U00011390":    "x\U00010d6d\U00011390",
		"\U0001ccf3\U0001ccf4":     "\U0001ccf3|\U0001ccf4",
	} {
		var got []string
		for rest := text; rest != ""; {
			n := s.next(rest)
			got = append(got, rest[:n])
			rest = rest[n:]
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q: got %q, want %q", text, joined, want)
		}
	}
}

// Up to 30 marks norm.NFC is plain NFC, so it is the oracle of the slow path.
func TestNFC(t *testing.T) {
	marks := []rune("\u0301\u0323\u0344\u0308\u0304\u05b0\u093c\u3099\u0345\u0f71\u0f80")
	bases := []rune("aeEα\u1100\u1161\u11a8가각한Ωﬁक\u0958か\u0226\u00e9\u1e69 \U0001d15e")
	r := rand.New(rand.NewPCG(3, 3))
	for range 20000 {
		var text []rune
		for range 1 + r.IntN(12) {
			if r.IntN(3) == 0 {
				text = append(text, bases[r.IntN(len(bases))])
			} else {
				text = append(text, marks[r.IntN(len(marks))])
			}
		}
		want := norm.NFC.String(string(text))
		if got := compose(decompose(string(text))); got != want {
			t.Fatalf("%q: got %q, want %q", string(text), got, want)
		}
	}
	s := splitter{class: classes()}
	for long, want := range map[string]string{
		"e" + strings.Repeat("\u0323\u0301", 40): "\u1eb9" + strings.Repeat("\u0323", 39) + strings.Repeat("\u0301", 40),
		"é" + strings.Repeat("\u1161", 99):       "é" + strings.Repeat("\u1161", 99),
		"\u1100" + strings.Repeat("\u1161", 99):  "가" + strings.Repeat("\u1161", 98),
		"é" + strings.Repeat("\u11a8", 99):       "é" + strings.Repeat("\u11a8", 99),
		"é" + strings.Repeat("\u09be", 99):       "é" + strings.Repeat("\u09be", 99),
		"가" + strings.Repeat("\u0301\u11a8", 99): "가" + strings.Repeat("\u0301\u11a8", 99),
	} {
		if got := s.nfc(long); got != want {
			t.Errorf("%.40q: got %q, want %q", long, got, want)
		}
	}
	// The reference's normalizer is older than these marks.
	for _, text := range []string{"x\u0345\U00010eac", "x\u0301\u0c3c", "e\u1df9\u0301", "\U00011935\U00011930", "\u09fe\u0323\u0301", "\u0c3c\u0c3c"} {
		if got := s.nfc(text); got != text {
			t.Errorf("%+q: got %+q, want it unchanged", text, got)
		}
	}
	// No character, however often it is repeated, brings in another one.
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if r > 0x3400 && r < 0xa000 || r >= 0xac00 && r < 0xd7a4 || r > 0x20000 {
			continue
		}
		if got := s.nfc("é" + strings.Repeat(string(r), 40)); strings.ContainsRune(got, '\u034f') && r != '\u034f' {
			t.Errorf("forty times %U: got %q", r, got)
		}
	}
}

func TestLongPiecesAreFast(t *testing.T) {
	tok := loadTiny(t)
	for _, unit := range []string{"a", " ", "=", "\n", "人", "e", "<", "'", "\u0301", "\x00", "1", "<|im_", "<|im_end|>"} {
		text := strings.Repeat(unit, 1_000_000/len(unit))
		start := time.Now()
		ids := tok.Encode(nil, text, false)
		if took := time.Since(start); took > 20*time.Second { // a quadratic loop takes hours
			t.Errorf("a megabyte of %q took %v", unit, took)
		}
		if got := tok.Decode(ids); got != norm.NFC.String(text) && unit != "\u0301" {
			t.Errorf("a megabyte of %q does not come back", unit)
		}
	}
}

func TestConcurrentEncode(t *testing.T) {
	tok := loadTiny(t)
	var want []string
	texts := make([]string, 50)
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("word%d and some other words, ", i*i), 40)
		want = append(want, fmt.Sprint(tok.Encode(nil, texts[i], false)))
	}
	fresh := loadTiny(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, text := range texts {
				if got := fmt.Sprint(fresh.Encode(nil, text, false)); got != want[i] {
					t.Errorf("text %d differs", i)
				}
			}
		})
	}
	wg.Wait()
}

func TestBrokenUTF8IsKept(t *testing.T) {
	tok := loadTiny(t)
	for _, text := range []string{"a\xffb", "\xe4\xba", "\xc3\x28", "\xf0\x9f\x98", "\xed\xa0\x80"} {
		if got := tok.Decode(tok.Encode(nil, text, false)); got != text {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, text := range []string{"", "a", "é\u0301\u0323", "<|im_end|>", "a\x00b", "人力资源", "  \r\n", "'ſing", "👩‍👩‍👧‍👦", "\u0344\u0f71"} {
		f.Add(text)
	}
	tok := loadTiny(f)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			tok.Encode(nil, text, false)
			return
		}
		if got, want := tok.Decode(tok.Encode(nil, text, true)), tok.split.nfc(text); got != want {
			t.Errorf("literal %q: got %q, want %q", text, got, want)
		}
		ids := tok.Encode(nil, text, false)
		if again := tok.Encode(nil, tok.Decode(ids), false); !slices.Equal(ids, again) && len(tok.Find(text)) == len(tok.Find(tok.Decode(ids))) {
			t.Errorf("%q: got %v, want %v", text, again, ids)
		}
	})
}

func FuzzLoad(f *testing.F) {
	file := tinyFile(f)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Add([]byte(`{"model":{"type":"BPE","vocab":{"a":0},"merges":[["a","a"]]}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		if tok, err := Load(data); err == nil {
			tok.Decode(tok.Encode(nil, "Some text, 123 <|im_end|> "+strings.Repeat("ab", 100), false))
		}
	})
}
