package ui

import (
	"context"
	"errors"
	"sync"
	"time"

	"clefbar/engine"
	"clefbar/ui/document"
)

const (
	// liveDelay is how long typing rests before Live asks.
	liveDelay = 90 * time.Millisecond
	// graceTime is how long after a key nothing greys and nothing says "Updating".
	graceTime = 120 * time.Millisecond
	// liveUnder: Live is on by itself while decisions take less than this.
	liveUnder = 150 * time.Millisecond
	// clockTick is how often the status line counts a running decision.
	clockTick = 100 * time.Millisecond
)

// runner asks the engine, one decision at a time; a newer one cancels the older.
// Its fields are for the UI goroutine.
type runner struct {
	page    *page
	stop    context.CancelFunc // of the running decision, nil when none runs
	serial  int
	model   string // that was asked
	started time.Time
	shown   bool          // running for longer than the grace
	timer   *time.Timer   // of a decision that waits for a rest in typing
	last    time.Duration // of the last decision
	before  time.Duration // and of the one before
	work    sync.WaitGroup
}

func newRunner(p *page) *runner { return &runner{page: p} }

func (r *runner) running() bool { return r.stop != nil }

// resting reports that nothing runs and nothing waits.
func (r *runner) resting() bool { return r.stop == nil && r.timer == nil }

// visible reports a decision that has been running long enough to say so.
func (r *runner) visible() bool { return r.running() && r.shown }

// soon asks after a rest in typing. What runs is for an older text: it stops now.
func (r *runner) soon() {
	r.cancel()
	serial := r.serial
	r.after(graceTime, func() {
		if r.page.graced && r.serial <= serial+1 {
			r.page.graced = false
			r.page.refresh()
		}
	})
	r.timer = r.after(liveDelay, func() {
		if r.serial == serial {
			r.timer = nil
			r.start()
		}
	})
}

// after runs f on the UI goroutine after a while.
func (r *runner) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { r.page.later(f) })
}

// cancel stops what runs or waits.
func (r *runner) cancel() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	r.serial++
	r.shown = false
	if r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// start asks for the case as it is now.
func (r *runner) start() {
	r.cancel()
	p := r.page
	request, problems := p.doc.Request()
	if request == nil || len(problems) > 0 || p.tooLong() || !p.deps.Models.State().answers() {
		p.refresh()
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	serial := r.serial
	r.stop, r.started = stop, time.Now()
	asked := question{p.doc.Revision(), p.deps.Models.State().ID, p.doc.Questions()}
	r.model = asked.model
	r.work.Go(func() {
		response, err := p.deps.Engine.Decide(ctx, request)
		p.later(func() {
			if r.serial == serial {
				stop()
				r.stop, r.shown = nil, false
				p.answered(asked, response, err)
			}
		})
	})
	r.watch(serial)
	p.refresh()
}

// watch shows after the grace that a decision runs, and then its time.
func (r *runner) watch(serial int) {
	r.after(graceTime, func() { r.tick(serial) })
}

func (r *runner) tick(serial int) {
	if r.serial != serial || !r.running() {
		return
	}
	if !r.shown {
		r.shown = true
		r.page.graced = false
		r.page.refresh()
	} else {
		r.page.showStatus()
	}
	r.after(clockTick, func() { r.tick(serial) })
}

// close stops what runs and waits for it.
func (r *runner) close() {
	r.cancel()
	r.work.Wait()
}

// question is what a decision was asked for.
type question struct {
	revision uint64
	model    string
	list     []document.Question
}

// answered takes a response or an error, on the UI goroutine.
func (p *page) answered(q question, response *engine.Response, err error) {
	p.graced = false
	switch {
	case errors.Is(err, context.Canceled):
	case needed(err) > 0 && p.doc.Revision() == q.revision:
		p.counter.last = tokenCount{tokens: needed(err)} // the meter and its notice tell the rest
	case err != nil:
		p.failure = err
	default:
		p.failure = nil
		p.run.before, p.run.last = p.run.last, response.Timing.Total
		p.outcome = newOutcome(q, response)
	}
	p.refresh()
	p.window.glyphChanged()
}

// decideOrCancel is the main button.
func (p *page) decideOrCancel() {
	if p.run.visible() && !p.liveOn() {
		p.cancelRun()
		return
	}
	p.decide()
}

// decide asks now, or says why it cannot.
func (p *page) decide() {
	p.said = p.whyNot()
	p.run.start()
	p.window.glyphChanged()
}

// whyNot says what keeps the case from being decided, "" for nothing.
func (p *page) whyNot() string {
	model := p.deps.Models.State()
	switch {
	case model.Phase == PhaseOpening:
		return "The model is still opening; the answer starts by itself."
	case !model.answers():
		return "No model is open."
	case p.tooLong():
		return "" // the status line says it already
	}
	for _, pr := range p.doc.Problems() {
		if pr.Blocks {
			return pr.Sentence
		}
	}
	return ""
}

func (p *page) cancelRun() {
	p.run.cancel()
	p.graced = false
	p.said = "Stopped. Nothing was changed."
	p.refresh()
	p.window.glyphChanged()
}

// escape stops a decision that runs.
func (p *page) escape() {
	if p.run.running() {
		p.cancelRun()
	}
}

// liveOn reports whether answers follow typing: as chosen, or by itself while
// decisions are quick. One slow decision among quick ones does not end it.
func (p *page) liveOn() bool {
	if p.settings.Live != nil {
		return *p.settings.Live
	}
	quick := func(d time.Duration) bool { return d > 0 && d < liveUnder }
	return quick(p.run.last) || quick(p.run.before)
}

func (p *page) setLive(on, chosen bool) {
	if chosen {
		p.settings.Live = &on
		p.save()
	}
	if on && p.stale() {
		p.run.soon()
	}
	p.refresh()
}

// canDecide reports whether Decide would do something.
func (p *page) canDecide(problems []document.Problem) bool {
	for _, pr := range problems {
		if pr.Blocks {
			return false
		}
	}
	return len(p.doc.Questions()) > 0 && !p.tooLong() && p.deps.Models.State().answers()
}

// tooLong reports a case over the model's limit that may not be cut.
func (p *page) tooLong() bool {
	limit := p.deps.Models.State().Info.Limit
	return limit > 0 && p.counter.last.tokens > limit && !p.counter.last.estimate && !p.doc.Truncate()
}
