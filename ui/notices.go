package ui

import (
	"fmt"
	"slices"
	"time"

	"clefbar/engine"
	"clefbar/ui/document"
)

// noticeFor picks the one card above the questions: what is in the way most.
func (p *page) noticeFor(problems []document.Problem, model ModelState) stacked {
	var n notice
	switch {
	case model.Phase == PhaseOpening:
		p.notice = nil
		p.loading.set(model)
		return p.loading
	case model.Phase == PhaseFailed:
		n = p.failureNotice(model.Err)
	case model.Phase == PhaseNone && model.ID == "":
		n = p.noModelNotice()
	case p.tooLong():
		n = p.tooLongNotice(model)
	case p.failure != nil:
		n = p.failureNotice(p.failure)
	default:
		return p.caseNotice(problems, model)
	}
	return p.keepNotice(n)
}

// caseNotice tells a broken rule that belongs to no card, or what is worth knowing
// and in nobody's way.
func (p *page) caseNotice(problems []document.Problem, model ModelState) stacked {
	for _, pr := range problems {
		if !pr.Blocks || pr.Field.Question != 0 || pr.Rule == document.RuleNoQuestion {
			continue
		}
		n := notice{title: "This case cannot be decided yet", body: pr.Sentence, bad: true}
		if pr.Fix != "" {
			n.actions = append(n.actions, noticeAction{text: pr.Fix, run: func() { p.fix(pr) }})
		}
		n.actions = append(n.actions, noticeAction{text: "Look at the request", run: p.openJSON})
		return p.keepNotice(n)
	}
	count, limit := p.counter.last, model.Info.Limit
	switch {
	case limit > 0 && count.tokens > limit && !count.estimate:
		return p.keepNotice(p.cutNotice(model))
	case len(count.control) > 0 && !p.doc.Literal() && !p.controlLeft:
		return p.keepNotice(p.controlNotice())
	}
	p.notice = nil
	return nil
}

// keepNotice draws the notice anew only when it says something else, so that its
// buttons keep the focus.
func (p *page) keepNotice(n notice) stacked {
	if p.notice == nil || !p.notice.what.sameAs(n) {
		p.notice = newNoticeCard(n)
	}
	return p.notice
}

// sameAs reports whether two notices read the same.
func (n notice) sameAs(other notice) bool {
	return n.title == other.title && n.body == other.body && n.bad == other.bad &&
		slices.EqualFunc(n.actions, other.actions, func(a, b noticeAction) bool { return a.text == b.text && a.extra == b.extra })
}

// showStatus shows the status line alone, as while a decision runs.
func (p *page) showStatus() {
	p.status.set(p.statusView(p.doc.Problems(), p.deps.Models.State()))
}

// statusView says what happened last, on what, and whether programs get answers.
func (p *page) statusView(problems []document.Problem, model ModelState) statusView {
	v := statusView{plain: true}
	switch {
	case p.said != "":
		v.lead = p.said
	case p.run.visible():
		v.lead = fmt.Sprintf("Reading… %.1f s", time.Since(p.run.started).Seconds())
		v.timings = []string{"Esc stops"}
		if p.outcome != nil {
			v.timings = append(v.timings, "Grey answers are from before your edit")
		}
	case model.Phase == PhaseOpening:
		v.lead = "Opening the model"
	case model.Phase == PhaseFailed:
		v.lead = "The model did not open"
	case p.tooLong():
		v.lead = "Not run: " + plural(p.counter.last.tokens-model.Info.Limit, "token", "tokens") + " over the limit"
	case p.failure != nil:
		v.lead = "Not answered"
	case p.outcome == nil:
		v.lead = "Ready"
	case p.stale() && !p.graced:
		v.lead = "Grey answers are from before your edit"
	default:
		v.plain = false
		v.lead, v.timings = timingWords(p.outcome.response.Timing)
		if n := p.outcome.response.Truncated; n > 0 {
			v.timings = append(v.timings, plural(n, "token", "tokens")+" of the state cut")
		}
	}
	v.machine = p.machineWords(model)
	v.endpoint, v.short, v.dot = endpointWords(p.deps.Endpoint.State(), model)
	return v
}

func timingWords(t engine.Timing) (lead string, parts []string) {
	return seconds(t.Total), []string{"encode " + span(t.Encode), "read " + span(t.Prefill), "head " + span(t.Head)}
}

func (p *page) machineWords(model ModelState) []string {
	var words []string
	if p.deps.Memory != nil {
		if n := p.deps.Memory(); n > 0 {
			words = append(words, bytesText(n))
		}
	}
	if model.Info.Device != "" {
		words = append(words, model.Info.Device)
	}
	return words
}

// endpointWords says whether programs get answers: in full, in short, and as a dot.
func endpointWords(s EndpointState, model ModelState) (long, short string, on bool) {
	port := ":" + itoa(s.Port)
	switch {
	case !s.On:
		return "Endpoint off", "off", false
	case s.Err != nil:
		return "Endpoint off: " + sentenceOf(s.Err), "failed", false
	case model.Phase != PhaseReady:
		return "Endpoint on " + port + ", model not ready", port, false
	}
	return "Endpoint on " + port, port, true
}
