package ui

import (
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
)

// shelfPage is the screen of all models. It takes the page's place in the window.
type shelfPage struct {
	figure
	page    *page
	shelf   Shelf
	pending atomic.Bool // a refresh is on its way to the UI goroutine

	back      *button
	rule      *canvas.Rectangle
	title     *label
	search    *button
	folder    *button
	server    *button
	bar, line *canvas.Rectangle
	ground    *canvas.Rectangle
	scroll    *container.Scroll
	list      *shelfList
}

var _ drawn = (*shelfPage)(nil)

// onShelf returns the shelf while it is in the window, else nil.
func (w *Window) onShelf() *shelfPage {
	s, _ := w.win.Content().(*shelfPage)
	return s
}

// openShelf shows all models in the window.
func (p *page) openShelf() {
	if p.deps.Shelf == nil || p.window.onShelf() != nil {
		return
	}
	s := newShelfPage(p)
	p.window.win.SetContent(s)
	p.window.showTitle()
	p.deps.Shelf.Watch(s.soon)
	s.refresh()
}

func newShelfPage(p *page) *shelfPage {
	s := &shelfPage{page: p, shelf: p.deps.Shelf, rule: newRect(0), bar: newRect(0), line: newRect(0), ground: newRect(0)}
	s.back = newButton(rankQuiet, "back", "Case", s.leave).tall()
	s.title = newLabel("Models", colorInk, 15, bold)
	s.folder = newButton(rankQuiet, "folder", "Add a folder…", func() { p.chooseFolder(s.shelf.AddFolder) }).tall()
	s.server = newButton(rankQuiet, "server", "Add a server…", s.askServer).tall()
	s.search = newButton(rankQuiet, "get", "Find on the Hub…", s.askHub).tall()
	s.list = newShelfList(s)
	s.scroll = container.NewScroll(s.list)
	s.parts = []fyne.CanvasObject{s.ground, s.bar, s.line, s.back, s.rule, s.title.Text, s.search, s.folder, s.server, s.scroll, p.tip}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer builds the drawing.
func (s *shelfPage) CreateRenderer() fyne.WidgetRenderer { return newDrawing(s) }

// leave goes back to the case.
func (s *shelfPage) leave() {
	s.shelf.Watch(func() {})
	s.page.window.win.SetContent(s.page)
	s.page.window.showTitle()
	s.page.refresh()
}

// soon refreshes on the UI goroutine, once for however many changes.
func (s *shelfPage) soon() {
	if s.pending.CompareAndSwap(false, true) {
		onUI(func() {
			s.pending.Store(false)
			s.refresh()
		})
	}
}

func (s *shelfPage) refresh() {
	m := s.shelf.Machine()
	s.search.setDisabled(m.Offline)
	s.search.tip = ""
	if m.Offline {
		s.search.tip = offlineTip
	}
	s.list.set(m, s.shelf.Shelved())
	s.scroll.Refresh()
}

func (s *shelfPage) paint() {
	s.ground.FillColor = themeColor(colorBg)
	s.bar.FillColor = themeColor(colorSurface)
	s.line.FillColor, s.rule.FillColor = themeColor(colorLine), themeColor(colorLine)
	s.title.paint()
}

func (s *shelfPage) least() fyne.Size { return s.page.least() }

func (s *shelfPage) arrange(size fyne.Size) {
	h := dp(toolbarHeight)
	put(s.ground, 0, 0, size.Width, size.Height)
	put(s.bar, 0, 0, size.Width, h)
	put(s.line, 0, h-1, size.Width, 1)
	x := dp(14) + placeMiddle(s.back, dp(14), h-1) + dp(8)
	put(s.rule, x, (h-dp(24))/2, 1, dp(24))
	right := size.Width - dp(18)
	right -= placeMiddleRight(s.server, right, h-1) + dp(4)
	right -= placeMiddleRight(s.folder, right, h-1) + dp(4)
	right -= placeMiddleRight(s.search, right, h-1) + dp(8)
	x += dp(16)
	s.title.place(x, 0, max(0, min(dp(200), right-x)), h-1)
	across := max(size.Width, dp(shelfLeast))
	turned := s.list.across != across
	s.list.across = across
	put(s.scroll, 0, h, size.Width, max(0, size.Height-h))
	if turned { // its lines break elsewhere
		s.scroll.Refresh()
	}
}
