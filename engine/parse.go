package engine

import (
	"slices"
	"strconv"
)

// ParseRequest reads a System One request (endpoint.md 3). It keeps order and
// spelling, and collects every broken rule instead of stopping at the first:
// the error is an *Error with Reason Invalid, or BadUsage for an asset that nothing
// names. It opens no file and no address that the request names.
func ParseRequest(data []byte, limits Limits) (*Request, error) {
	return ParseParts(data, nil, limits)
}

// BodyPart is one file of a multipart body, beside the part that holds the request.
type BodyPart struct {
	Name string
	Data []byte
}

// ParseParts is ParseRequest for a multipart body: data is the "request" part, and
// each of parts has to be claimed by exactly one asset (endpoint.md 3.9).
func ParseParts(data []byte, parts []BodyPart, limits Limits) (*Request, error) {
	limits = limits.filled()
	body, err := ParseValue(data, limits)
	if err != nil {
		return nil, err
	}
	p := parser{limits: limits, body: body, request: &Request{
		Truncate: limits.Truncate, Independent: limits.Independent, NeutralIDs: limits.NeutralIDs, Literal: limits.Literal,
	}}
	if body.Type != Object {
		p.faults.add("dict_type", nil, "Input should be an object, not %s", body.Type)
		return nil, p.faults.err()
	}
	for i, part := range parts {
		if slices.ContainsFunc(parts[:i], func(other BodyPart) bool { return other.Name == part.Name }) {
			p.add("multipart_invalid", nil, "The body has two parts of the name %q", clip(part.Name))
		}
	}
	p.state()
	p.model()
	p.questions()
	p.media(parts)
	p.options()
	if err := p.faults.err(); err != nil {
		return nil, err
	}
	if p.misuse != nil {
		return nil, p.misuse
	}
	return p.request, nil
}

// Check returns the error that ParseRequest would give for r: for requests that a
// form or flags have built.
func (r *Request) Check(limits Limits) error {
	_, err := ParseRequest(r.JSON(), limits)
	return err
}

// parser turns a decoded body into a Request.
type parser struct {
	faults
	limits  Limits
	body    Value
	request *Request
	misuse  *Error // BadUsage, reported when nothing is Invalid
	refs    []assetRef
	crowded bool // too many images, which has been said
}

func (p *parser) state() {
	v := p.body.Get("state")
	switch v.Type {
	case String, Object, Array:
		p.request.State = v
	case Missing:
		p.add("missing", []any{"state"}, "Field required")
	default:
		p.add("union_type", []any{"state"}, "Input should be a string, an object or an array, not %s", v.Type)
	}
}

func (p *parser) model() {
	switch v := p.body.Get("model"); v.Type {
	case String:
		p.request.Model = v.Text
	case Missing, Null:
	default:
		p.add("string_type", []any{"model"}, "Input should be a string, not %s", v.Type)
	}
}

func (p *parser) questions() {
	v, loc := p.body.Get("questions"), []any{"questions"}
	switch n := len(v.Fields); {
	case v.Type == Missing:
		p.add("missing", loc, "Field required")
	case v.Type != Object:
		p.add("dict_type", loc, "Input should be an object that maps question ids to questions, not %s", v.Type)
	case n == 0:
		p.add("too_short", loc, "At least 1 question is needed")
	case n > p.limits.Questions:
		p.add("too_long", loc, "At most %d questions are allowed, not %d", p.limits.Questions, n)
	default:
		for _, m := range v.Fields {
			p.question(m.Name, m.Value)
		}
	}
}

func (p *parser) question(id string, v Value) {
	loc := []any{"questions", clip(id)}
	if len(id) > p.limits.IDBytes {
		p.add("string_too_long", loc, "A question id has at most %d bytes, not %d", p.limits.IDBytes, len(id))
		return
	}
	loc[1] = id
	if id == "" {
		p.add("string_too_short", loc, "A question id must not be empty")
		return
	}
	if v.Type != Object {
		p.add("dict_type", loc, "Input should be an object with a type, not %s", v.Type)
		return
	}
	kind, ok := p.kind(v.Get("type"), at(loc, "type"))
	if !ok {
		return
	}
	q := Question{ID: id, Kind: kind, Instructions: v.Get("instructions")}
	loc = at(loc, kind.String())
	p.text(q.Instructions, true, at(loc, "instructions"))
	criteria := v.Get("criteria")
	loc = at(loc, "criteria")
	switch kind {
	case Noul:
		q.Options = p.sides(criteria, loc)
	case Choice:
		q.Options = p.choices(criteria, loc)
	case Score:
		q.Options = p.levels(criteria, loc)
	}
	p.request.Questions = append(p.request.Questions, q)
}

