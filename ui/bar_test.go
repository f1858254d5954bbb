package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

// lightApp is a test app in our theme, light, without animations.
func lightApp(t *testing.T) fyne.App {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(&Theme{Appearance: AppearanceLight})
	return a
}

// assertPicture compares objects, stacked on the card's ground, with a picture.
func assertPicture(t *testing.T, name string, size fyne.Size, objects ...fyne.CanvasObject) {
	t.Helper()
	ground := newRect(0)
	ground.FillColor = themeColor(colorSurface)
	page := container.NewWithoutLayout(ground)
	for i, o := range objects {
		put(o, 10, 10+float32(i)*(size.Height+10), size.Width, size.Height)
		page.Add(o)
	}
	all := fyne.NewSize(size.Width+20, float32(len(objects))*(size.Height+10)+10)
	put(ground, 0, 0, all.Width, all.Height)
	w := test.NewTempWindow(t, page)
	w.SetPadded(false)
	w.Resize(all)
	test.AssertRendersToImage(t, name, w.Canvas())
}

func TestBarPicture(t *testing.T) {
	lightApp(t)
	var bars []fyne.CanvasObject
	for _, tt := range []struct {
		value float64
		tone  tone
	}{{0.94, toneLead}, {0.63, toneLead}, {0.29, toneOther}, {0, toneOther}, {1, toneLead}, {0.94, toneStale}, {noValue, toneOther}} {
		b := newBar()
		b.set(tt.value, tt.tone, 0.8)
		bars = append(bars, b)
	}
	assertPicture(t, "bar.png", fyne.NewSize(248, 20), bars...)
}

func TestLeanPicture(t *testing.T) {
	lightApp(t)
	var bars []fyne.CanvasObject
	for _, tt := range []struct {
		yes  float64
		tone tone
	}{{0.97, toneLead}, {0.74, toneLead}, {0.5, toneLead}, {0.1, toneLead}, {0.03, toneStale}, {noValue, toneLead}} {
		l := newLean()
		l.set(tt.yes, tt.tone, 0.8)
		bars = append(bars, l)
	}
	assertPicture(t, "lean.png", fyne.NewSize(248, 48), bars...)
}

func TestAxisPicture(t *testing.T) {
	lightApp(t)
	var axes []fyne.CanvasObject
	for _, tt := range []struct {
		levels int
		score  float64
		stale  bool
	}{{3, 1.85, false}, {5, 2, false}, {2, 0, false}, {11, 10, false}, {3, 1.85, true}, {3, noValue, false}, {1, 0, false}} {
		a := newAxis()
		a.set(tt.levels, tt.score, tt.stale)
		axes = append(axes, a)
	}
	assertPicture(t, "axis.png", fyne.NewSize(248, 44), axes...)
}

func TestMeterPicture(t *testing.T) {
	lightApp(t)
	var meters []fyne.CanvasObject
	for _, tt := range []struct {
		used, limit int
		counting    bool
	}{{412, 16384, false}, {0, 16384, false}, {15240, 16384, false}, {16384, 16384, false}, {21390, 16384, false}, {1 << 20, 16384, false}, {12000, 16384, true}, {412, 0, false}} {
		m := newMeter()
		m.set(tt.used, tt.limit, tt.counting)
		meters = append(meters, m)
	}
	assertPicture(t, "meter.png", fyne.NewSize(240, 24), meters...)
}

func TestBarNeverDisappears(t *testing.T) {
	lightApp(t)
	b := newBar()
	b.Resize(fyne.NewSize(248, 20))
	for _, v := range []float64{0, 0.001, 0.01, 0.5, 1} {
		b.set(v, toneOther, 0.8)
		if got, want := b.fill.Size().Width, max(4, float32(v)*248); got != want {
			t.Errorf("fill at %v: got %v dp, want %v", v, got, want)
		}
	}
	b.set(noValue, toneOther, 0.8)
	if b.fill.Visible() || b.notch.Visible() {
		t.Error("without an answer: got a fill, want the track alone")
	}
}

func TestNotchOnlyWhereTheFillPasses(t *testing.T) {
	lightApp(t)
	b := newBar()
	b.Resize(fyne.NewSize(248, 20))
	for _, tt := range []struct {
		value, threshold float64
		want             bool
	}{{0.94, 0.8, true}, {0.8, 0.8, false}, {0.63, 0.8, false}, {0.63, 0.6, true}} {
		b.set(tt.value, toneLead, tt.threshold)
		if got := b.notch.Visible(); got != tt.want {
			t.Errorf("value %v, threshold %v: got notch %v, want %v", tt.value, tt.threshold, got, tt.want)
		}
	}
}

func TestMeterTokens(t *testing.T) {
	lightApp(t)
	tests := []struct {
		used, limit int
		want        fyne.ThemeColorName
	}{
		{0, 16384, colorInk3},
		{14745, 16384, colorInk3},
		{14746, 16384, colorAmber},
		{16384, 16384, colorAmber},
		{16385, 16384, colorRed},
		{99999, 0, colorInk3},
	}
	for _, tt := range tests {
		m := newMeter()
		m.set(tt.used, tt.limit, false)
		if got := m.token(); got != tt.want {
			t.Errorf("%d of %d: got %s, want %s", tt.used, tt.limit, got, tt.want)
		}
	}
}

func TestScoreWords(t *testing.T) {
	levels := []string{"Can wait: nothing is blocked", "This week", "Today: now"}
	tests := []struct {
		score float64
		want  string
	}{
		{0, "At Can wait"},
		{0.04, "At Can wait"},
		{0.06, "Between Can wait and This week"},
		{1.85, "Between This week and Today"},
		{1.96, "At Today"},
		{2, "At Today"},
		{7, "At Today"},
		{-1, "At Can wait"},
	}
	for _, tt := range tests {
		if got := scoreWords(tt.score, optionsOf(levels)); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.score, got, tt.want)
		}
	}
	if got := scoreWords(1, nil); got != "" {
		t.Errorf("no levels: got %q, want nothing", got)
	}
}
