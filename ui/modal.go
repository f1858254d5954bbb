package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// The measures of a sheet.
const (
	modalWidth  = 940
	modalHeight = 624
	modalMargin = 40 // left of the window around it, both sides together
	modalHead   = 57
	modalFoot   = 41
)

// modal is a sheet over the dimmed page: a head with title, note and buttons, a
// body, a foot. Escape and Done close it. Make one, fill its fields, open it.
type modal struct {
	figure
	page   *page
	title  *label
	note   *label
	body   fyne.CanvasObject
	left   fyne.CanvasObject   // in the foot; nil for none
	right  fyne.CanvasObject   // in the foot; nil for none
	head   []fyne.CanvasObject // buttons in the head, from left to right, before Done
	done   *button
	width  float32 // dp, 0 for the usual
	height float32
	closed func()

	dim        *canvas.Rectangle
	back       *canvas.Rectangle
	hold       *panelHold
	ruleTop    *canvas.Rectangle
	ruleBottom *canvas.Rectangle
}

var (
	_ drawn         = (*modal)(nil)
	_ fyne.Tappable = (*modal)(nil)
)

func newModal(p *page, title, note string) *modal {
	m := &modal{page: p, dim: newRect(0), back: newRect(12), hold: newPanelHold(), ruleTop: newRect(0), ruleBottom: newRect(0)}
	m.title = newLabel(title, colorInk, 15, bold)
	m.note = newLabel(note, colorInk2, 13, regular)
	m.done = newButton(rankPrimary, "", "Done", m.close)
	m.ExtendBaseWidget(m)
	return m
}

// open shows the sheet; only one is open at a time.
func (m *modal) open() {
	if m.page.sheet != nil {
		m.page.sheet.close()
	}
	m.parts = []fyne.CanvasObject{m.dim, m.hold, m.back, m.title.Text, m.note.Text, m.ruleTop}
	m.parts = append(m.parts, m.head...)
	m.parts = append(m.parts, m.done)
	if m.body != nil {
		m.parts = append(m.parts, m.body)
	}
	if m.footed() {
		m.parts = append(m.parts, m.ruleBottom)
	}
	for _, o := range []fyne.CanvasObject{m.left, m.right} {
		if o != nil {
			m.parts = append(m.parts, o)
		}
	}
	c := m.page.canvas()
	m.page.sheet = m
	c.Overlays().Add(m)
	m.Resize(c.Size())
	m.Refresh()
}

// close takes the sheet away.
func (m *modal) close() {
	if m.page.sheet != m {
		return
	}
	m.page.sheet = nil
	m.page.canvas().Overlays().Remove(m)
	if m.closed != nil {
		m.closed()
	}
}

func (m *modal) footed() bool { return m.left != nil || m.right != nil }

// CreateRenderer builds the drawing.
func (m *modal) CreateRenderer() fyne.WidgetRenderer { return newDrawing(m) }

// Tapped does nothing: a tap beside a sheet may have been meant for the page, and
// the sheet may hold what was typed.
func (m *modal) Tapped(*fyne.PointEvent) {}

func (m *modal) paint() {
	m.dim.FillColor = themeColor(colorDim)
	m.back.FillColor = themeColor(colorSurface)
	m.back.StrokeColor, m.back.StrokeWidth = themeColor(colorLine), 1
	m.back.CornerRadius = dp(12)
	m.ruleTop.FillColor, m.ruleBottom.FillColor = themeColor(colorLine), themeColor(colorLine)
	m.title.paint()
	m.note.paint()
}

func (m *modal) least() fyne.Size { return fyne.NewSize(dp(320), dp(240)) }

func (m *modal) arrange(size fyne.Size) {
	put(m.dim, 0, 0, size.Width, size.Height)
	put(m.hold, 0, 0, size.Width, size.Height)
	width, height := dp(modalWidth), dp(modalHeight)
	if m.width > 0 {
		width, height = dp(m.width), dp(m.height)
	}
	width, height = min(width, size.Width-dp(modalMargin)), min(height, size.Height-dp(modalMargin))
	x, y := (size.Width-width)/2, (size.Height-height)/2
	put(m.back, x, y, width, height)
	m.arrangeHead(x, y, width)
	top, bottom := y+dp(modalHead), y+height-1
	put(m.ruleTop, x+1, top-1, width-2, 1)
	if m.footed() {
		bottom = y + height - dp(modalFoot)
		put(m.ruleBottom, x+1, bottom, width-2, 1)
		m.arrangeFoot(x, bottom, width)
	}
	if m.body != nil {
		put(m.body, x+1, top, width-2, max(0, bottom-top))
	}
}

func (m *modal) arrangeHead(x, y, width float32) {
	h := dp(modalHead - 1)
	right := x + width - dp(16)
	right -= placeMiddleAt(m.done, right-m.done.MinSize().Width, y, h) + dp(8)
	for i := len(m.head) - 1; i >= 0; i-- {
		w := m.head[i].MinSize().Width
		placeMiddleAt(m.head[i], right-w, y, h)
		right -= w + dp(8)
	}
	at := x + dp(20)
	at += m.title.place(at, y, max(0, right-at), h) + dp(9)
	m.note.place(at, y+dp(0.5), max(0, right-at-dp(8)), h)
}

func (m *modal) arrangeFoot(x, y, width float32) {
	h := dp(modalFoot)
	if m.left != nil {
		s := m.left.MinSize()
		put(m.left, x+dp(20), y+(h-s.Height)/2, max(s.Width, width/2), s.Height)
	}
	if m.right != nil {
		s := m.right.MinSize()
		put(m.right, x+width-dp(20)-s.Width, y+(h-s.Height)/2, s.Width, s.Height)
	}
}
