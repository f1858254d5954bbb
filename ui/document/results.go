package document

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"clefbar/engine"
)

// ResultsCSV returns the answers to the case as a table, a row per option, with
// every figure as the response has it (RFC 4180, UTF-8). label is the text of a
// level or the description of an option.
func (s Snapshot) ResultsCSV(r *engine.Response) []byte {
	labels := map[string][]Option{}
	for _, q := range readQuestions(s.s.root.get("questions")) {
		labels[q.ID] = q.Asked()
	}
	rows := [][]string{{"question", "type", "option", "label", "probability", "leads", "score", "confidence", "model"}}
	figure := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	for _, a := range r.Answers {
		score, confidence := "", ""
		if a.Kind == engine.Score {
			score = figure(a.Score)
		}
		if a.Kind != engine.Noul {
			confidence = figure(a.Confidence)
		}
		for i, name := range a.Options {
			label := ""
			if options := labels[a.ID]; i < len(options) {
				label = options[i].Description.Text
			}
			rows = append(rows, []string{a.ID, a.Kind.String(), name, label, figure(a.Probs[i]), strconv.FormatBool(i == a.Best), score, confidence, r.Model})
		}
	}
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		panic("document: a buffer takes every row: " + err.Error())
	}
	return b.Bytes()
}
