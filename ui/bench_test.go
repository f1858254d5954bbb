package ui

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// BenchmarkKey is what a key in the state costs the UI goroutine, with three
// questions and with 64 of 255 options.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{3, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d, _, _, _ := testDeps()
			setQueue(func(func()) {}) // nothing runs beside the keys
			w := New(test.NewTempApp(b), d)
			defer w.win.Close()
			w.win.Resize(fyne.NewSize(1180, 732))
			w.page.openJSONText(manyQuestions(n))
			b.ResetTimer()
			for range b.N {
				w.page.state.entry.TypedRune('x')
			}
		})
	}
}

func manyQuestions(n int) string {
	var s strings.Builder
	s.WriteString(`{"state":"A short story.","questions":{`)
	options := 3
	if n > 3 {
		options = 255
	}
	for q := range n {
		if q > 0 {
			s.WriteString(",")
		}
		fmt.Fprintf(&s, `"q%d":{"type":"choice","instructions":"Which one is it?","criteria":{`, q)
		for o := range options {
			if o > 0 {
				s.WriteString(",")
			}
			fmt.Fprintf(&s, `"option_%d":"Description %d"`, o, o)
		}
		s.WriteString("}}")
	}
	s.WriteString("}}")
	return s.String()
}
