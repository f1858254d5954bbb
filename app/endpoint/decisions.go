package endpoint

import (
	"fmt"
	"net/http"
	"strconv"

	"clefbar/engine"
)

// decisions answers an OpenAI Decisions request (endpoint.md 10): it is translated
// into a System One request with the questions' positions as ids, because names
// there are optional and need not be unique.
func (s *Server) decisions(x *exchange) error {
	call, err := s.readCall(x)
	if err != nil {
		return err
	}
	limits := s.opt.Limits
	limits.Questions = maxDecisions
	if err := call.request.Check(limits); err != nil {
		return call.locate(err)
	}
	call.request.NeutralIDs, call.request.Independent = limits.NeutralIDs, limits.Independent
	call.request.Truncate, call.request.Literal = limits.Truncate, limits.Literal
	resp, err := x.decide(x.r.Context(), call.request)
	if err != nil {
		return call.locate(err)
	}
	x.write(http.StatusOK, encode(call.response(resp)))
	return nil
}

// readCall takes in a Decisions request.
func (s *Server) readCall(x *exchange) (*decision, error) {
	release, err := x.reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	b, err := x.readBody(false)
	if err != nil {
		return nil, err
	}
	v, err := engine.ParseValue(b.json, s.opt.Limits)
	if err != nil {
		return nil, err
	}
	return readDecision(v)
}

// Limits of the Decisions API.
const (
	maxDecisions = 400
	minDecisions = 2 // choices or levels of one question
)

// decision is a Decisions request in our form and what is needed to translate back.
type decision struct {
	request *engine.Request
	asked   []asked
	images  []string // param of each image
}

// asked is what the answer to one question has to repeat.
type asked struct {
	name   *string
	kind   string
	values []engine.Value // choice: the values as sent
	labels []string       // score: the labels of the levels
}

func badParam(param, format string, args ...any) *refusal {
	return &refusal{
		status: http.StatusBadRequest, kind: "invalid_request_error", param: param, message: fmt.Sprintf(format, args...),
	}
}

func readDecision(v engine.Value) (*decision, error) {
	if v.Type != engine.Object {
		return nil, badParam("", "The body should be an object, not %s", v.Type)
	}
	d := &decision{request: &engine.Request{}}
	switch m := v.Get("model"); m.Type {
	case engine.Missing, engine.Null:
	case engine.String:
		d.request.Model = m.Text
	default:
		return nil, badParam("model", "model should be a string, not %s", m.Type)
	}
	state, err := d.input(v.Get("input"))
	if err != nil {
		return nil, err
	}
	d.request.State = state
	qs := v.Get("questions")
	if qs.Type != engine.Array {
		return nil, badParam("questions", "questions should be an array of 1 to %d questions", maxDecisions)
	}
	if len(qs.Items) < 1 || len(qs.Items) > maxDecisions {
		return nil, badParam("questions", "questions should hold 1 to %d questions, not %d", maxDecisions, len(qs.Items))
	}
	for i, q := range qs.Items {
		if err := d.question(q, fmt.Sprintf("questions[%d]", i)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// question translates one question and remembers how to answer it.
func (d *decision) question(v engine.Value, at string) error {
	if v.Type != engine.Object {
		return badParam(at, "A question should be an object, not %s", v.Type)
	}
	a := asked{kind: v.Get("type").Text}
	switch n := v.Get("name"); n.Type {
	case engine.Missing, engine.Null:
	case engine.String:
		a.name = &n.Text
	default:
		return badParam(at+".name", "name should be a string, not %s", n.Type)
	}
	q := engine.Question{ID: strconv.Itoa(len(d.asked))}
	if ins := v.Get("instructions"); ins.Type != engine.Missing && ins.Type != engine.Null {
		text, err := d.content(ins, at+".instructions")
		if err != nil {
			return err
		}
		q.Instructions = text
	}
	var err error
	switch a.kind {
	case "predicate":
		q.Kind, q.Options = engine.Noul, []engine.Option{{Name: "true"}, {Name: "false"}}
	case "choice":
		q.Kind = engine.Choice
		q.Options, a.values, err = readChoices(v.Get("choices"), at+".choices")
	case "score":
		q.Kind = engine.Score
		q.Options, a.labels, err = readLevels(v.Get("levels"), at+".levels")
	default:
		return badParam(at+".type", "type should be predicate, choice or score, not %q", clip(a.kind))
	}
	if err != nil {
		return err
	}
	d.request.Questions = append(d.request.Questions, q)
	d.asked = append(d.asked, a)
	return nil
}

// readChoices gives every value a name of its own: "true" and true may stand side
// by side, and then both are written as JSON.
func readChoices(v engine.Value, at string) ([]engine.Option, []engine.Value, error) {
	most := engine.DefaultLimits().Options
	if v.Type != engine.Array || len(v.Items) < minDecisions || len(v.Items) > most {
		return nil, nil, badParam(at, "choices should hold %d to %d items", minDecisions, most)
	}
	var options []engine.Option
	var values []engine.Value
	for i, item := range v.Items {
		here := fmt.Sprintf("%s[%d]", at, i)
		value := item.Get("value")
		if value.Type != engine.String && value.Type != engine.Bool {
			return nil, nil, badParam(here+".value", "value should be a string or a boolean")
		}
		for _, other := range values {
			if other.Equal(value) {
				return nil, nil, badParam(at, "Two choices have the value %s", clip(string(value.JSON())))
			}
		}
		description, err := optionalText(item.Get("description"), here+".description")
		if err != nil {
			return nil, nil, err
		}
		values = append(values, value)
		options = append(options, engine.Option{Name: plainName(value), Description: description})
	}
	for i := range options {
		for j := range i {
			if options[i].Name == options[j].Name { // a word and a boolean: write all of them as JSON
				for k := range options {
					options[k].Name = string(values[k].JSON())
				}
				return options, values, nil
			}
		}
	}
	return options, values, nil
}

func plainName(v engine.Value) string {
	if v.Type == engine.String {
		return v.Text
	}
	return string(v.JSON())
}

func readLevels(v engine.Value, at string) (options []engine.Option, labels []string, err error) {
	most := engine.DefaultLimits().Levels
	if v.Type != engine.Array || len(v.Items) < minDecisions || len(v.Items) > most {
		return nil, nil, badParam(at, "levels should hold %d to %d items", minDecisions, most)
	}
	for i, item := range v.Items {
		here := fmt.Sprintf("%s[%d]", at, i)
		label := item.Get("label")
		if label.Type != engine.String {
			return nil, nil, badParam(here+".label", "label should be a string")
		}
		description, err := optionalText(item.Get("description"), here+".description")
		if err != nil {
			return nil, nil, err
		}
		text := label.Text
		if description.Text != "" {
			text += ": " + description.Text
		}
		options = append(options, engine.Option{Name: strconv.Itoa(i), Description: engine.Text(text)})
		labels = append(labels, label.Text)
	}
	return options, labels, nil
}

// optionalText accepts a string, null or nothing; null and nothing become null.
func optionalText(v engine.Value, at string) (engine.Value, error) {
	switch v.Type {
	case engine.Missing, engine.Null:
		return engine.Value{Type: engine.Null}, nil
	case engine.String:
		return v, nil
	}
	return v, badParam(at, "Expected a string, not %s", v.Type)
}
