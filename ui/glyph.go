package ui

import "clefbar/assets"

// OnGlyph is called with the glyph whenever the state of the menu-bar item changes,
// and once now.
func (w *Window) OnGlyph(f func(assets.Glyph)) {
	w.onGlyph = f
	f(w.glyphNow())
}

// glyphNow tells the state by shape: thinking, error, off, idle.
func (w *Window) glyphNow() assets.Glyph {
	p := w.page
	model, endpoint := p.deps.Models.State(), p.deps.Endpoint.State()
	switch {
	case p.run.running() || model.Phase == PhaseOpening || endpoint.Busy:
		return assets.GlyphThinking
	case model.Phase == PhaseFailed || p.failure != nil || endpoint.On && endpoint.Err != nil:
		return assets.GlyphError
	case !endpoint.On:
		return assets.GlyphOff
	}
	return assets.GlyphIdle
}

func (w *Window) glyphChanged() {
	if g := w.glyphNow(); g != w.glyph {
		w.glyph = g
		if w.onGlyph != nil {
			w.onGlyph(g)
		}
	}
}
