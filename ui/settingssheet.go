package ui

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
)

// openSettings shows the settings. Everything applies at once.
func (p *page) openSettings() {
	m := newModal(p, "Settings", "")
	m.width, m.height = 560, 644
	m.body = container.NewVScroll(newSettingsBody(p))
	m.open()
}

// settingRow is one setting: its name, what it means, its control on the right.
type settingRow struct {
	name, note *label
	control    fyne.CanvasObject
	wide       float32 // 0: as wide as it likes
}

// settingsBody lists the settings with hairlines between.
type settingsBody struct {
	figure
	page  *page
	rows  []settingRow
	rules []*canvas.Rectangle
}

var _ drawn = (*settingsBody)(nil)

func newSettingsBody(p *page) *settingsBody {
	b := &settingsBody{page: p}
	b.add("Appearance", "Light, dark, or as the system has it", newSegments([]string{"System", "Light", "Dark"}, appearanceIndex(p.settings.Appearance), p.setAppearance))
	b.add("Text size", "Everything grows with it", newSegments([]string{"S", "M", "L", "XL"}, textScaleIndex(p.settings.TextScale), p.setTextScale))
	b.add("Animations", "Bars glide to new values", b.switchFor(fyne.CurrentApp().Settings().ShowAnimations() && p.settings.Animations, p.setAnimations))
	b.add("Live", "Answers follow typing", b.switchFor(p.liveOn(), func(on bool) { p.setLive(on, true) }))
	row := len(b.rows)
	b.add("Threshold", thresholdNote(p.settings.Threshold), newSlider(thresholdLow, thresholdHigh, p.settings.Threshold, func(v float64) {
		b.rows[row].note.set(thresholdNote(v))
		p.setThreshold(v)
		b.Refresh()
	}))
	b.rows[row].wide = 168
	b.add("Memory", "Free it when nothing was asked for a while", newSegments([]string{"Never", "5 min", "30 min", "2 h"}, idleIndex(p.settings.IdleMinutes), p.setIdle))
	s := p.deps.Endpoint.State()
	b.add("Endpoint", "Programs on this machine may ask at "+s.URL(), b.switchFor(s.On, p.deps.Endpoint.SetOn))
	b.add("Port", "Return takes it", newPortField(s.Port, p.deps.Endpoint.SetPort))
	b.rows[len(b.rows)-1].wide = 88
	b.addKey(s)
	if p.deps.Shelf != nil {
		b.addFolder()
	}
	if h := p.deps.History; h != nil {
		b.add("History", h.Note(), b.switchFor(h.On(), func(on bool) { go h.SetOn(on) }))
	}
	b.ExtendBaseWidget(b)
	return b
}

func thresholdNote(v float64) string { return "Below " + probability(v) + " a person should look" }

func (b *settingsBody) switchFor(on bool, change func(bool)) *toggle {
	t := newToggle("", change)
	t.on = on
	if on {
		t.at = 1
	}
	return t
}

func (b *settingsBody) add(name, note string, control fyne.CanvasObject) {
	r := settingRow{name: newLabel(name, colorInk, 13, regular), note: newLabel(note, colorInk3, 12, regular), control: control}
	rule := newRect(0)
	b.rows, b.rules = append(b.rows, r), append(b.rules, rule)
	b.parts = append(b.parts, rule, r.name.Text, r.note.Text, control)
}

// CreateRenderer builds the drawing.
func (b *settingsBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

func (b *settingsBody) paint() {
	for i, r := range b.rows {
		r.name.paint()
		r.note.paint()
		b.rules[i].FillColor = themeColor(colorLine)
	}
}

func (b *settingsBody) least() fyne.Size { return fyne.NewSize(dp(320), dp(48)*float32(len(b.rows))) }

func (b *settingsBody) arrange(size fyne.Size) {
	h := min(dp(58), size.Height/float32(len(b.rows))) // a low window brings the rows together
	for i, r := range b.rows {
		y := float32(i) * h
		show(b.rules[i], i > 0)
		put(b.rules[i], dp(20), y, size.Width-dp(40), 1)
		s := r.control.MinSize()
		if r.wide > 0 {
			s.Width = dp(r.wide)
		}
		put(r.control, size.Width-dp(20)-s.Width, y+(h-s.Height)/2, s.Width, s.Height)
		room := size.Width - dp(56) - s.Width
		r.name.place(dp(20), y+h/2-dp(20), room, dp(20))
		r.note.place(dp(20), y+h/2, room, dp(20))
	}
}

var appearances = []Appearance{AppearanceSystem, AppearanceLight, AppearanceDark}

func appearanceIndex(a Appearance) int {
	for i, x := range appearances {
		if x == a {
			return i
		}
	}
	return 0
}

var textScales = []float32{0.9, 1, 1.15, 1.3}

func textScaleIndex(s float32) int {
	best := 0
	for i, x := range textScales {
		if abs32(x-s) < abs32(textScales[best]-s) {
			best = i
		}
	}
	return best
}

// idleMinutes are the choices for unloading a model that nobody asks.
var idleMinutes = []int{0, 5, 30, 120}

// idleIndex is the longest choice that is not longer than a setting made by hand.
func idleIndex(minutes int) int {
	best := 0
	for i, m := range idleMinutes {
		if m <= minutes {
			best = i
		}
	}
	return best
}

func (p *page) setIdle(i int) {
	p.settings.IdleMinutes = idleMinutes[i]
	p.save()
}

func (p *page) setAppearance(i int) {
	p.settings.Appearance = appearances[i]
	p.window.applyTheme()
}

func (p *page) setTextScale(i int) {
	p.settings.TextScale = textScales[i]
	p.window.applyTheme()
}

func (p *page) setAnimations(on bool) {
	p.settings.Animations = on
	animationsOff = !on
	p.save()
}

// applyTheme takes the chosen appearance and size over and draws everything anew.
func (w *Window) applyTheme() {
	s := w.page.settings
	w.theme = &Theme{Appearance: s.Appearance, TextScale: s.TextScale}
	w.app.Settings().SetTheme(w.theme)
	w.page.save()
	w.page.refresh()
}

// newPortField is a field for a port; Return takes it.
func newPortField(port int, take func(int)) *widget.Entry {
	e := widget.NewEntry()
	e.SetText(strconv.Itoa(port))
	e.OnSubmitted = func(s string) {
		if n, err := strconv.Atoi(s); err == nil && n >= 1024 && n <= 65535 {
			take(n)
			return
		}
		e.SetText(strconv.Itoa(port))
	}
	return e
}
