package ui

import (
	"fyne.io/fyne/v2"
)

// verb is something that can be done with a model.
type verb uint8

const (
	verbNone verb = iota
	verbGet
	verbPause
	verbOpen
	verbOpenAnyway
	verbUnload
	verbReveal
)

// shelfAction is the one thing to do next with a model.
type shelfAction struct {
	verb verb
	text string
	icon string
	rank rank
}

// revealText names the file manager.
func revealText() string {
	if macKeys {
		return "Show in Finder"
	}
	return "Show the files"
}

// actionOf chooses it. What is too large is still offered, never hidden.
func actionOf(s Shelved, m Machine) shelfAction {
	switch s.Stage {
	case StageRemote:
		if s.Known && m.fitOf(s) == tooMuch {
			return shelfAction{verbGet, "Get anyway", "", rankMuted}
		}
		return shelfAction{verbGet, "Get", "get", rankOutline}
	case StageArriving:
		return shelfAction{verbPause, "Pause", "pause", rankOutline}
	case StagePaused:
		return shelfAction{verbGet, "Resume", "play", rankOutline}
	case StageFailed:
		return shelfAction{verbGet, "Try again", "get", rankOutline}
	case StageIncomplete:
		return shelfAction{verbGet, "Get the rest", "get", rankOutline}
	case StageOpen:
		return shelfAction{verbUnload, "Unload", "", rankOutline}
	case StageReady:
		if s.Known && s.Server == "" && m.fitOf(s) == tooMuch {
			return shelfAction{verbOpenAnyway, "Open anyway", "", rankMuted}
		}
		return shelfAction{verbOpen, "Open", "", rankOutline}
	case StageNoHead, StageUnsupported:
		return shelfAction{verbReveal, revealText(), "", rankOutline}
	}
	return shelfAction{}
}

// tagOf is the badge beside a model's name.
func tagOf(s Shelved) (text string, ink, fill fyne.ThemeColorName) {
	switch {
	case s.Stage == StageOpen:
		return "In use", colorAccent, colorAccentSoft
	case s.Stage == StageIncomplete:
		return "Incomplete", colorAmber, colorAmberSoft
	case s.Stage == StageFailed:
		return "Stopped", colorRed, colorRedSoft
	case s.Stage == StageNoHead:
		return "No head", colorInk2, colorRaised
	case s.Stage == StageUnsupported:
		return "Cannot be opened", colorInk2, colorRaised
	case s.Stage == StageAway:
		return "Away", colorInk2, colorRaised
	case s.checked() && s.Verdict.Good:
		return "Checked", colorGood, colorGoodSoft
	case s.checked() && s.Verdict.Damaged:
		return "Damaged", colorRed, colorRedSoft
	case s.checked():
		return "Does not hold", colorRed, colorRedSoft
	case s.Practice:
		return "Practice model", colorAmber, colorAmberSoft
	}
	return "", colorInk2, colorRaised
}

// do does it.
func (s *shelfPage) do(v verb, m Shelved) {
	switch v {
	case verbGet:
		s.shelf.Get(m.ID)
	case verbPause:
		s.shelf.Pause(m.ID)
	case verbOpen:
		s.page.deps.Models.Open(m.ID)
	case verbOpenAnyway:
		s.shelf.OpenAnyway(m.ID)
	case verbUnload:
		s.page.deps.Models.Unload()
	case verbReveal:
		s.shelf.Reveal(m.ID)
	}
}

// menu is what else can be done with a model.
func (r *shelfRow) menu() []menuRow {
	s, m := r.shelf, r.model
	var rows []menuRow
	onDisk := m.here() && m.Server == "" && m.Stage != StageAway
	whole := m.Stage == StageReady || m.Stage == StageOpen
	if whole {
		rows = append(rows, r.checkMenu()...)
	}
	rows = append(rows, menuRow{text: "About this model", run: func() { s.openAboutModel(m) }})
	if onDisk && !m.Practice {
		rows = append(rows, menuRow{text: revealText(), run: func() { s.shelf.Reveal(m.ID) }})
	}
	if m.Revision != "" {
		rows = append(rows, menuRow{text: "Copy the revision", detail: m.Revision[:min(len(m.Revision), 7)], run: func() { s.page.copyText("revision", m.Revision) }})
	}
	if m.Stage == StageRemote && !m.Given {
		rows = append(rows, menuRow{text: "Take off the list", run: func() { s.shelf.Remove(m.ID) }})
	}
	if m.here() && !m.Practice {
		if len(rows) > 0 {
			rows = append(rows, menuLine())
		}
		rows = append(rows, menuRow{text: "Remove…", disabled: m.Stage == StageOpen, run: func() { s.askRemove(m) }})
	}
	return rows
}

// checkMenu is what checking a model offers.
func (r *shelfRow) checkMenu() []menuRow {
	s, m := r.shelf, r.model
	rows := []menuRow{
		{text: "Check", tip: "Files, shapes, head, and the built-in probes", disabled: m.checking(), run: func() { s.shelf.Check(m.ID) }},
		{text: "Compare with a record…", tip: "Check, and hold the answers against those of another machine or precision", disabled: m.checking(), run: func() { s.compare(m) }},
	}
	if m.checked() {
		rows = append(rows, menuRow{text: "What the check found", run: func() { s.openFindings(m) }})
	}
	return rows
}

// askRemove asks before files are deleted.
func (s *shelfPage) askRemove(m Shelved) {
	title, note, yes := "Remove "+m.full()+"?", "It frees "+bytesText(m.Disk)+". Files that other models share stay.", "Remove"
	switch {
	case m.Server != "":
		note = "The model stays on " + m.Server + "; it is only taken off this list."
	case m.Loose:
		title, note, yes = "Take "+m.full()+" off the list?", "Its files stay where they are.", "Take off"
	case m.Stage == StageAway:
		note = "It is only taken off this list: its disk is not there."
	}
	s.page.confirm(title, note, yes, func() { s.shelf.Remove(m.ID) })
}

// askCancel asks before what has arrived is deleted.
func (s *shelfPage) askCancel(m Shelved) {
	s.page.confirm("Give the download up?", bytesText(m.Done)+" of "+m.full()+" have arrived and will be deleted. Pause keeps them.", "Give up", func() { s.shelf.Cancel(m.ID) })
}

func (s Shelved) full() string {
	if s.Layout == "" {
		return s.Name
	}
	return s.Name + " " + s.Layout
}
