package ui

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"clefbar/ui/document"
)

const requestsTitle = "Requests"

// requestsSheet lists what the endpoint sees, as it arrives.
type requestsSheet struct {
	*modal
	log     Requests
	body    *requestsBody
	pending atomic.Bool // a refresh is on its way to the UI goroutine
}

// openRequests shows the requests at the endpoint, or closes the list again.
func (p *page) openRequests() {
	if p.sheet != nil && p.sheet.title.full == requestsTitle {
		p.sheet.close()
		return
	}
	s := &requestsSheet{modal: newModal(p, requestsTitle, ""), log: p.deps.Requests}
	if s.log == nil {
		s.log = &RequestLog{}
	}
	s.body = newRequestsBody(s)
	s.modal.body = s.body
	s.modal.head = []fyne.CanvasObject{newButton(rankOutline, "", "Clear", s.log.Clear)}
	keep := newToggle("Keep what requests say until Clefbar quits", s.log.KeepBodies)
	keep.nameOnRight = true
	keep.set(s.log.KeepsBodies())
	s.modal.left = keep
	s.modal.right = newFootNote("On this computer only")
	s.modal.closed = func() { s.log.Watch(nil) }
	s.log.Watch(s.soon)
	s.open()
	s.refresh()
	p.canvas().Focus(s.body.filter)
}

// soon refreshes on the UI goroutine, once for however many requests.
func (s *requestsSheet) soon() {
	if s.pending.CompareAndSwap(false, true) {
		onUI(func() {
			s.pending.Store(false)
			if s.page.sheet == s.modal {
				s.refresh()
			}
		})
	}
}

func (s *requestsSheet) refresh() {
	all := s.log.Seen()
	s.body.all = all
	s.body.sift()
	note := plural(len(all), "request", "requests") + " since Clefbar started."
	if len(all) == 0 {
		note = "None since Clefbar started."
	}
	if !s.log.KeepsBodies() {
		note += " What they say is not kept."
	}
	s.note.set(note)
	s.modal.Refresh()
}

// replay opens a kept request as a case.
func (s *requestsSheet) replay(r *Seen) {
	if r.Request == nil {
		return
	}
	c, err := document.FromJSON(r.Request.JSON())
	if err != nil {
		s.page.say(sentenceOf(err))
		return
	}
	c.SetTitle(clientName(*r) + ", " + r.At.Format("15:04:05"))
	s.close()
	s.page.keep(c)
}

// requestsBody is the filter over the list, and one request beside it.
type requestsBody struct {
	figure
	all, shown []Seen
	chosen     string // id
	now        func() time.Time
	filter     *filterField
	heads      []*label
	list       *widget.List
	empty      *paragraph
	detail     *requestDetail
	rule       *canvas.Rectangle
	under      *canvas.Rectangle
}

var _ drawn = (*requestsBody)(nil)

func newRequestsBody(s *requestsSheet) *requestsBody {
	b := &requestsBody{now: time.Now, rule: newRect(0), under: newRect(0), empty: newParagraph("", colorInk2, 13)}
	b.filter = newFilterField(b.sift, s.modal.close)
	b.detail = newRequestDetail(s.replay)
	b.list = widget.NewList(
		func() int { return len(b.shown) },
		func() fyne.CanvasObject { return newRequestRow(b.choose) },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			o.(*requestRow).set(b.shown[i], b.shown[i].ID == b.chosen, b.now())
		},
	)
	b.list.HideSeparators = true
	b.list.OnSelected = func(i widget.ListItemID) {
		b.list.Unselect(i)
		b.choose(b.shown[i].ID)
	}
	b.parts = []fyne.CanvasObject{b.filter, b.under, b.list, b.empty, b.detail, b.rule}
	for _, c := range requestColumns {
		l := newLabel(c.title, colorInk3, 12, regular)
		b.heads = append(b.heads, l)
		b.parts = append(b.parts, l.Text)
	}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer builds the drawing.
func (b *requestsBody) CreateRenderer() fyne.WidgetRenderer { return newDrawing(b) }

// sift shows the requests that the filter lets through.
func (b *requestsBody) sift() {
	b.shown = b.shown[:0]
	words := strings.Fields(strings.ToLower(b.filter.Text))
	for _, s := range b.all {
		if matches(s, words) {
			b.shown = append(b.shown, s)
		}
	}
	switch {
	case len(b.all) == 0:
		b.empty.set("No program has asked yet. “Copy curl” in the endpoint’s menu gives a command to try.")
	case len(b.shown) == 0:
		b.empty.set("No request matches.")
	default:
		b.empty.set("")
	}
	b.choose(b.chosen)
}

// matches reports whether every word is found in what a row shows.
func matches(s Seen, words []string) bool {
	text := strings.ToLower(strings.Join([]string{s.Client, s.Address, s.Method, s.Path, strconv.Itoa(s.Status), statusText(s), s.Error, s.ID}, " "))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (b *requestsBody) choose(id string) {
	b.chosen = id
	var chosen *Seen
	for i := range b.shown {
		if b.shown[i].ID == id {
			chosen = &b.shown[i]
		}
	}
	b.detail.set(chosen)
	b.list.Refresh()
	b.Refresh()
}

func (b *requestsBody) paint() {
	b.rule.FillColor, b.under.FillColor = themeColor(colorLine), themeColor(colorLine)
	for _, h := range b.heads {
		h.paint()
	}
}

func (b *requestsBody) least() fyne.Size { return fyne.NewSize(dp(420), dp(160)) }

func (b *requestsBody) arrange(size fyne.Size) {
	side := min(dp(readsSideWidth), size.Width/2)
	w := size.Width - side
	put(b.filter, dp(16), dp(12), w-dp(32), b.filter.MinSize().Height)
	top := dp(12) + b.filter.MinSize().Height + dp(6)
	arrangeColumns(w, func(i int, x, width float32, right bool) {
		if right {
			b.heads[i].placeRight(x+width, top, width, dp(20))
		} else {
			b.heads[i].place(x, top, width, dp(20))
		}
	})
	top += dp(24)
	put(b.under, 0, top, w, 1)
	put(b.list, 0, top+1, w, max(0, size.Height-top-1))
	put(b.empty, dp(20), top+dp(20), w-dp(40), dp(60))
	put(b.rule, w, 0, 1, size.Height)
	put(b.detail, w+1, 0, side-1, size.Height)
}

// filterField is the field over the list.
type filterField struct {
	widget.Entry
	leave func()
}

func newFilterField(changed func(), leave func()) *filterField {
	f := &filterField{leave: leave}
	f.ExtendBaseWidget(f)
	f.SetPlaceHolder("Filter by program, path, status or error")
	f.OnChanged = func(string) { changed() }
	return f
}

// TypedKey empties the field on Escape, then leaves.
func (f *filterField) TypedKey(k *fyne.KeyEvent) {
	if k.Name != fyne.KeyEscape {
		f.Entry.TypedKey(k)
		return
	}
	if f.Text == "" {
		f.leave()
		return
	}
	f.SetText("")
}

// TypedShortcut lets the window have what the field does not know.
func (f *filterField) TypedShortcut(s fyne.Shortcut) {
	if c, ok := s.(*desktop.CustomShortcut); ok && passOn(f, c) {
		return
	}
	f.Entry.TypedShortcut(s)
}

// clientName is the program's name for itself, or its address.
func clientName(s Seen) string {
	if s.Client != "" {
		return s.Client
	}
	if s.Address != "" {
		return s.Address
	}
	return "A program"
}

// seenTime writes the time of day; older ones carry the date.
func seenTime(t, now time.Time) string {
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}
