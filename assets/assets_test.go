package assets

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"github.com/fyne-io/oksvg"
	"github.com/srwiley/rasterx"
)

var update = flag.Bool("update", false, "draw the PNG glyphs again from their SVGs")

var glyphs = []Glyph{GlyphIdle, GlyphOff, GlyphError, GlyphThinking, GlyphThinking2, GlyphThinking3}

// TestGlyphPNG draws every glyph and compares it with the PNG that is embedded.
func TestGlyphPNG(t *testing.T) {
	for _, g := range glyphs {
		for _, dark := range []bool{false, true} {
			want := drawGlyph(t, g, dark)
			path := "icons/" + string(g) + "-black.png"
			if dark {
				path = "icons/" + string(g) + "-white.png"
			}
			if *update {
				if err := os.WriteFile(path, want, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if got := g.PNG(dark).Content(); !bytes.Equal(got, want) {
				t.Errorf("%s: got another picture than its SVG draws; run with -update", path)
			}
		}
	}
}

func drawGlyph(t *testing.T, g Glyph, dark bool) []byte {
	t.Helper()
	icon, err := oksvg.ReadIconStream(bytes.NewReader(g.SVG().Content()))
	if err != nil {
		t.Fatalf("%s: %v", g, err)
	}
	const w, h = 60, 54
	icon.SetTarget(0, 0, w, h)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	icon.Draw(rasterx.NewDasher(w, h, rasterx.NewScannerGV(w, h, img, img.Bounds())), 1)
	if dark {
		for y := range h {
			for x := range w {
				img.SetNRGBA(x, y, color.NRGBA{255, 255, 255, img.NRGBAAt(x, y).A})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestGlyphShapesDiffer(t *testing.T) {
	seen := map[string]Glyph{}
	for _, g := range glyphs {
		key := string(drawGlyph(t, g, false))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s: got the same picture, want a shape per state", g, other)
		}
		seen[key] = g
	}
}

func TestIconsAreBlack(t *testing.T) {
	entries, err := icons.ReadDir("icons")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".svg")
		if !ok || name == "app-icon" {
			continue
		}
		if !strings.Contains(string(Icon(name).Content()), `"#000"`) {
			t.Errorf("%s: got no #000 to colour", e.Name())
		}
	}
}

func TestUnknownIconPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic for an icon that is not there")
		}
	}()
	Icon("no-such-icon")
}

func TestLooseChangesLinesOnly(t *testing.T) {
	loose := Loose(Sans, 22.0/15)
	if loose.Name() == Sans.Name() {
		t.Error("got the same name, want one that caches can tell apart")
	}
	if len(loose.Content()) != len(Sans.Content()) {
		t.Fatalf("got %d bytes, want %d", len(loose.Content()), len(Sans.Content()))
	}
	hhea := fontTables(loose.Content())["hhea"]
	em := int16At(fontTables(loose.Content())["head"], 18)
	got := float64(int16At(hhea, 4)-int16At(hhea, 6)) / float64(em)
	if got < 1.465 || got > 1.468 {
		t.Errorf("got lines %.3f em apart, want %.3f", got, 22.0/15)
	}
	if !bytes.Equal(fontTables(loose.Content())["hmtx"], fontTables(Sans.Content())["hmtx"]) {
		t.Error("got other widths, want the same")
	}
}

func TestLooseLeavesWhatIsNoFont(t *testing.T) {
	bad := fyne.NewStaticResource("bad.ttf", []byte("not a font"))
	if got := Loose(bad, 1.5); got != bad {
		t.Errorf("got %v, want the resource itself", got)
	}
}
