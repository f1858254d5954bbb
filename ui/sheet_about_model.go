package ui

import (
	"regexp"
	"strings"
)

// openAboutModel shows what there is to know of a model.
func (s *shelfPage) openAboutModel(m Shelved) {
	about := s.shelf.About(m.ID)
	sheet := newModal(s.page, m.full(), "")
	if m.Practice {
		sheet.note.set("practice model")
	}
	sheet.body = newFactList(aboutFacts(about))
	sheet.open()
}

func aboutFacts(a About) []fact {
	facts := []fact{{title: true, text: a.Text}}
	for _, f := range a.Facts {
		facts = append(facts, fact{name: f[0], text: f[1]})
	}
	if a.Report == "" {
		return facts
	}
	facts = append(facts, fact{title: true, name: "How it was made, and how good it is"})
	return append(facts, reportFacts(a.Report)...)
}

// reportFacts reads the Markdown of a report: headings, paragraphs, lists and tables. A row of a table is a fact of its own,
// its columns under each other with their names.
func reportFacts(text string) (facts []fact) {
	var words []string // of the paragraph that is being read
	var head []string  // of the table
	add := func(f fact) { facts = append(facts, f) }
	flush := func() {
		if len(words) == 0 {
			return
		}
		said := plainText(strings.Join(words, " "))
		words = nil
		if n := len(facts); n > 0 && facts[n-1].title {
			gap := "\n\n"
			if strings.HasPrefix(said, "• ") {
				gap = "\n"
			}
			facts[n-1].text = strings.TrimLeft(facts[n-1].text+gap+said, "\n")
			return
		}
		add(fact{title: true, text: said})
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		cells := tableCells(line)
		switch {
		case cells == nil:
			head = nil
		case head == nil:
			flush()
			head = cells
			continue
		case strings.Trim(line, "|-: ") == "":
			continue
		default:
			add(tableFact(head, cells))
			continue
		}
		switch {
		case line == "":
			flush()
		case strings.HasPrefix(line, "# "):
			flush()
		case strings.HasPrefix(line, "#"):
			flush()
			add(fact{title: true, name: plainText(strings.TrimLeft(line, "# "))})
		case strings.HasPrefix(line, "* "):
			flush()
			words = append(words, "• "+line[2:])
		default:
			words = append(words, line)
		}
	}
	flush()
	return facts
}

// tableCells splits a row of a table; nil for what is none.
func tableCells(line string) []string {
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") || len(line) < 2 {
		return nil
	}
	cells := strings.Split(line[1:len(line)-1], "|")
	for i := range cells {
		cells[i] = plainText(strings.TrimSpace(cells[i]))
	}
	return cells
}

func tableFact(head, cells []string) fact {
	f := fact{name: cells[0]}
	var lines []string
	for i, c := range cells[1:] {
		if c == "" || c == "–" {
			continue
		}
		if i+1 < len(head) && head[i+1] != "" {
			c = head[i+1] + ": " + c
		}
		lines = append(lines, c)
	}
	f.text = strings.Join(lines, "\n")
	return f
}

var (
	markdownLink = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	markdownMark = strings.NewReplacer("**", "", "*", "", "`", "")
)

// plainText drops the marks of Markdown.
func plainText(s string) string {
	return markdownMark.Replace(markdownLink.ReplaceAllString(s, "$1"))
}
