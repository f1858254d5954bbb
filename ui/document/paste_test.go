package document

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"clefbar/engine"
)

func TestPasteRows(t *testing.T) {
	for _, c := range []struct{ name, pasted, choice, score string }{
		{"a column", "a\nb\r\n\r\n c \n", `{"a": null, "b": null, "c": null}`, `["a", "b", "c"]`},
		{"two columns", "a\tfirst\nb\t\n\tlast", `{"a": "first", "b": null, "last": null}`, `["a: first", "b", "last"]`},
		{"three columns", "a\tx\ty", `{"a": "x y"}`, `["a: x: y"]`},
		{"spreadsheet quotes", "a\t\"two\nlines, \"\"quoted\"\"\"\nb", `{"a": "two\nlines, \"quoted\"", "b": null}`, `["a: two\nlines, \"quoted\"", "b"]`},
		{"loose quotes", "5\" pipe\t6\" pipe\n\"so\" it goes", `{"5\" pipe": "6\" pipe", "\"so\" it goes": null}`, `["5\" pipe: 6\" pipe", "\"so\" it goes"]`},
		{"nothing", " \n\t\n", `{}`, `[]`},
	} {
		for kind, want := range map[engine.Kind]string{engine.Choice: c.choice, engine.Score: c.score} {
			for _, blank := range []bool{false, true} {
				d := mustCase(t, `{"state": "s", "questions": {}}`)
				q := d.AddQuestion(0, kind)
				at := Key(0)
				if blank {
					at = d.AddOption(q, 0)
				}
				if _, err := d.PasteRows(q, at, c.pasted); err != nil {
					t.Fatal(err)
				}
				if got := string(appendNode(nil, d.entryOf(q).value.get("criteria"))); got != want {
					t.Errorf("%s, %s: got %s, want %s", c.name, kind, got, want)
				}
			}
		}
	}
	d := mustCase(t, `{"state":"","questions":{"q":{"type":"choice","criteria":{"a":null,"b":null}}}}`)
	q := key(t, d, "q")
	if n, err := d.PasteRows(q, key(t, d, "q", "a"), "x\ny"); n != 2 || err != nil {
		t.Errorf("got %d rows, %v", n, err)
	}
	if got, want := string(appendNode(nil, d.entryOf(q).value.get("criteria"))), `{"a":null,"x":null,"y":null,"b":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	before := d.Revision()
	if n, err := d.PasteRows(q, 0, strings.Repeat("x\n", maxPastedRows+1)); n != 0 || err == nil || d.Revision() != before {
		t.Errorf("got %d rows, %v", n, err)
	}
	if n, err := d.PasteRows(d.AddQuestion(9, engine.Noul), 0, "x"); n != 0 || err != nil {
		t.Errorf("a yes-or-no question took %d rows, %v", n, err)
	}
}

func TestClassify(t *testing.T) {
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture(t, 3))
	for _, c := range []struct {
		name, typed, pasted string
		want                Paste
	}{
		{"words", "", "Hello\nthere", PasteText},
		{"data URL", "", " " + url + "\n", PasteImage},
		{"broken data URL", "", "data:image/png;base64,***", PasteText},
		{"request", "", kitchen, PasteRequest},
		{"other JSON", "", `{"a": 1}`, PasteText},
		{"T10 log", "", strings.Repeat("2026-11-30 gateway up\n", 10000), PasteLong},
		{"one long line", "", strings.Repeat("x", 10000), PasteLong},
		{"too much together", strings.Repeat("short\n", 2700), strings.Repeat("short\n", 10), PasteText},
		{"over together", strings.Repeat("short\n", 2725), strings.Repeat("short\n", 10), PasteLong},
	} {
		if got, _ := Classify(c.typed, c.pasted); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestLongTextDoesNotStall(t *testing.T) {
	log := strings.Repeat("23:41:07 gw-2 POST /v1/charge 502 upstream reset\n", 4200) // 200 KB
	c := mustCase(t, kitchen)
	quick := func(what string, f func()) {
		quickest := time.Hour
		for range 5 { // the quickest, as tests share their machine
			start := time.Now()
			f()
			quickest = min(quickest, time.Since(start))
		}
		if quickest > 20*time.Millisecond {
			t.Errorf("%s took %s, want under 20 ms", what, quickest)
		}
	}
	quick("classify", func() { Classify("", log) })
	quick("attach", func() { c.RemoveAttachment(c.Attach("", log)); c.Problems() })
	c.Attach("", log)
	i := 0
	quick("a key", func() {
		i++
		c.SetText(fmt.Sprint("key ", i))
		c.Problems()
		c.Advice()
	})
}
