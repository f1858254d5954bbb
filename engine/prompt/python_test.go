package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"testing"

	"clefbar/engine"
)

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
