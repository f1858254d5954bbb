package ui

import (
	"path/filepath"
	"strings"
)

// openFindings shows everything that a check looked at.
func (s *shelfPage) openFindings(m Shelved) {
	if !m.checked() {
		return
	}
	v := *m.Verdict
	sheet := newModal(s.page, m.full(), v.summary())
	sheet.body = newFactList(factsOf(v))
	record := newButton(rankOutline, "", "Record the answers…", func() {
		sheet.close()
		s.record(m)
	})
	record.tip = "Keeps them in a file, to hold another machine or precision against"
	record.setDisabled(!v.Answered)
	copied := newButton(rankOutline, "", "Copy the report", nil)
	copied.onTap = func() {
		s.page.copyText("report", v.Report)
		copied.set(rankOutline, "Copied", "")
		sheet.Refresh()
	}
	sheet.head = append(sheet.head, copied, record)
	sheet.open()
}

// summary is the verdict in a few words.
func (v Verdict) summary() string {
	text := "does not hold"
	if v.Good {
		text = "everything holds"
	}
	if d := v.differenceText(); d != "" {
		text += " · l" + strings.TrimPrefix(d, "L")
	}
	return text
}

func factsOf(v Verdict) (facts []fact) {
	for _, f := range v.Findings {
		mark := fact{icon: "check", tone: colorGood, name: f.Name, text: f.Detail}
		switch {
		case f.Skipped:
			mark.icon, mark.tone = "more", colorInk3
		case !f.Good:
			mark.icon, mark.tone = "alert", colorRed
		}
		facts = append(facts, mark)
	}
	return facts
}

// record asks where to keep the answers of the last check.
func (s *shelfPage) record(m Shelved) {
	s.page.pickTarget(fileName(m.full())+" answers.json", func(file string) {
		s.shelf.Record(m.ID, file, func(err error) {
			onUI(func() {
				if err != nil {
					s.page.tell("The answers were not kept", sentenceOf(err))
					return
				}
				s.page.tell("The answers are kept", "In "+filepath.Base(file)+". Compare with a record… on another machine, or in another precision, holds a model against them.")
			})
		})
	})
}

// compare asks for a file that record wrote and holds the model against it.
func (s *shelfPage) compare(m Shelved) {
	s.page.pickOpen([]string{".json"}, func(file string) { s.shelf.CheckAgainst(m.ID, file) })
}
