package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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

// python reads JSON as Python does: numbers may overflow, the last of equal names
// wins in the place of the first. The golden cases need it, as some of them stand
// below the rules of the wire.
func python(t testing.TB, data []byte) engine.Value {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v := pythonValue(t, d)
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("%.80s: something follows", data)
	}
	return v
}

func pythonValue(t testing.TB, d *json.Decoder) engine.Value {
	t.Helper()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch x := token.(type) {
	case nil:
		return engine.Value{Type: engine.Null}
	case bool:
		return engine.Value{Type: engine.Bool, Bool: x}
	case json.Number:
		return engine.Value{Type: engine.Number, Text: string(x)}
	case string:
		return engine.Text(x)
	}
	v := engine.Value{Type: engine.Array}
	if token == json.Delim('{') {
		v.Type = engine.Object
	}
	for d.More() {
		if v.Type == engine.Array {
			v.Items = append(v.Items, pythonValue(t, d))
			continue
		}
		name, _ := d.Token()
		member := engine.Member{Name: name.(string), Value: pythonValue(t, d)}
		if i := slices.IndexFunc(v.Fields, func(m engine.Member) bool { return m.Name == member.Name }); i >= 0 {
			v.Fields[i] = member
		} else {
			v.Fields = append(v.Fields, member)
		}
	}
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	return v
}

// typed builds a request without the rules of the wire, as the reference reads it.
func typed(t testing.TB, data []byte) *engine.Request {
	t.Helper()
	body := python(t, data)
	r := &engine.Request{State: body.Get("state")}
	for _, m := range body.Get("questions").Fields {
		q := engine.Question{ID: m.Name, Kind: 9, Instructions: m.Value.Get("instructions")}
		criteria := m.Value.Get("criteria")
		switch m.Value.Get("type").Text {
		case "noul":
			q.Kind = engine.Noul
			for _, side := range []string{"true", "false"} {
				q.Options = append(q.Options, engine.Option{Name: side, Description: criteria.Get(side)})
			}
		case "choice":
			q.Kind = engine.Choice
			for _, o := range criteria.Fields {
				q.Options = append(q.Options, engine.Option{Name: o.Name, Description: o.Value})
			}
		case "score":
			q.Kind = engine.Score
			for i, level := range criteria.Items {
				q.Options = append(q.Options, engine.Option{Name: strconv.Itoa(i), Description: level})
			}
			for i, level := range criteria.Fields { // Python goes through the names
				q.Options = append(q.Options, engine.Option{Name: strconv.Itoa(i), Description: engine.Text(level.Name)})
			}
		}
		r.Questions = append(r.Questions, q)
	}
	return r
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

func TestPublishedRecords(t *testing.T) {
	const dir = "../../../shared/parity"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		t.Skip("the published records are not beside the repository (../shared/parity)")
	}
	tok := tokenizertest.Released(t)
	var records []struct {
		ID        string
		Request   json.RawMessage
		InputIDs  []int32 `json:"input_ids"`
		Questions []struct {
			ID, Type    string
			Span        [2]int
			OptionSpans [][2]int `json:"option_spans"`
			OptionIDs   []string `json:"option_ids"`
		}
	}
	readJSON(t, dir+"/parity-facts.json", &records)
	whole := 0
	for _, c := range records {
		if len(c.Request) == 0 {
			continue
		}
		whole++
		r := typed(t, c.Request)
		enc, err := Encode(tok, r, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if !slices.Equal(enc.IDs, c.InputIDs) {
			t.Errorf("%s: the ids differ", c.ID)
		}
		for i, q := range enc.Questions {
			w := c.Questions[i]
			if q.ID != w.ID || q.Kind.String() != w.Type || q.Field != (engine.Span{From: w.Span[0], To: w.Span[1]}) || !slices.Equal(spans(enc)[i].OptionSpans, w.OptionSpans) {
				t.Errorf("%s: got %+v, want %+v", c.ID, q, w)
			}
		}
	}
	if len(records) != 31 || whole < 21 {
		t.Errorf("got %d records, %d with a request, want 31 and 21", len(records), whole)
	}
}
