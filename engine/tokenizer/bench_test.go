package tokenizer_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"clefbar/engine/tokenizer"
	"clefbar/engine/tokenizer/tokenizertest"
)

// mixed returns prose, code and other scripts of about n bytes, from the golden
// texts in a fixed random order.
func mixed(b *testing.B, n int) string {
	pairs := tokenizertest.Pairs(b, golden)
	r := rand.New(rand.NewPCG(1, 1))
	words := strings.Fields("the order was damaged and the customer wants a refund before Friday; func main() { return x[3] } 人力资源 क्षत्रिय 한국어 naïve 12,50 €")
	var s strings.Builder
	for s.Len() < n {
		if r.IntN(8) == 0 {
			s.WriteString(pairs[r.IntN(len(pairs))].Text)
		}
		s.WriteString(words[r.IntN(len(words))] + " ")
	}
	return s.String()
}

func BenchmarkLoadReleased(b *testing.B) {
	data := tokenizertest.ReleasedFile(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tokenizer.Load(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := tokenizertest.Released(b)
	for _, c := range []struct{ name, text string }{
		{"60KB", mixed(b, 60<<10)},
		{"1MB", mixed(b, 1<<20)},
		{"1MB-equal-letters", strings.Repeat("a", 1<<20)},
		{"1MB-equal-signs", strings.Repeat("=", 1<<20)},
		{"1MB-spaces", strings.Repeat(" ", 1<<20)},
		{"1MB-han", strings.Repeat("人", 1<<20/3)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			var ids []int32
			for b.Loop() {
				ids = tok.Encode(ids[:0], c.text, false)
			}
			b.ReportMetric(float64(len(ids)), "tokens")
		})
	}
}

// The first pass over a text fills the cache.
func BenchmarkEncodeFirst60KB(b *testing.B) {
	data := tokenizertest.TinyFile(b, golden, "tiny-9b-shape-hf")
	text := mixed(b, 60<<10)
	for b.Loop() {
		b.StopTimer()
		tok, err := tokenizer.Load(data)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		tok.Encode(nil, text, false)
	}
}
