package prompt

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"

	"clefbar/engine"
	"clefbar/engine/tokenizer"
	"clefbar/engine/tokenizer/tokenizertest"
)

// record is a published prompt of the released models. Some come with their request,
// the others only with the state.
type record struct {
	ID        string
	Request   json.RawMessage
	State     json.RawMessage
	InputIDs  []int32 `json:"input_ids"`
	Questions []struct {
		ID, Type    string
		Span        [2]int
		OptionSpans [][2]int `json:"option_spans"`
	}
}

// request returns the record's request. Where it was not published, the texts of
// instructions and options are read from the published ids.
func (c *record) request(t testing.TB, tok *tokenizer.Tokenizer) *engine.Request {
	t.Helper()
	if len(c.Request) > 0 {
		return typed(t, c.Request)
	}
	text := func(span [2]int) string { return tok.Decode(c.InputIDs[span[0]:span[1]]) }
	r := &engine.Request{State: python(t, c.State)}
	for _, q := range c.Questions {
		asked := engine.Question{ID: q.ID, Instructions: engine.Text(text(q.Span))}
		asked.Kind = map[string]engine.Kind{"noul": engine.Noul, "choice": engine.Choice, "score": engine.Score}[q.Type]
		for _, span := range q.OptionSpans {
			o := python(t, []byte(text(span)))
			asked.Options = append(asked.Options, engine.Option{Name: o.Get("option_id").Text, Description: o.Get("description")})
		}
		r.Questions = append(r.Questions, asked)
	}
	return r
}

func TestPublishedRecords(t *testing.T) {
	const dir = "../../../shared/parity"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		t.Skip("the published records are not beside the repository (../shared/parity)")
	}
	tok := tokenizertest.Released(t)
	var records []record
	readJSON(t, dir+"/parity-facts.json", &records)
	whole := 0
	for _, c := range records {
		if len(c.Request) > 0 {
			whole++
		}
		enc, err := Encode(tok, c.request(t, tok), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if !slices.Equal(enc.IDs, c.InputIDs) {
			t.Errorf("%s: the ids differ", c.ID)
		}
		for i, q := range spans(enc) {
			w := c.Questions[i]
			if q.ID != w.ID || engine.Kind(q.Type).String() != w.Type || q.Span != w.Span || !slices.Equal(q.OptionSpans, w.OptionSpans) {
				t.Errorf("%s: got %+v, want %+v", c.ID, q, w)
			}
		}
	}
	if len(records) != 31 || whole != 21 {
		t.Errorf("got %d records, %d with a request, want 31 and 21", len(records), whole)
	}
}
