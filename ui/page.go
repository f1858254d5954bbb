package ui

import (
	"strings"

	"fyne.io/fyne/v2"

	"clefbar/ui/document"
)

// page is the whole content of the window: toolbar, state, questions, status line.
// It owns the open case and shows it again after every change.
type page struct {
	figure
	deps     Deps
	window   *Window
	settings Settings
	doc      *document.Case

	toolbar   *toolbar
	state     *statePane
	questions *questionsPane
	grip      *splitGrip
	status    *statusLine
	tip       *tip

	cards   map[document.Key]*card
	loading *loadingCard
	notice  *noticeCard
	run     *runner
	counter *counter
	outcome *outcome              // the last answer, nil before the first
	failure error                 // of the last decision, nil after a good one
	graced  bool                  // the first moment after a key in Live: nothing greys yet
	said    string                // a sentence in the status line, until the next change
	touched map[document.Key]bool // questions that were worked on: only they get advice
	hints   map[string]*hint
	sheet   *modal    // the open sheet, nil for none
	draft   jsonDraft // text of the JSON sheet that was no request when it closed
	modelID string    // of the model that was ready last

	wantAnswer  bool // decide by itself when the model is ready
	controlLeft bool // control tokens in this case are meant
}

var _ drawn = (*page)(nil)

