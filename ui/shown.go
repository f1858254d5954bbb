package ui

// Bar is one bar as it stands on the screen.
type Bar struct {
	Question string  // id
	Option   string  // name of the option, the level or the side
	Number   string  // as written beside it: "0.94", or "–" without an answer
	Fill     float64 // share of the track that is filled; for yes or no, p(yes)
	Stale    bool    // from before an edit
}

// Bars reads the bars from the widgets on the screen, from top to bottom. Rows that
// have been scrolled out of sight do not exist and are not listed.
func (w *Window) Bars() []Bar {
	var bars []Bar
	p := w.page
	for _, q := range p.doc.Questions() {
		c := p.cards[q.Key]
		if c == nil {
			continue
		}
		c.catchUp()
		if c.answer.Visible() {
			bars = append(bars, Bar{
				Question: q.ID, Option: c.answer.name.full, Number: c.answer.number.full,
				Fill: c.answer.bar.value.at, Stale: c.answer.view.stale,
			})
			continue
		}
		for _, r := range c.shown {
			o, _ := q.Option(r.key)
			fill := 0.0
			if r.bar.fill.Visible() {
				fill = float64(r.bar.fill.Size().Width / r.bar.track.Size().Width)
			}
			bars = append(bars, Bar{Question: q.ID, Option: o.Name, Number: r.number.full, Fill: fill, Stale: r.answer.stale})
		}
	}
	return bars
}
