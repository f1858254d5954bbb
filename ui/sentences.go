package ui

import (
	"errors"
	"fmt"

	"clefbar/engine"
)

// told is how a reason is told: what is wrong. The error's own sentence says what
// to do; ways gives the buttons.
type told struct {
	title string
	ways  []way
}

// way is a way out of a failure.
type way uint8

const (
	wayAgain   way = iota // decide again
	wayRestart            // start the engine again
	wayModel              // choose another model
	wayEtude              // use the practice model
	wayJSON               // look at the request as JSON
	wayAnyway             // open it although it does not seem to fit
)

// sentences tells every reason. It is the only table that does.
var sentences = map[engine.Reason]told{
	engine.Failed:       {"Something went wrong in Clefbar", []way{wayAgain, wayRestart}},
	engine.Invalid:      {"The model cannot take this case as it is", []way{wayJSON}},
	engine.BadUsage:     {"This cannot be asked here", []way{wayModel, wayJSON}},
	engine.TooLong:      {"This is too long", nil},
	engine.NoModel:      {"No model is open", []way{wayModel, wayEtude}},
	engine.BadModel:     {"This model cannot be used", []way{wayModel, wayEtude}},
	engine.NoMemory:     {"The model does not fit into memory", []way{wayModel, wayAnyway, wayEtude}},
	engine.Loading:      {"The model is still opening", []way{wayAgain}},
	engine.Busy:         {"Too many decisions are waiting", []way{wayAgain}},
	engine.ShuttingDown: {"Clefbar is closing", nil},
	engine.Device:       {"The engine stopped", []way{wayRestart, wayEtude}},
	engine.Unreachable:  {"The server does not answer", []way{wayAgain, wayModel}},
}

// failureNotice tells an error as a card: a sentence with what to do next.
func (p *page) failureNotice(err error) notice {
	reason := engine.ReasonOf(err)
	t := sentences[reason]
	n := notice{title: t.title, body: sentenceOf(err), bad: true}
	if reason == engine.Device {
		n.body += " Your case is untouched."
	}
	for _, w := range t.ways {
		if a, ok := p.wayOut(w); ok {
			n.actions = append(n.actions, a)
		}
	}
	return n
}

// sentenceOf is the error's sentence for a person: capital letter, full stop.
func sentenceOf(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*engine.Error](err); ok {
		text = e.Message
	}
	if text == "" {
		return ""
	}
	r := []rune(text)
	if r[0] >= 'a' && r[0] <= 'z' {
		r[0] += 'A' - 'a'
	}
	if last := r[len(r)-1]; last != '.' && last != '?' && last != '!' {
		r = append(r, '.')
	}
	return string(r)
}

func (p *page) wayOut(w way) (noticeAction, bool) {
	models := p.deps.Models
	state := models.State()
	switch w {
	case wayAgain:
		return noticeAction{text: "Decide again", run: p.decide}, true
	case wayRestart:
		return noticeAction{text: "Start the engine again", run: func() { p.failure = nil; models.Open(state.ID) }}, state.ID != ""
	case wayModel:
		return noticeAction{text: "Choose a model", run: func() { openPopMenu(p.toolbar.model, p.modelRows()) }}, true
	case wayAnyway:
		shelf := p.deps.Shelf
		return noticeAction{text: "Open it anyway", run: func() { p.failure = nil; shelf.OpenAnyway(state.ID) }}, shelf != nil && state.ID != ""
	case wayJSON:
		return noticeAction{text: "Look at the request", run: p.openJSON}, true
	}
	for _, m := range models.List() {
		if m.Practice && m.ID != state.ID {
			return noticeAction{text: "Use " + modelName(m.Name), run: func() { p.failure = nil; models.Open(m.ID) }}, true
		}
	}
	return noticeAction{}, false
}

// tooLongNotice says by how much, what it means, and the ways out, the safe one
// first.
func (p *page) tooLongNotice(model ModelState) notice {
	used, limit := p.counter.last.tokens, model.Info.Limit
	n := notice{
		bad:   true,
		title: fmt.Sprintf("This is %s tokens too long", thousands(used-limit)),
		body: fmt.Sprintf("%s reads %s tokens at once and this case needs %s. Nothing is cut unless you say so.",
			model.title(), thousands(limit), thousands(used)),
	}
	if list := p.doc.State().Attachments; len(list) > 0 {
		n.actions = append(n.actions, noticeAction{text: "Open the text and shorten it", run: func() { p.openAttachment(list[0].Key) }})
	} else {
		n.actions = append(n.actions, noticeAction{text: "Shorten the state", run: p.focusState})
	}
	if to := model.raiseTo(used); to > 0 {
		n.actions = append(n.actions, noticeAction{
			text: "Raise the limit to " + thousands(to), extra: "+" + bytesText(int64(to-limit)*model.Longer.PerToken),
			run: func() { p.deps.Models.Raise(to) },
		})
	}
	n.actions = append(n.actions, noticeAction{text: "Cut the end…", run: p.askCut})
	return n
}

// raiseTo is the next limit that is enough for so many tokens, doubling; 0 when the model cannot read so much.
func (s ModelState) raiseTo(tokens int) int {
	if s.Longer.Most < tokens || s.Info.Limit <= 0 {
		return 0
	}
	limit := s.Info.Limit
	for limit < tokens {
		limit *= 2
	}
	return min(limit, s.Longer.Most)
}

// noModelNotice offers what can be opened, real models first.
func (p *page) noModelNotice() notice {
	n := notice{title: "No model is open", body: "Typing works; answers need a model."}
	for _, m := range p.deps.Models.List() {
		if m.Usable && !m.Practice && len(n.actions) == 0 {
			n.actions = append(n.actions, noticeAction{text: "Open " + modelName(m.Name) + " " + m.Layout, run: func() { p.deps.Models.Open(m.ID) }})
		}
	}
	if a, ok := p.wayOut(wayEtude); ok {
		n.actions = append(n.actions, a)
	}
	return n
}

// cutNotice reminds that the model does not read everything, and takes it back.
func (p *page) cutNotice(model ModelState) notice {
	over := p.counter.last.tokens - model.Info.Limit
	return notice{
		title:   "The end of the state is cut",
		body:    fmt.Sprintf("%s does not read the last %s tokens. The text itself is untouched.", model.title(), thousands(over)),
		actions: []noticeAction{{text: "Do not cut", run: func() { p.doc.SetTruncate(false) }}},
	}
}

// controlNotice marks text that the model would take for its own marks.
func (p *page) controlNotice() notice {
	c := p.counter.last.control[0]
	n := notice{
		title: "Control token in the text",
		body:  fmt.Sprintf("Someone’s text contains %s, a mark that the model treats as its own.", c.Token),
		actions: []noticeAction{
			{text: "Read it as plain text", run: func() { p.doc.SetLiteral(true) }},
			{text: "See what the model reads", run: p.openReads},
			{text: "Leave it", run: func() { p.controlLeft = true; p.refresh() }},
		},
	}
	return n
}