func newPage(w *Window, d Deps, s Settings) *page {
	p := &page{deps: d, window: w, settings: s, cards: map[document.Key]*card{}, hints: map[string]*hint{}}
	p.run = newRunner(p)
	p.counter = newCounter(p)
	p.toolbar = newToolbar(p)
	p.state = newStatePane(p)
	p.questions = newQuestionsPane(p)
	p.grip = newSplitGrip(p.moveSplit, p.save)
	p.status = newStatusLine(p)
	p.loading = newLoadingCard(d.Models.Stop)
	p.tip = newTip(p)
	p.parts = []fyne.CanvasObject{p.toolbar, p.state, p.questions, p.grip, p.status, p.tip}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer builds the drawing.
func (p *page) CreateRenderer() fyne.WidgetRenderer { return newDrawing(p) }

func (p *page) canvas() fyne.Canvas { return p.window.win.Canvas() }

// open makes a case the open one. What was running is stopped; the case before
// stays among the recent ones.
func (p *page) open(c *document.Case) {
	p.run.cancel()
	p.doc, p.outcome, p.failure, p.said, p.controlLeft = c, nil, nil, "", false
	p.cards, p.touched = map[document.Key]*card{}, map[document.Key]bool{}
	c.Watch(func() {
		if p.doc == c {
			p.changed()
		}
	})
	p.questions.scroll.ScrollToTop()
	p.counter.restart()
	p.window.menus.update()
	p.refresh()
	if p.liveOn() {
		p.run.soon()
	}
}

// changed is called after every edit of the open case.
func (p *page) changed() {
	p.said = ""
	p.failure = nil
	p.counter.soon()
	if p.stale() && p.liveOn() {
		p.graced = true
		p.run.soon()
	} else if p.stale() {
		p.run.cancel()
	}
	p.refresh()
}

// stale reports whether the shown answer is from before an edit.
func (p *page) stale() bool {
	return p.outcome == nil || p.outcome.revision != p.doc.Revision() || p.outcome.model != p.deps.Models.State().ID
}

// refresh shows case, answer, model and endpoint as they are now.
func (p *page) refresh() {
	if p.doc == nil {
		return
	}
	problems := p.doc.Problems()
	if len(p.touched) > 0 {
		problems = append(problems, p.doc.Advice()...)
	}
	model := p.deps.Models.State()
	questions := p.doc.Questions()
	p.state.showCase(p.doc.State(), p.doc.Images())
	p.state.showCount(p.counter.last, model.Info.Limit)
	p.showHints(model)
	p.showQuestions(questions, problems, model)
	p.toolbar.model.set(model, p.run.visible())
	p.toolbar.set(p.liveOn(), p.run.visible(), p.canDecide(problems))
	p.questions.setUpdating(p.run.visible())
	p.questions.threshold.set(p.settings.Threshold)
	p.status.set(p.statusView(problems, model))
	p.window.showTitle()
	p.arrange(p.Size())
}

func (p *page) showQuestions(questions []document.Question, problems []document.Problem, model ModelState) {
	var items []stacked
	if n := p.noticeFor(problems, model); n != nil {
		items = append(items, n)
	}
	alive := map[document.Key]bool{}
	for i, q := range questions {
		alive[q.Key] = true
		c, ok := p.cards[q.Key]
		if !ok {
			c = newCard(p)
			p.cards[q.Key] = c
		}
		c.set(p.cardView(q, i, problems))
		items = append(items, c)
	}
	for k := range p.cards {
		if !alive[k] {
			delete(p.cards, k)
		}
	}
	p.questions.showCards(items, len(questions) == 0)
}

func (p *page) cardView(q document.Question, i int, problems []document.Problem) cardView {
	v := cardView{question: q, number: i + 1, threshold: p.settings.Threshold}
	if p.outcome != nil {
		v.verdict = p.outcome.questions[q.Key]
		v.practice = p.outcome.response.Practice
		v.guessing = v.practice && strings.Contains(p.deps.Models.State().Info.PracticeNote, "near guessing")
		v.stale = p.stale() && !p.graced
		if v.verdict != nil && v.verdict.Kind != q.Kind {
			v.verdict = nil
		}
	}
	for _, pr := range problems {
		if pr.Field.Question == q.Key && (pr.Blocks || p.touched[q.Key]) {
			v.problems = append(v.problems, pr)
		}
	}
	return v
}

// columnsAt is where bars stand in cards of a width, for the header over them.
func (p *page) columnsAt(width float32) columns {
	c := card{wide: p.barWide()}
	return c.columns(width)
}

// barWide is the width of bars: 248 up to a window of 1180, then a third of what
// is added, to 360.
func (p *page) barWide() float32 {
	extra := (p.Size().Width - dp(1180)) / 3
	return min(dp(360), dp(barWidth)+max(0, extra))
}

func (p *page) paint() {}

func (p *page) least() fyne.Size { return fyne.NewSize(dp(760), dp(492)) }

func (p *page) arrange(size fyne.Size) {
	top, bottom := dp(toolbarHeight), dp(statusHeight)
	put(p.toolbar, 0, 0, size.Width, top)
	put(p.status, 0, size.Height-bottom, size.Width, bottom)
	for _, c := range p.cards {
		c.wide = p.barWide()
	}
	height := max(0, size.Height-top-bottom)
	reach := dp(gripReach)
	if size.Width >= dp(splitWidth) {
		p.setStacked(false)
		w := min(max(dp(p.settings.StateWidth), dp(stateLeast)), size.Width/2)
		put(p.state, 0, top, w-1, height)
		put(p.questions, w, top, size.Width-w, height)
		put(p.grip, w-0.5-reach/2, top, reach, height)
		return
	}
	p.setStacked(true)
	h := min(max(dp(p.settings.StateLines), p.state.stackedLeast()), max(dp(stackLeast), height/2))
	put(p.state, 0, top, size.Width, h)
	put(p.questions, 0, top+h+1, size.Width, max(0, height-h-1))
	put(p.grip, 0, top+h+0.5-reach/2, size.Width, reach)
}

func (p *page) setStacked(on bool) {
	if p.state.stacked == on {
		return
	}
	p.state.stacked, p.grip.stacked = on, on
	p.state.Refresh()
	p.grip.Refresh()
}

// moveSplit follows the grip.
func (p *page) moveSplit(by float32) {
	if p.grip.stacked {
		p.settings.StateLines = min(max(p.settings.StateLines+by/dp(1), stackLeast), stackMost)
	} else {
		most := p.Size().Width / 2 / dp(1)
		p.settings.StateWidth = min(max(p.settings.StateWidth+by/dp(1), stateLeast), most)
	}
	p.arrange(p.Size())
}

// reveal scrolls so that a stretch of a card can be seen.
func (p *page) reveal(c *card, y, height float32) { p.questions.reveal(c.Position().Y+y, height) }

// say puts a sentence into the status line until the next change.
func (p *page) say(sentence string) {
	p.said = sentence
	p.refresh()
}
