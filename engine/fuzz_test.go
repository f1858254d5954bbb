package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"unicode/utf8"
)

// sameRequest compares two requests member by member.
func sameRequest(a, b *Request) bool {
	return a.Model == b.Model && a.State.Equal(b.State) &&
		a.Truncate == b.Truncate && a.Independent == b.Independent && a.NeutralIDs == b.NeutralIDs && a.Literal == b.Literal &&
		slices.EqualFunc(a.Images, b.Images, func(x, y Image) bool { return bytes.Equal(x.Data, y.Data) }) &&
		slices.EqualFunc(a.Questions, b.Questions, func(x, y Question) bool {
			return x.ID == y.ID && x.Kind == y.Kind && x.Instructions.Equal(y.Instructions) &&
				slices.EqualFunc(x.Options, y.Options, func(o, p Option) bool {
					return o.Name == p.Name && o.Description.Equal(p.Description)
				})
		})
}

// FuzzParseRequest: nothing panics, every refusal says where and why, and what is
// accepted is read again from its own JSON as the same request.
func FuzzParseRequest(f *testing.F) {
	for _, seed := range []string{
		``, `{`, `[]`, `{"state":"\ud83d"}`, `{"state":[1e999]}`, `{"state":{"a":1,"a":2},"questions":{}}`,
		`{"state":{"note":"<b>5 & 6</b>","t":"` + "\u2028" + `","n":[1.0,1e2,-0.0,1e16,1e-7,9007199254740993]},"questions":{"q 🎯":{"type":"noul"}}}`,
		ask(`{"q":{"type":"choice","instructions":null,"criteria":{"b":null,"a":"","":{}}},"s":{"type":"score","criteria":["l",["x"]]}}`),
		ask(`{"q":{"type":"noul","criteria":{"true":null,"false":["x"]}}}`),
		withImages(`"data:image/png;base64,iVBORw0KGgo="`, `"https://example.org/"`, `{"base64":"AAAA"}`),
		`{"state":["x",{"type":"image_url","image_url":{"url":"data:image/png;base64,"}}],"questions":{"q":{"type":"noul"}}}`,
		`{"state":"<a>","questions":{"q":{"type":"noul"}},"assets":{"<a>":{"part":"p"},"<b>":{"data_base64":"AAAA"}}}`,
		`{"state":"","questions":{"q":{"type":"noul"}},"x_truncate":true,"x_mode":"joint","x_ids":"neutral","x_control":"literal","videos":[]}`,
	} {
		f.Add([]byte(seed))
	}
	for _, name := range []string{"cases.json", "encode_golden.json"} {
		data, err := os.ReadFile("testdata/golden/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:min(len(data), 20_000)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, limits := range []Limits{{}, {KeepNullSides: true, Depth: 5, Questions: 2}} {
			r, err := ParseParts(data, []BodyPart{{"p", []byte("\x89PNG\r\n\x1a\n")}}, limits)
			if err != nil {
				checkRefusal(t, err)
				r, err = ParseRequest(data, limits)
			}
			if err != nil {
				checkRefusal(t, err)
				continue
			}
			text := r.JSON()
			again, err := ParseRequest(text, limits)
			if err != nil {
				t.Fatalf("%s: its own JSON %s: %s", data, text, details(err))
			}
			if !sameRequest(r, again) || !bytes.Equal(text, again.JSON()) || r.State.Render() != again.State.Render() {
				t.Fatalf("%s: became %s", data, again.JSON())
			}
			if !json.Valid(text) || !utf8.Valid(text) || !utf8.ValidString(r.State.Render()) {
				t.Fatalf("%s: wrote %s", data, text)
			}
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Message == "" || (e.Reason == Invalid) != (len(e.Details) > 0) || e.Reason != Invalid && e.Reason != BadUsage {
		t.Fatalf("got %#v, want an Invalid error with details, or BadUsage", err)
	}
	for _, d := range e.Details {
		if d.Loc[0] != "body" || d.Msg == "" || d.Type == "" {
			t.Fatalf("got detail %#v", d)
		}
	}
}

// FuzzValue compares the decoder with Go's own: what we accept is JSON, and it means
// the same; what we refuse is not JSON or is what Go repairs in silence.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9\n",true,null]}`, `"\ud83d\ude00"`, `[]`, ` 1 `, `-0.0`, `{"a":1,"\u0061":2}`, "\"\u2028\""} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseValue(data, Limits{})
		if err != nil {
			return
		}
		theirs, err := goValue(data)
		if err != nil {
			t.Fatalf("%q is accepted, but: %v", data, err)
		}
		ours, err := goValue(v.JSON())
		if err != nil {
			t.Fatalf("%q is written as %q: %v", data, v.JSON(), err)
		}
		a, _ := json.Marshal(ours)
		b, _ := json.Marshal(theirs)
		if !bytes.Equal(a, b) {
			t.Fatalf("%q: got %s, want %s", data, a, b)
		}
		if again, err := ParseValue(v.JSON(), Limits{}); err != nil || !again.Equal(v) {
			t.Fatalf("%q changes in a round trip", data)
		}
	})
}

// goValue decodes with Go's decoder, numbers kept as they are spelled: an integer may
// be longer than a float64 can hold.
func goValue(data []byte) (any, error) {
	if !json.Valid(data) {
		return nil, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
