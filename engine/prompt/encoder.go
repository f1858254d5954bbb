package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"clefbar/engine"
)

// encoder makes the parts of one request's prompt.
type encoder struct {
	tok     Tokenizer
	request *engine.Request
	opt     Options
	neutral bool // show q1, q2, … in place of the caller's ids
}

func (e *encoder) limit() int {
	if e.opt.Limit > 0 {
		return e.opt.Limit
	}
	return DefaultLimit
}

// piece tokenizes text alone and adds it to p. Our own text is never literal.
func (e *encoder) piece(p *part, kind engine.Part, text string) engine.Span {
	ours := kind == engine.PartTemplate || kind == engine.PartMedia
	return e.add(p, kind, text, e.request.Literal && !ours)
}

func (e *encoder) add(p *part, kind engine.Part, text string, literal bool) engine.Span {
	span := engine.Span{From: len(p.ids)}
	p.ids = e.tok.Encode(p.ids, text, literal)
	span.To = len(p.ids)
	p.pieces = append(p.pieces, engine.Piece{Part: kind, Tokens: span, Text: text})
	return span
}

// frame encodes what stands around the fields, the state at its full length.
func (e *encoder) frame() (*frame, error) {
	switch r := e.request; {
	case r.State.Type == engine.Missing:
		return nil, engine.InvalidAt("missing", []any{"state"}, "Field required")
	case len(r.Questions) == 0:
		return nil, engine.InvalidAt("too_short", []any{"questions"}, "At least 1 question is needed")
	}
	f := &frame{front: &part{}, state: &part{}, schema: &part{}, suffix: &part{}}
	e.piece(f.front, engine.PartTemplate, prefixText)
	if err := e.media(f.front); err != nil {
		return nil, err
	}
	text := e.request.State.Render()
	span := e.piece(f.state, engine.PartState, text)
	if err := e.control(f.state, text, span, "state", []any{"state"}); err != nil {
		return nil, err
	}
	e.piece(f.schema, engine.PartTemplate, schemaText)
	e.piece(f.suffix, engine.PartTemplate, suffixText)
	return f, nil
}

// fit brings the prompt under the limit, if that is asked for and can be, and
// returns how many tokens of the state were cut. tail is the length of the fields.
func (e *encoder) fit(f *frame, tail int) (int, error) {
	limit, whole := e.limit(), len(f.state.ids)
	if most := e.opt.MaxState; most > 0 && whole > most {
		f.state.cut(e.tok, most)
	}
	fixed := len(f.front.ids) + len(f.schema.ids) + tail + len(f.suffix.ids)
	needed := fixed + len(f.state.ids)
	switch {
	case fixed > limit:
		return 0, &engine.Error{
			Reason: engine.TooLong, Needed: fixed, Limit: limit,
			Message: fmt.Sprintf("The questions need %d tokens before the state; the limit is %d. Ask fewer or shorter questions", fixed, limit),
		}
	case needed > limit && !e.request.Truncate:
		return 0, &engine.Error{
			Reason: engine.TooLong, Needed: needed, Limit: limit,
			Message: fmt.Sprintf("The request needs %d tokens; the limit is %d. Shorten the state, or let its end be cut (x_truncate)", needed, limit),
		}
	case needed > limit:
		f.state.cut(e.tok, limit-fixed)
	}
	return whole - len(f.state.ids), nil
}

// endsInside reports whether text ends before its last character is complete.
func endsInside(text string) bool {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return !utf8.FullRuneInString(text[i:])
		}
	}
	return false
}

// control notes the control tokens in a person's text, wherever they stand. With
// media in the request a placeholder in the text would be taken for one of ours:
// the reference fails, and so do we.
func (e *encoder) control(p *part, text string, span engine.Span, where string, loc []any) error {
	found := e.tok.Find(text)
	at, before := span.From, 0
	for _, m := range found {
		token := text[m.From:m.To]
		if e.request.Literal {
			at += len(e.tok.Encode(nil, text[before:m.From], true))
			p.control = append(p.control, engine.Control{Token: token, Where: where, At: min(at, span.To-1)})
			before = m.From
			continue
		}
		if e.hasMedia() && (token == imagePad || token == videoPad) {
			return engine.InvalidAt("media_invalid", loc, "The text holds %s, which stands for an image; a request with images cannot have it", token)
		}
		for at < span.To-1 && p.ids[at] != m.ID {
			at++
		}
		p.control = append(p.control, engine.Control{Token: token, Where: where, At: at})
		at++
	}
	return nil
}

