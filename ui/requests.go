package ui

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// openRequests lists the last requests the endpoint has answered: when, what came
// of it and how long it took. Never their text.
func (p *page) openRequests() {
	s := p.deps.Endpoint.State()
	m := newModal(p, "Requests", plural(s.Today, "request", "requests")+" today. What they said is not kept.")
	m.width, m.height = 620, 440
	if len(s.Last) == 0 {
		m.body = newAskBody("No program has asked yet. Copy curl in the endpoint’s menu gives a command to try.", nil)
		m.open()
		return
	}
	m.body = widget.NewList(
		func() int { return len(s.Last) },
		func() fyne.CanvasObject { return newViewerRow() },
		func(i widget.ListItemID, o fyne.CanvasObject) {
			c := s.Last[len(s.Last)-1-i]
			o.(*viewerRow).set(viewerLine{text: fmt.Sprintf("%s  %-24s %d  %s", c.Time.Format("15:04:05"), c.Path, c.Status, span(c.Took))})
		},
	)
	m.open()
}
