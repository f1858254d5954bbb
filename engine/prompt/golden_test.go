package prompt

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clefbar/engine"
	"clefbar/engine/tokenizer"
	"clefbar/engine/tokenizer/tokenizertest"
)

const golden = "../testdata/golden/"

// byteTokenizer takes every byte for a token.
type byteTokenizer struct{}

func (byteTokenizer) Encode(dst []int32, text string, _ bool) []int32 {
	for i := range len(text) {
		dst = append(dst, int32(text[i]))
	}
	return dst
}

func (byteTokenizer) Decode(ids []int32) string {
	out := make([]byte, len(ids))
	for i, id := range ids {
		out[i] = byte(id)
	}
	return string(out)
}
func (byteTokenizer) Find(string) []tokenizer.Match { return nil }
func (byteTokenizer) ID(string) (int32, bool)       { return 0, false }

func tiny(t testing.TB) *tokenizer.Tokenizer {
	return tokenizertest.Tiny(t, golden, "tiny-9b-shape-hf")
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

type wantQuestion struct {
	ID          string
	Type        int
	Span        [2]int
	OptionSpans [][2]int `json:"option_spans"`
	Options     [][2]int // the same, in other files
	OptionIDs   []string `json:"option_ids"`
}

// spans flattens an encoding's spans for comparison.
func spans(enc *engine.Encoding) []wantQuestion {
	var out []wantQuestion
	for _, q := range enc.Questions {
		w := wantQuestion{ID: q.ID, Type: int(q.Kind), Span: [2]int{q.Field.From, q.Field.To}}
		for _, o := range q.Options {
			w.OptionSpans = append(w.OptionSpans, [2]int{o.Span.From, o.Span.To})
			w.OptionIDs = append(w.OptionIDs, o.Name)
		}
		out = append(out, w)
	}
	return out
}

func sameSpans(t *testing.T, name string, enc *engine.Encoding, want []wantQuestion) {
	t.Helper()
	got := spans(enc)
	if len(got) != len(want) {
		t.Errorf("%s: got %d questions, want %d", name, len(got), len(want))
		return
	}
	for i, w := range want {
		if w.OptionSpans == nil {
			w.OptionSpans = w.Options
		}
		g := got[i]
		if w.ID != "" && g.ID != w.ID || g.Span != w.Span || !slices.Equal(g.OptionSpans, w.OptionSpans) ||
			w.OptionIDs != nil && !slices.Equal(g.OptionIDs, w.OptionIDs) || g.Type != w.Type {
			t.Errorf("%s: question %d: got %+v, want %+v", name, i, g, w)
		}
	}
}

type encodeCase struct {
	Name    string
	Request string `json:"request_json"`
	Kwargs  struct {
		MaxLength      int `json:"max_length"`
		MaxStateTokens int `json:"max_state_tokens"`
	}
	Prompt     string
	N          int
	Questions  []wantQuestion
	Error      string
	Tiny, Real struct {
		N     int
		IDs   []int32
		Spans []struct {
			Span        [2]int
			OptionSpans [][2]int `json:"option_spans"`
		}
		Error string
	}
}

func encodeCases(t testing.TB) []encodeCase {
	t.Helper()
	var cases []encodeCase
	readJSON(t, golden+"encode_golden.json", &cases)
	if len(cases) != 38 {
		t.Fatalf("got %d golden cases, want 38", len(cases))
	}
	return cases
}

func TestEncodeGoldenBytes(t *testing.T) {
	for _, c := range encodeCases(t) {
		r := typed(t, []byte(c.Request))
		r.Truncate = true // as the reference does
		enc, err := Encode(byteTokenizer{}, r, Options{Limit: c.Kwargs.MaxLength, MaxState: c.Kwargs.MaxStateTokens})
		switch {
		case strings.HasPrefix(c.Error, "ValueError: schema requires"):
			e, ok := errors.AsType[*engine.Error](err)
			if !ok || e.Reason != engine.TooLong || e.Limit != c.Kwargs.MaxLength || !strings.Contains(c.Error, "requires "+strconv.Itoa(e.Needed)+" ") {
				t.Errorf("%s: got %v, want %s", c.Name, err, c.Error)
			}
			continue
		case c.Error != "":
			if engine.ReasonOf(err) != engine.Invalid {
				t.Errorf("%s: got %v, want Invalid", c.Name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if enc.Text != c.Prompt || len(enc.IDs) != c.N {
			t.Errorf("%s: got %d tokens %q, want %d tokens %q", c.Name, len(enc.IDs), enc.Text, c.N, c.Prompt)
		}
		sameSpans(t, c.Name, enc, c.Questions)
	}
}

func testEncodeGolden(t *testing.T, tok *tokenizer.Tokenizer, real bool) {
	for _, c := range encodeCases(t) {
		want := c.Tiny
		if real {
			want = c.Real
		}
		r := typed(t, []byte(c.Request))
		r.Truncate = true
		opt := Options{Limit: c.Kwargs.MaxLength, MaxState: c.Kwargs.MaxStateTokens}
		if c.Name == "exact_fit" {
			opt.Limit = 0 // limited only in bytes
		}
		enc, err := Encode(tok, r, opt)
		if want.Error != "" {
			if err == nil {
				t.Errorf("%s: got %d tokens, want %s", c.Name, len(enc.IDs), want.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !slices.Equal(enc.IDs, want.IDs) {
			t.Errorf("%s: got ids %v, want %v", c.Name, enc.IDs, want.IDs)
		}
		var questions []wantQuestion
		for i, s := range want.Spans {
			w := wantQuestion{Span: s.Span, OptionSpans: s.OptionSpans, Type: int(enc.Questions[i].Kind)}
			if i < len(c.Questions) {
				w.ID, w.Type, w.OptionIDs = c.Questions[i].ID, c.Questions[i].Type, c.Questions[i].OptionIDs
			}
			questions = append(questions, w)
		}
		sameSpans(t, c.Name, enc, questions)
	}
}

func TestEncodeGoldenTiny(t *testing.T) { testEncodeGolden(t, tiny(t), false) }

func TestEncodeGoldenReleased(t *testing.T) { testEncodeGolden(t, tokenizertest.Released(t), true) }

func TestCases(t *testing.T) {
	var cases map[string]struct {
		Request   json.RawMessage
		InputIDs  []int32 `json:"input_ids"`
		Questions []wantQuestion
	}
	readJSON(t, golden+"cases.json", &cases)
	if len(cases) != 9 {
		t.Fatalf("got %d cases, want 9", len(cases))
	}
	tok := tiny(t)
	for name, c := range cases {
		r := typed(t, c.Request)
		enc, err := Encode(tok, r, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(enc.IDs, c.InputIDs) {
			t.Errorf("%s: the ids differ", name)
		}
		sameSpans(t, name, enc, c.Questions)
		parsed, err := engine.ParseRequest(c.Request, engine.Limits{KeepNullSides: true})
		if name == "json_state" {
			if engine.ReasonOf(err) != engine.Invalid {
				t.Errorf("json_state: got %v, want Invalid", err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if enc, err = Encode(tok, parsed, Options{}); err != nil || !slices.Equal(enc.IDs, c.InputIDs) {
			t.Errorf("%s: the parsed request encodes differently (%v)", name, err)
		}
	}
}

func TestVisionCases(t *testing.T) {
	var cases map[string]struct {
		Request   json.RawMessage
		InputIDs  []int32 `json:"input_ids"`
		TypeIDs   []int   `json:"mm_token_type_ids"`
		Offset    int     `json:"token_offset"`
		Questions []wantQuestion
	}
	readJSON(t, golden+"vision_cases.json", &cases)
	if len(cases) != 9 {
		t.Fatalf("got %d cases, want 9", len(cases))
	}
	tok := tiny(t)
	for name, c := range cases {
		r := typed(t, c.Request)
		opt := Options{}
		// Runs of 1 are images; runs of 2 are groups of frames, all of one video here.
		for i := 0; i < len(c.TypeIDs); {
			j := i
			for j < len(c.TypeIDs) && c.TypeIDs[j] == c.TypeIDs[i] {
				j++
			}
			switch c.TypeIDs[i] {
			case 1:
				opt.MediaTokens = append(opt.MediaTokens, j-i)
				r.Images = append(r.Images, engine.Image{})
			case 2:
				if len(opt.Videos) == 0 {
					opt.Videos = []Video{{Tokens: j - i}}
				}
				// Frames 0 and 1, 2 and 3, … of 24 a second.
				first := float64(2 * len(opt.Videos[0].Seconds))
				opt.Videos[0].Seconds = append(opt.Videos[0].Seconds, (first/24+(first+1)/24)/2)
			}
			i = j
		}
		enc, err := Encode(tok, r, opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(enc.IDs, c.InputIDs) {
			t.Errorf("%s: got %v, want %v", name, enc.IDs, c.InputIDs)
		}
		sameSpans(t, name, enc, c.Questions)
		if media := enc.Pieces[1]; media.Part != engine.PartMedia || media.Tokens.From != c.Offset {
			t.Errorf("%s: got the media at %v, want %d", name, media.Tokens, c.Offset)
		}
	}
}
