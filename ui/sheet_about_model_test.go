package ui

import (
	"fmt"
	"strings"
	"testing"
)

const shortReport = "# Etude: report\n\n**Short.** Learned from `46` domains,\nby hand ([data](data/x)).\n\n## Accuracy\n\nAll three kinds.\n\n" +
	"| | seen | unseen |\n|---|---|---|\n| **Etude** | 0.7 [a / b] | – |\n| common | 0.5 | 0.4 |\n\nAfter it.\n\n## Bounds\n\n* one\n* two\n"

func TestReportFacts(t *testing.T) {
	var got []string
	for _, f := range reportFacts(shortReport) {
		got = append(got, fmt.Sprintf("%v|%s|%s", f.title, f.name, f.text))
	}
	want := []string{
		"true||Short. Learned from 46 domains, by hand (data).", "true|Accuracy|All three kinds.",
		"false|Etude|seen: 0.7 [a / b]", "false|common|seen: 0.5\nunseen: 0.4", "true||After it.", "true|Bounds|• one\n• two",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
	for _, odd := range []string{"", "|", "||", "|a|\n|b|c|d|", "#", "* ", "| |\n|-|\n| |", "[x](", strings.Repeat("#", 1000)} {
		reportFacts(odd)
	}
}

func TestAboutModelSheet(t *testing.T) {
	d, _, _, _ := testDeps()
	d.Shelf = mockShelf()
	w, s := shelfWindow(t, d, 760, 520)
	for _, row := range s.list.row("etude").menu() {
		if row.text == "About this model" {
			row.run()
		}
	}
	sheet := w.page.sheet
	if sheet == nil || sheet.title.full != "Etude" || sheet.note.full != "practice model" {
		t.Fatalf("got %+v", sheet)
	}
	c := sheet.body.(*factList).column
	if len(c.rows) != 9 || c.rows[0].text.text != "Model etude." || c.rows[1].text.text != "/models/etude" {
		t.Fatalf("got %d rows", len(c.rows))
	}
	for i, r := range c.rows {
		if r.text.Position().X+r.text.Size().Width > c.Size().Width {
			t.Errorf("row %d leaves the sheet", i)
		}
		if i > 0 && c.rows[i-1].text.Position().Y+c.rows[i-1].text.Size().Height > r.text.Position().Y {
			t.Errorf("row %d stands on the one before", i)
		}
	}
}