func (p *parser) kind(v Value, loc []any) (Kind, bool) {
	const allowed = "'noul', 'choice', 'score'"
	switch {
	case v.Type == Missing:
		p.add("union_tag_not_found", loc, "A question needs a type: one of %s", allowed)
	case v.Type != String:
		p.add("union_tag_invalid", loc, "The type should be one of %s, not %s", allowed, v.Type)
	default:
		for _, k := range []Kind{Noul, Choice, Score} {
			if v.Text == k.String() {
				return k, true
			}
		}
		p.add("union_tag_invalid", loc, "The type should be one of %s, not %s", allowed, strconv.Quote(clip(v.Text)))
	}
	return 0, false
}

// text checks a value that the model reads: a string, an object or an array.
func (p *parser) text(v Value, nullable bool, loc []any) {
	switch v.Type {
	case String, Object, Array:
		return
	case Missing, Null:
		if nullable {
			return
		}
	}
	p.add("union_type", loc, "Input should be a string, an object or an array, not %s", v.Type)
}

// sides reads a noul's criteria. A side that is absent, or null by the rule of the
// wire, stays missing: the prompt then says the reference's default.
func (p *parser) sides(v Value, loc []any) []Option {
	options := []Option{{Name: "true"}, {Name: "false"}}
	switch v.Type {
	case Missing, Null:
		return options
	case Object:
	default:
		p.add("dict_type", loc, "Input should be an object with 'true' and 'false', not %s", v.Type)
		return options
	}
	for _, m := range v.Fields {
		i := slices.IndexFunc(options, func(o Option) bool { return o.Name == m.Name })
		if i < 0 {
			p.add("extra_forbidden", at(loc, clip(m.Name)), "The criteria of a noul are 'true' and 'false'")
			continue
		}
		p.text(m.Value, true, at(loc, m.Name))
		if m.Value.Type != Null || p.limits.KeepNullSides {
			options[i].Description = m.Value
		}
	}
	return options
}

func (p *parser) choices(v Value, loc []any) []Option {
	switch v.Type {
	case Missing, Null:
		p.add("missing", loc, "Field required: an object that maps option names to descriptions")
		return nil
	case Object:
	default:
		p.add("dict_type", loc, "Input should be an object that maps option names to descriptions, not %s", v.Type)
		return nil
	}
	if !p.count(len(v.Fields), p.limits.Options, "option", loc) {
		return nil
	}
	options := make([]Option, len(v.Fields))
	for i, m := range v.Fields {
		p.text(m.Value, true, at(loc, m.Name))
		options[i] = Option{Name: m.Name, Description: m.Value}
	}
	return options
}

func (p *parser) levels(v Value, loc []any) []Option {
	switch v.Type {
	case Missing, Null:
		p.add("missing", loc, "Field required: an array of levels, low to high")
		return nil
	case Array:
	default:
		p.add("list_type", loc, "Input should be an array of levels, low to high, not %s", v.Type)
		return nil
	}
	if !p.count(len(v.Items), p.limits.Levels, "level", loc) {
		return nil
	}
	options := make([]Option, len(v.Items))
	for i, item := range v.Items {
		p.text(item, false, at(loc, i))
		options[i] = Option{Name: strconv.Itoa(i), Description: item}
	}
	return options
}

func (p *parser) count(n, limit int, what string, loc []any) bool {
	switch {
	case n == 0:
		p.add("too_short", loc, "At least 1 %s is needed", what)
	case n > limit:
		p.add("too_long", loc, "At most %d %ss are allowed, not %d", limit, what, n)
	default:
		return true
	}
	return false
}

// options reads our own fields (endpoint.md 3.8); other x_ fields are ignored.
func (p *parser) options() {
	switch v := p.body.Get("x_truncate"); v.Type {
	case Bool:
		p.request.Truncate = v.Bool
	case Missing, Null:
	default:
		p.add("bool_type", []any{"x_truncate"}, "Input should be true or false, not %s", v.Type)
	}
	p.either("x_mode", "joint", "independent", &p.request.Independent)
	p.either("x_ids", "verbatim", "neutral", &p.request.NeutralIDs)
	p.either("x_control", "reference", "literal", &p.request.Literal)
}

// either reads an option of two words; on is set for the second.
func (p *parser) either(field, off, word string, on *bool) {
	v := p.body.Get(field)
	switch {
	case v.Type == Missing || v.Type == Null:
	case v.Type == String && v.Text == off:
		*on = false
	case v.Type == String && v.Text == word:
		*on = true
	default:
		p.add("literal_error", []any{field}, "Input should be '%s' or '%s'", off, word)
	}
}
