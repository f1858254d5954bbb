package ui

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
)

func decodeSize(t *testing.T, data []byte) image.Config {
	t.Helper()
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// screenshot is a picture such as people drop on the window.
func screenshot(t *testing.T, width, height int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{0xF1, 0xEF, 0xE8, 0xFF}
			switch {
			case y < height/6:
				c = color.NRGBA{0x3F, 0x49, 0x68, 0xFF}
			case y > height/3 && y < height/2 && x > width/6 && x < width*5/6:
				c = color.NRGBA{0xB3, 0x26, 0x1E, 0xFF}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDroppedFiles(t *testing.T) {
	w, _ := ticketWindow(t)
	p := w.page
	dir := t.TempDir()
	write := func(name string, data []byte) fyne.URI {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return storage.NewFileURI(path)
	}
	p.newCase()
	p.dropped([]fyne.URI{write("story.txt", []byte("what happened")), write("shot.png", screenshot(t, 64, 48)), write("more.log", []byte("a line\n"))})
	s := p.doc.State()
	if s.Text != "what happened" || len(s.Attachments) != 1 || s.Attachments[0].Name != "more.log" {
		t.Errorf("got %q and %+v, want the text in the editor and the log beside it", s.Text, s.Attachments)
	}
	if len(p.doc.Images()) != 1 || len(p.state.pictures) != 1 || p.state.pictures[0].size != "64 × 48" {
		t.Errorf("got %d images, want one of 64 × 48", len(p.doc.Images()))
	}
	p.dropped([]fyne.URI{write("blob.bin", []byte{0, 0xFF, 0xFE, 1})})
	if p.said == "" {
		t.Error("bytes that are neither text nor picture: got nothing said")
	}
	p.dropped([]fyne.URI{write("case.json", ticketJSON("dropped"))})
	if got := p.doc.State().Text; got != "dropped" {
		t.Errorf("got %q, want the request opened", got)
	}
	p.dropped([]fyne.URI{storage.NewFileURI(filepath.Join(dir, "gone.txt"))})
	if p.said == "" {
		t.Error("a file that is not there: got nothing said")
	}
}

func TestStructuredStateIsKept(t *testing.T) {
	w, _ := ticketWindow(t)
	p := w.page
	const request = `{"state": {"order": 12, "note": "late"}, "questions": {"late": {"type": "noul"}}}`
	p.openJSONText(request)
	settle(p)
	if !p.state.kept.Visible() || p.state.entry.shell.Visible() {
		t.Error("got an editor, want the state as JSON")
	}
	if got := string(p.doc.JSON()); got != request {
		t.Errorf("got %s, want it as written", got)
	}
}

func TestChangeEnd(t *testing.T) {
	tests := []struct {
		a, b        string
		row, column int
	}{
		{"", "abc", 0, 3}, {"abc", "abXc", 0, 3}, {"one\ntwo", "one\ntwo three", 1, 9}, {"abc", "", 0, 0}, {"äö", "äöü", 0, 3}, {"x\ny\nz", "x\nz", 0, 1},
	}
	for _, tt := range tests {
		if row, column := changeEnd(tt.a, tt.b); row != tt.row || column != tt.column {
			t.Errorf("%q to %q: got %d,%d, want %d,%d", tt.a, tt.b, row, column, tt.row, tt.column)
		}
	}
}

func TestViewerBreaksLongLines(t *testing.T) {
	long := bytes.Repeat([]byte("ä"), viewerColumns*2+5)
	lines := viewerLines("short\n" + string(long) + "\n\nlast")
	want := []struct{ number, runes int }{{1, 5}, {2, viewerColumns}, {0, viewerColumns}, {0, 5}, {3, 0}, {4, 4}}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d", len(lines), len(want))
	}
	for i, l := range lines {
		if n := len([]rune(l.text)); l.number != want[i].number || n != want[i].runes {
			t.Errorf("line %d: got number %d with %d characters, want %d with %d", i, l.number, n, want[i].number, want[i].runes)
		}
	}
}

func TestDialogsStandOverTheDimmedPage(t *testing.T) {
	w, _ := ticketWindow(t)
	w.page.pickImage()
	list := w.win.Canvas().Overlays().List()
	if len(list) < 2 {
		t.Fatalf("got %d overlays, want the dialog over a dimmed page", len(list))
	}
	if _, ok := list[0].(*dimmer); !ok {
		t.Errorf("got %T under the dialog, want the dimmed page", list[0])
	}
}
