package ui

import (
	"image/color"
	"net/http"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

// requestColumns are the columns of the list; width 0 takes what is left.
var requestColumns = []struct {
	title string
	width float32
	right bool
}{
	{"Time", 72, false},
	{"Program", 0, false},
	{"Size", 64, true},
	{"Took", 64, true},
	{"Status", 84, false},
	{"Top probabilities", 112, false},
}

const columnGap = 12

// leastProgram is the least width of the column that takes what is left.
const leastProgram = 60

// spareColumns are left out of a narrow list, in this order.
var spareColumns = []int{5, 2}

// arrangeColumns tells where each column stands in a row of a width; one that is left out is 0 wide.
func arrangeColumns(width float32, at func(i int, x, w float32, right bool)) {
	widths := make([]float32, len(requestColumns))
	rest := width - dp(40) + dp(columnGap)
	for i, c := range requestColumns {
		widths[i] = dp(c.width)
		rest -= widths[i] + dp(columnGap)
	}
	for _, i := range spareColumns {
		if rest < dp(leastProgram) {
			rest += widths[i] + dp(columnGap)
			widths[i] = 0
		}
	}
	x := dp(20)
	for i, c := range requestColumns {
		w := widths[i]
		if c.width == 0 {
			w = max(dp(leastProgram), rest)
		}
		at(i, x, w, c.right)
		if w > 0 {
			x += w + dp(columnGap)
		}
	}
}

// miniBars is how many questions a row shows.
const miniBars = 5

// requestRow is one request in the list.
type requestRow struct {
	figure
	seen    Seen
	chosen  bool
	hovered bool
	choose  func(id string)

	back   *canvas.Rectangle
	cells  []*label // Time … Status
	tracks [miniBars]*canvas.Rectangle
	fills  [miniBars]*canvas.Rectangle
}

var (
	_ drawn             = (*requestRow)(nil)
	_ desktop.Hoverable = (*requestRow)(nil)
)

func newRequestRow(choose func(id string)) *requestRow {
	r := &requestRow{choose: choose, back: newRect(6)}
	r.parts = []fyne.CanvasObject{r.back}
	for range len(requestColumns) - 1 {
		l := newLabel("", colorInk2, 13, regular)
		r.cells = append(r.cells, l)
		r.parts = append(r.parts, l.Text)
	}
	for i := range miniBars {
		r.tracks[i], r.fills[i] = newRect(2), newRect(2)
		r.parts = append(r.parts, r.tracks[i], r.fills[i])
	}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer builds the drawing.
func (r *requestRow) CreateRenderer() fyne.WidgetRenderer { return newDrawing(r) }

// Tapped chooses the row.
func (r *requestRow) Tapped(*fyne.PointEvent) { r.choose(r.seen.ID) }

// MouseIn marks the row.
func (r *requestRow) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.Refresh() }

// MouseMoved does nothing: a row has no parts.
func (r *requestRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut ends the mark.
func (r *requestRow) MouseOut() { r.hovered = false; r.Refresh() }

func (r *requestRow) set(s Seen, chosen bool, now time.Time) {
	r.seen, r.chosen = s, chosen
	took := ""
	if s.Status != 0 {
		took = span(s.Took)
	}
	size := ""
	if s.Bytes > 0 {
		size = bytesText(int64(s.Bytes))
	}
	for i, text := range []string{seenTime(s.At, now), programText(s), size, took, statusText(s)} {
		r.cells[i].set(text)
	}
	r.Refresh()
}

// programText names the program, and the path where it is not the usual one.
func programText(s Seen) string {
	if s.Path == "" || s.Path == "/v1/systemone" {
		return clientName(s)
	}
	return clientName(s) + "  " + s.Path
}

// statusText writes the outcome: the code and what it means.
func statusText(s Seen) string {
	switch s.Status {
	case 0:
		return "running"
	case http.StatusOK:
		return "answered"
	case 529:
		return "529 loading"
	case http.StatusUnprocessableEntity:
		return "422 invalid"
	case http.StatusRequestEntityTooLarge:
		return "413 too long"
	case http.StatusTooManyRequests:
		return "429 busy"
	}
	return strconv.Itoa(s.Status)
}

// tops returns the top probability of each answered question.
func tops(s Seen) []float64 {
	if s.Response == nil {
		return nil
	}
	var list []float64
	for _, a := range s.Response.Answers {
		if a.Best < len(a.Probs) {
			list = append(list, a.Probs[a.Best])
		}
	}
	return list
}

func (r *requestRow) paint() {
	r.back.FillColor = color.Transparent
	switch {
	case r.chosen:
		r.back.FillColor = themeColor(colorAccentSoft)
	case r.hovered:
		r.back.FillColor = themeColor(colorRaised)
	}
	r.cells[1].token = colorInk
	r.cells[4].token = colorInk2
	if r.seen.Status >= 400 {
		r.cells[4].token = colorRed
	}
	for _, c := range r.cells {
		c.paint()
	}
	for i := range miniBars {
		r.tracks[i].FillColor, r.fills[i].FillColor = themeColor(colorTrack), themeColor(colorFill2)
	}
}

func (r *requestRow) least() fyne.Size { return fyne.NewSize(dp(300), dp(32)) }

func (r *requestRow) arrange(size fyne.Size) {
	put(r.back, dp(8), 0, size.Width-dp(16), size.Height)
	arrangeColumns(size.Width, func(i int, x, w float32, right bool) {
		switch {
		case i == len(r.cells):
			r.arrangeBars(x, w, size.Height)
		case right:
			r.cells[i].placeRight(x+w, 0, w, size.Height)
		default:
			r.cells[i].place(x, 0, w, size.Height)
		}
	})
}

func (r *requestRow) arrangeBars(x, width, height float32) {
	list := tops(r.seen)
	gap := dp(4)
	w := (width - gap*(miniBars-1)) / miniBars
	for i := range miniBars {
		there := i < len(list) && width > 0
		show(r.tracks[i], there)
		show(r.fills[i], there)
		if !there {
			continue
		}
		at := x + float32(i)*(w+gap)
		put(r.tracks[i], at, (height-dp(6))/2, w, dp(6))
		put(r.fills[i], at, (height-dp(6))/2, max(dp(2), w*float32(list[i])), dp(6))
	}
}
