package ui

import "slices"

// The hints of a first run, by the name under which closing them is remembered.
const (
	hintTry   = "try"
	hintEtude = "etude"
)

// showHints shows what a newcomer should know, until it is closed.
func (p *page) showHints(model ModelState) {
	var list []*hint
	if len(p.doc.Questions()) > 0 && p.liveOn() && !p.hintClosed(hintTry) && model.Info.Practice {
		list = append(list, p.hint(hintTry))
	}
	if model.Info.Practice && !p.hintClosed(hintEtude) {
		list = append(list, p.hint(hintEtude))
	}
	if !slices.Equal(list, p.state.hints) {
		p.state.showHints(list)
	}
}

func (p *page) hintClosed(id string) bool { return slices.Contains(p.settings.HintsClosed, id) }

func (p *page) closeHint(id string) {
	p.settings.HintsClosed = append(p.settings.HintsClosed, id)
	p.save()
	p.refresh()
}

func (p *page) hint(id string) *hint {
	if h, ok := p.hints[id]; ok {
		return h
	}
	var h *hint
	switch id {
	case hintTry:
		h = newHint(id, "Try it: change the story", "Type “we were charged twice” above and watch the bars on the right move.",
			colorAccentSoft, func() { p.closeHint(id) })
	default:
		h = newHint(id, "Etude is a practice model", "It ships with Clefbar and is fine for learning the window, not for real decisions.",
			colorAmberSoft, func() { p.closeHint(id) })
		h.with(p.getModelButton())
	}
	p.hints[id] = h
	return h
}

// getModelButton leads from the practice model to a real one: it opens one that is
// here, or the shelf, where it can be had.
func (p *page) getModelButton() *button {
	for _, m := range p.deps.Models.List() {
		if !m.Practice && m.Usable {
			return newButton(rankOutline, "", "Open "+modelName(m.Name), func() { p.deps.Models.Open(m.ID) }).withExtra(m.Layout)
		}
	}
	if p.deps.Shelf == nil {
		b := newButton(rankOutline, "", "Choose another model", nil)
		b.onTap = func() { openPopMenu(b, p.modelRows()) }
		return b
	}
	b := newButton(rankOutline, "", "Get Clef-flash", p.openShelf)
	for _, m := range p.deps.Shelf.Shelved() {
		if m.Stage == StageRemote && !m.Practice {
			return b.withExtra(bytesText(m.Disk)) // the first is the smallest
		}
	}
	return b
}

// legendShown reports whether disc and ring are still explained: until the first
// hint is closed.
func (p *page) legendShown() bool {
	return p.outcome != nil && len(p.settings.HintsClosed) == 0 && p.deps.Models.State().Info.Practice
}
