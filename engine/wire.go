package engine

import (
	"encoding/base64"
	"math"
	"strconv"
)

// JSON returns the request in the form that ParseRequest reads, with every order
// and spelling kept. Images are written as data URLs, our own options only where
// they are set.
func (r *Request) JSON() []byte {
	o := object{dst: []byte{'{'}}
	if r.Model != "" {
		o.value("model", Text(r.Model))
	}
	if r.State.Type != Missing {
		o.value("state", r.State)
	}
	if len(r.Images) > 0 {
		o.name("images")
		o.dst = append(o.dst, '[')
		for i, img := range r.Images {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = append(o.dst, `"data:image/`+img.Format()+`;base64,`...)
			o.dst = base64.StdEncoding.AppendEncode(o.dst, img.Data)
			o.dst = append(o.dst, '"')
		}
		o.dst = append(o.dst, ']')
	}
	o.name("questions")
	questions := o.open()
	for _, q := range r.Questions {
		questions.name(q.ID)
		questions.dst = q.appendJSON(questions.dst)
	}
	o.close(questions)
	r.appendOptions(&o)
	return append(o.dst, '}')
}

func (r *Request) appendOptions(o *object) {
	if r.Truncate {
		o.value("x_truncate", Value{Type: Bool, Bool: true})
	}
	for _, opt := range []struct {
		on          bool
		field, word string
	}{
		{r.Independent, "x_mode", "independent"},
		{r.NeutralIDs, "x_ids", "neutral"},
		{r.Literal, "x_control", "literal"},
	} {
		if opt.on {
			o.value(opt.field, Text(opt.word))
		}
	}
}

func (q Question) appendJSON(dst []byte) []byte {
	o := object{dst: append(dst, '{')}
	o.value("type", Text(q.Kind.String()))
	if q.Instructions.Type != Missing {
		o.value("instructions", q.Instructions)
	}
	switch q.Kind {
	case Score:
		levels := Value{Type: Array}
		for _, option := range q.Options {
			levels.Items = append(levels.Items, option.Description)
		}
		o.value("criteria", levels)
	default:
		criteria := Value{Type: Object}
		for _, option := range q.Options {
			if q.Kind == Choice || option.Description.Type != Missing {
				criteria.Fields = append(criteria.Fields, Member{option.Name, option.Description})
			}
		}
		if q.Kind == Choice || len(criteria.Fields) > 0 {
			o.value("criteria", criteria)
		}
	}
	return append(o.dst, '}')
}

// PracticeHeader is "true" on a response of a practice model. The body has only the
// members that the strictest clients know.
const PracticeHeader = "X-Clefbar-Practice"

// JSON returns the response as it goes over the wire (endpoint.md 4), the only
// encoder of it. That a practice model answered is told beside it, in PracticeHeader.
// Numbers in r are finite, as answer.Build and remote make them; anything else panics.
func (r *Response) JSON() []byte {
	o := object{dst: []byte{'{'}}
	o.value("model", Text(r.Model))
	o.name("answers")
	answers := o.open()
	for _, a := range r.Answers {
		answers.name(a.ID)
		answers.dst = a.AppendJSON(answers.dst)
	}
	o.close(answers)
	o.name("usage")
	usage := o.open()
	usage.integer("input_tokens", r.Usage.InputTokens)
	usage.integer("output_tokens", r.Usage.OutputTokens)
	o.close(usage)
	if r.Truncated > 0 {
		o.value("x_truncated", Value{Type: Bool, Bool: true})
		o.integer("x_truncated_tokens", r.Truncated)
	}
	return append(o.dst, '}')
}

// AppendJSON appends one answer in its wire form.
func (a Answer) AppendJSON(dst []byte) []byte {
	o := object{dst: append(dst, '{')}
	o.value("type", Text(a.Kind.String()))
	switch a.Kind {
	case Noul:
		o.number("noul", a.Noul)
	case Choice:
		o.value("choice", Text(a.Options[a.Best]))
		o.probabilities(a)
		o.number("confidence", a.Confidence)
	case Score:
		o.number("score", a.Score)
		legend := Value{Type: Object}
		for i, level := range a.Legend {
			legend.Fields = append(legend.Fields, Member{a.Options[i], level})
		}
		o.value("legend", legend)
		o.probabilities(a)
		o.number("confidence", a.Confidence)
	}
	return append(o.dst, '}')
}

// object writes the members of a JSON object in order.
type object struct {
	dst  []byte
	some bool
}

func (o *object) name(s string) {
	if o.some {
		o.dst = append(o.dst, ',')
	}
	o.some = true
	o.dst = append(appendQuoted(o.dst, s), ':')
}

// open starts an object as the value of the member just named; close ends it.
func (o *object) open() *object { return &object{dst: append(o.dst, '{')} }

func (o *object) close(inner *object) { o.dst = append(inner.dst, '}') }

func (o *object) value(name string, v Value) {
	o.name(name)
	o.dst = v.AppendJSON(o.dst)
}

func (o *object) integer(name string, n int) {
	o.name(name)
	o.dst = strconv.AppendInt(o.dst, int64(n), 10)
}

// number writes a float without an exponent and never as -0.
func (o *object) number(name string, f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("engine: a response holds a number that is not finite: " + name)
	}
	if f == 0 {
		f = 0 // no sign
	}
	o.name(name)
	o.dst = strconv.AppendFloat(o.dst, f, 'f', -1, 64)
}

func (o *object) probabilities(a Answer) {
	o.name("probabilities")
	inner := o.open()
	for i, option := range a.Options {
		inner.number(option, a.Probs[i])
	}
	o.close(inner)
}
