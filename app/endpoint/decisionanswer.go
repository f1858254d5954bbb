package endpoint

import (
	"errors"
	"fmt"
	"strconv"

	"clefbar/engine"
)

type decisionResponse struct {
	Model   string        `json:"model"`
	Answers []any         `json:"answers"`
	Usage   decisionUsage `json:"usage"`
}

type decisionUsage struct {
	Input   int `json:"input_tokens"`
	Details struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// response translates answers back, in the order of the questions.
func (d *decision) response(r *engine.Response) decisionResponse {
	out := decisionResponse{Model: r.Model, Answers: make([]any, 0, len(r.Answers))}
	out.Usage.Input, out.Usage.Output = r.Usage.InputTokens, r.Usage.OutputTokens
	out.Usage.Total = r.Usage.InputTokens + r.Usage.OutputTokens
	for i, a := range r.Answers {
		out.Answers = append(out.Answers, d.asked[i].answer(a))
	}
	return out
}

func (q asked) answer(a engine.Answer) any {
	switch a.Kind {
	case engine.Choice:
		type option struct {
			Value       any     `json:"value"`
			Probability float64 `json:"probability"`
		}
		list := make([]option, len(q.values))
		for i, v := range q.values {
			list[i] = option{native(v), a.Probs[i]}
		}
		return struct {
			Type          string   `json:"type"`
			Name          *string  `json:"name"`
			Choice        any      `json:"choice"`
			Confidence    float64  `json:"confidence"`
			Probabilities []option `json:"probabilities"`
		}{q.kind, q.name, list[a.Best].Value, a.Confidence, list}
	case engine.Score:
		type level struct {
			Label       string  `json:"label"`
			Value       int     `json:"value"`
			Probability float64 `json:"probability"`
		}
		list := make([]level, len(q.labels))
		for i, l := range q.labels {
			list[i] = level{l, i, a.Probs[i]}
		}
		return struct {
			Type          string  `json:"type"`
			Name          *string `json:"name"`
			Score         float64 `json:"score"`
			Confidence    float64 `json:"confidence"`
			Probabilities []level `json:"probabilities"`
		}{q.kind, q.name, a.Score, a.Confidence, list}
	}
	return struct {
		Type        string  `json:"type"`
		Name        *string `json:"name"`
		Probability float64 `json:"probability"`
	}{q.kind, q.name, a.Noul}
}

func native(v engine.Value) any {
	if v.Type == engine.Bool {
		return v.Bool
	}
	return v.Text
}

// locate writes the place of a broken rule in the words of the Decisions API.
func (d *decision) locate(err error) error {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Reason != engine.Invalid || len(e.Details) == 0 {
		return err
	}
	first := e.Details[0]
	return badParam(d.param(first.Loc), "%s", first.Msg)
}

// param translates ["body","questions","3","choice","criteria",…] into "questions[3].choices".
func (d *decision) param(loc []any) string {
	if len(loc) < 2 {
		return ""
	}
	field := fmt.Sprint(loc[1])
	switch {
	case field == "state":
		return "input"
	case field == "images" && len(loc) > 2:
		if i, ok := loc[2].(int); ok && i < len(d.images) {
			return d.images[i]
		}
		return "input"
	case field != "questions" || len(loc) < 3:
		return field
	}
	i, err := strconv.Atoi(fmt.Sprint(loc[2]))
	if err != nil || i >= len(d.asked) {
		return "questions"
	}
	at := fmt.Sprintf("questions[%d]", i)
	if len(loc) > 4 {
		switch fmt.Sprint(loc[4]) {
		case "instructions":
			return at + ".instructions"
		case "criteria":
			return at + map[string]string{"choice": ".choices", "score": ".levels"}[d.asked[i].kind]
		}
	}
	return at
}
