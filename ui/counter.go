package ui

import (
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"clefbar/engine"
	"clefbar/ui/document"
)

// countDelay is how long typing rests before tokens are counted.
const countDelay = 60 * time.Millisecond

// tokenCount is what a case costs.
type tokenCount struct {
	tokens   int
	estimate bool
	control  []engine.Control     // control tokens in the person's text
	media    map[document.Key]int // tokens a picture
	state    int                  // tokens of the whole state
}

// counter counts tokens beside typing: one count at a time, always of the newest
// text. Its fields are for the UI goroutine.
type counter struct {
	page *page
	last tokenCount
	busy bool
	next bool // the text has changed since the running count began
	work sync.WaitGroup
}

func newCounter(p *page) *counter { return &counter{page: p} }

// restart forgets the last count: another case is open.
func (c *counter) restart() {
	c.last = tokenCount{tokens: estimated(c.page.doc), estimate: true}
	c.soon()
}

// soon counts after a rest.
func (c *counter) soon() {
	if c.busy {
		c.next = true
		return
	}
	c.busy = true
	time.AfterFunc(countDelay, func() { c.page.later(c.start) })
}

func (c *counter) start() {
	c.next = false
	p := c.page
	request, _ := p.doc.Request()
	if request == nil {
		c.done(tokenCount{tokens: estimated(p.doc), estimate: true})
		return
	}
	pictures := p.doc.Images()
	estimate := estimated(p.doc)
	c.work.Go(func() {
		e, err := p.deps.Engine.Encode(request)
		count := tokenCount{tokens: estimate, estimate: true}
		switch {
		case err == nil:
			count = countOf(e, pictures)
		case needed(err) > 0:
			count = tokenCount{tokens: needed(err)}
		}
		p.later(func() { c.done(count) })
	})
}

func (c *counter) done(count tokenCount) {
	c.busy, c.last = false, count
	if c.next {
		c.soon()
	}
	c.page.refresh()
}

// close waits for the running count.
func (c *counter) close() { c.work.Wait() }

// needed is how many tokens a refused case has, 0 when it was refused for another
// reason.
func needed(err error) int {
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Reason == engine.TooLong {
		return e.Needed
	}
	return 0
}

func countOf(e *engine.Encoding, pictures []document.Image) tokenCount {
	count := tokenCount{tokens: len(e.IDs) + e.Truncated, control: e.Control, media: map[document.Key]int{}, state: e.State.Len() + e.Truncated}
	i := 0
	for _, piece := range e.Pieces {
		if piece.Part == engine.PartMedia && i < len(pictures) {
			count.media[pictures[i].Key] = piece.Tokens.Len()
			i++
		}
	}
	return count
}

// estimated guesses the tokens of a state before they are counted: a token is about
// four letters.
func estimated(c *document.Case) int {
	s := c.State()
	n := utf8.RuneCountInString(s.Text)
	for _, a := range s.Attachments {
		n += len(a.Text)
	}
	return (n + 3) / 4
}