// field encodes one question under a number.
func (e *encoder) field(number int, q *engine.Question) (*part, error) {
	loc := []any{"questions", q.ID}
	if q.Kind > engine.Score {
		return nil, engine.InvalidAt("union_tag_invalid", append(loc, "type"), "The type should be one of 'noul', 'choice', 'score'")
	}
	options := promptOptions(q)
	if len(options) == 0 {
		return nil, engine.InvalidAt("too_short", append(loc, q.Kind.String(), "criteria"), "At least 1 option is needed")
	}
	p := &part{}
	where := "questions." + q.ID
	if err := e.header(p, number, q, where, loc); err != nil {
		return nil, err
	}
	loc = append(loc, q.Kind.String())
	instruction := q.Instructions.Render()
	if q.Instructions.Empty() {
		instruction = q.ID
	}
	spans := engine.QuestionSpans{ID: q.ID, Kind: q.Kind, Field: e.piece(p, engine.PartInstruction, instruction)}
	if spans.Field.Len() == 0 {
		return nil, engine.InvalidAt("string_too_short", append(loc, "instructions"), "A question needs instructions or an id to ask with")
	}
	if err := e.control(p, instruction, spans.Field, where+".instructions", append(loc, "instructions")); err != nil {
		return nil, err
	}
	e.piece(p, engine.PartTemplate, allowedText)
	for k, o := range options {
		e.piece(p, engine.PartTemplate, fmt.Sprintf("OPTION %d: ", k+1))
		span := e.piece(p, engine.PartOption, o.text)
		if err := e.control(p, o.text, span, where+".criteria."+o.name, append(loc, "criteria", o.name)); err != nil {
			return nil, err
		}
		e.piece(p, engine.PartTemplate, newlineText)
		spans.Options = append(spans.Options, engine.OptionSpan{Name: o.name, Span: span})
		spans.Order = append(spans.Order, o.index)
	}
	e.piece(p, engine.PartTemplate, endFieldText)
	p.questions = []engine.QuestionSpans{spans}
	return p, nil
}

// header encodes the lines before an instruction. The id is part of the piece, as
// in the reference, so with Literal set all of it is taken literally.
func (e *encoder) header(p *part, number int, q *engine.Question, where string, loc []any) error {
	id := q.ID
	if e.neutral && !q.Instructions.Empty() {
		id = fmt.Sprintf("q%d", number)
	}
	text := fmt.Sprintf("\nFIELD %d\nID: %s\nTYPE: %s\nINSTRUCTION: ", number, id, q.Kind)
	return e.control(p, text, e.add(p, engine.PartTemplate, text, e.request.Literal), where, loc)
}

// option is one allowed answer as the prompt shows it.
type option struct {
	name  string
	text  string // the JSON object
	index int    // in the request
}

// promptOptions renders a question's options in prompt order (clef.md 2.5).
func promptOptions(q *engine.Question) []option {
	listed := q.Options
	if q.Kind == engine.Noul {
		listed = sides(q.Options)
	}
	options := make([]option, len(listed))
	for i, o := range listed {
		fields := []engine.Member{{Name: "option_id", Value: engine.Text(o.Name)}}
		if o.Description.Type != engine.Missing && o.Description.Type != engine.Null {
			fields = append(fields, engine.Member{Name: "description", Value: o.Description})
		}
		options[i] = option{name: o.Name, text: engine.Value{Type: engine.Object, Fields: fields}.Render(), index: i}
	}
	if q.Kind == engine.Choice {
		slices.SortStableFunc(options, func(a, b option) int { return strings.Compare(a.name, b.name) })
	}
	return options
}

// sides returns the two sides of a noul with the reference's texts where the
// request has none. A null stays: it means no description.
func sides(given []engine.Option) []engine.Option {
	out := []engine.Option{{Name: "true", Description: engine.Text(trueText)}, {Name: "false", Description: engine.Text(falseText)}}
	for _, o := range given {
		for i := range out {
			if o.Name == out[i].Name && o.Description.Type != engine.Missing {
				out[i].Description = o.Description
			}
		}
	}
	return out
}
