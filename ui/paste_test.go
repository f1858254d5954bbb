package ui

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
)

func TestLongPasteBecomesAnAttachment(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	for name, text := range map[string]string{
		"200 KB of lines":    strings.Repeat("23:41:07 gw-2 POST /v1/charge 502 upstream reset\n", 4100),
		"200 KB in one line": strings.Repeat("abcdefghi ", 20_000),
		"a 10 KB data line":  strings.Repeat("0123456789abcdef", 640),
	} {
		w.page.newCase()
		clip.SetContent(text)
		began := time.Now()
		w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
		if took := time.Since(began); took > 100*time.Millisecond*slowness {
			t.Errorf("%s: got %v for the paste, want under 100 ms", name, took)
		}
		list := w.page.doc.State().Attachments
		if len(list) != 1 || list[0].Text != text {
			t.Errorf("%s: got %d attachments, want the text as one", name, len(list))
		}
		if got := w.page.state.entry.Text; got != "" {
			t.Errorf("%s: got %d bytes in the editor", name, len(got))
		}
		if len(w.page.state.attached) != 1 {
			t.Errorf("%s: got no card", name)
		}
		w.page.openAttachment(list[0].Key)
		w.page.sheet.close()
		w.page.undo()
		if got := len(w.page.doc.State().Attachments); got != 0 {
			t.Errorf("%s, after undo: got %d attachments", name, got)
		}
	}
}

// slowness stretches time limits for machines that run other things.
const slowness = 3

func TestShortPasteGoesIntoTheEditor(t *testing.T) {
	w, _ := ticketWindow(t)
	w.page.newCase()
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent("a short\nstory")
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := w.page.doc.State().Text; got != "a short\nstory" {
		t.Errorf("got %q", got)
	}
}

func TestPastedRequestOpens(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent(`{"state":"other","questions":{"q":{"type":"noul"}}}`)
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if got := w.page.doc.State().Text; got != "other" {
		t.Errorf("got state %q, want the request's", got)
	}
}

func TestLongPasteReplacesTheSelection(t *testing.T) {
	w, _ := ticketWindow(t)
	clip := fyne.CurrentApp().Clipboard()
	clip.SetContent(strings.Repeat("a line of a log\n", 4000))
	w.page.focusState()
	w.page.state.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
	w.page.state.entry.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clip})
	if s := w.page.doc.State(); s.Text != "" || len(s.Attachments) != 1 {
		t.Errorf("got %q and %d attachments, want the paste alone", s.Text, len(s.Attachments))
	}
}
