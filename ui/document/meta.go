package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"clefbar/engine"
)

// metaField holds what a case file carries beside the request. Servers ignore it.
const metaField = "x_clefbar"

// meta is the value of metaField.
type meta struct {
	Version     int              `json:"version"`
	Title       string           `json:"title,omitempty"`
	Attachments []metaAttachment `json:"attachments,omitempty"`
	Images      []string         `json:"images,omitempty"` // names, in order
	Kept        []metaKept       `json:"kept,omitempty"`
	Dismissed   []metaDismissed  `json:"dismissed,omitempty"`
}

// metaAttachment is one of the texts at the end of the state.
type metaAttachment struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
}

// metaKept holds the criteria typed for the kinds that a question is not of now,
// as JSON text, so that their spelling comes back too.
type metaKept struct {
	Question int               `json:"question"`
	Criteria map[string]string `json:"criteria"`
}

type metaDismissed struct {
	Rule     string `json:"rule"`
	Question int    `json:"question"`
	Row      int    `json:"row"` // -1 for the question itself
}

// adviceNames are the names of the rules in files.
var adviceNames = map[Rule]string{
	AdviceOneOption: "one_option", AdviceSameDescription: "same_description", AdviceNoName: "no_name", AdviceCounting: "counting",
	AdviceOpenQuestion: "open_question", AdviceHostedID: "hosted_id", AdviceNoneOfThese: "none_of_these",
}

// adviceParts are the parts that the rules speak of.
var adviceParts = map[Rule]Part{
	AdviceOneOption: PartOptions, AdviceSameDescription: PartDescription, AdviceNoName: PartName, AdviceCounting: PartInstructions,
	AdviceOpenQuestion: PartInstructions, AdviceHostedID: PartID, AdviceNoneOfThese: PartOptions,
}

// metaNode writes what the case carries beside its request.
func (s *snapshot) metaNode() *node {
	m := meta{Version: 1, Title: s.title}
	for _, a := range s.attached {
		m.Attachments = append(m.Attachments, metaAttachment{a.Name, len(a.Text)})
	}
	if list := s.root.get("images"); list != nil && len(s.imageName) > 0 {
		for i := range list.slots {
			m.Images = append(m.Images, s.imageName[list.slots[i].key])
		}
	}
	for i, q := range readQuestions(s.root.get("questions")) {
		m.keep(i, &q, s.kept[q.Key])
		m.dismiss(i, &q, s.dismissed)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		panic("document: the metadata of a case is plain data: " + err.Error())
	}
	p := parser{src: b.String(), key: func() Key { return 0 }}
	return p.value()
}

func (m *meta) keep(i int, q *Question, kept [3]*node) {
	criteria := map[string]string{}
	for kind, n := range kept {
		if n != nil && engine.Kind(kind) != q.Kind {
			criteria[engine.Kind(kind).String()] = string(appendNode(nil, n))
		}
	}
	if len(criteria) > 0 {
		m.Kept = append(m.Kept, metaKept{i, criteria})
	}
}

func (m *meta) dismiss(i int, q *Question, dismissed map[Advised]bool) {
	for a := range dismissed {
		if a.Field.Question != q.Key {
			continue
		}
		row := optionAt(q, a.Field.Option)
		if a.Field.Option != 0 && row < 0 {
			continue
		}
		m.Dismissed = append(m.Dismissed, metaDismissed{adviceNames[a.Rule], i, row})
	}
	slices.SortFunc(m.Dismissed, func(a, b metaDismissed) int {
		if a.Question != b.Question {
			return a.Question - b.Question
		}
		if a.Row != b.Row {
			return a.Row - b.Row
		}
		return strings.Compare(a.Rule, b.Rule)
	})
}

// readMeta takes back what metaNode wrote. Anything odd in it is left out: the
// request does not depend on it.
func (c *Case) readMeta(s *snapshot, n *node) {
	var m meta
	if json.Unmarshal(appendNode(nil, n), &m) != nil {
		return
	}
	s.title = m.Title
	c.readAttachments(s, m.Attachments)
	if list := s.root.get("images"); list != nil && len(m.Images) > 0 {
		s.imageName = map[Key]string{}
		for i := range min(len(list.slots), len(m.Images)) {
			if m.Images[i] != "" {
				s.imageName[list.slots[i].key] = m.Images[i]
			}
		}
	}
	qs := readQuestions(s.root.get("questions"))
	for _, k := range m.Kept {
		if k.Question >= 0 && k.Question < len(qs) {
			c.readKept(s, &qs[k.Question], k.Criteria)
		}
	}
	for _, d := range m.Dismissed {
		if d.Question >= 0 && d.Question < len(qs) {
			s.readDismissed(&qs[d.Question], d)
		}
	}
}

// readAttachments cuts the state at the noted lengths, if they fit.
func (c *Case) readAttachments(s *snapshot, list []metaAttachment) {
	state := s.root.get("state")
	if len(list) == 0 || state == nil || state.typ != engine.String || state.lone {
		return
	}
	text := state.text
	attached := make([]Attachment, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		from := len(text) - list[i].Bytes
		if list[i].Bytes < 0 || from < 0 {
			return
		}
		attached[i] = Attachment{Key: c.nextKey(), Name: list[i].Name, Text: text[from:]}
		text = strings.TrimSuffix(text[:from], attachmentGap)
	}
	if strings.Join(composed(text, attached), "") == state.text {
		s.typed, s.attached = text, attached
	}
}

func (c *Case) readKept(s *snapshot, q *Question, criteria map[string]string) {
	kept := s.kept[q.Key]
	for kind := engine.Noul; kind <= engine.Score; kind++ {
		text, ok := criteria[kind.String()]
		if !ok || kind == q.Kind {
			continue
		}
		if _, n, _, err := parseTree([]byte(text), c.nextKey); err == nil && (n.typ == engine.Object || n.typ == engine.Array && kind != engine.Noul) {
			kept[kind] = n
		}
	}
	if s.kept == nil {
		s.kept = map[Key][3]*node{}
	}
	s.kept[q.Key] = kept
}

func (s *snapshot) readDismissed(q *Question, d metaDismissed) {
	for rule, name := range adviceNames {
		if name != d.Rule {
			continue
		}
		f := Field{Part: adviceParts[rule], Question: q.Key}
		if d.Row >= 0 && d.Row < len(q.Options) {
			f.Option = q.Options[d.Row].Key
		}
		if s.dismissed == nil {
			s.dismissed = map[Advised]bool{}
		}
		s.dismissed[Advised{rule, f}] = true
	}
}
