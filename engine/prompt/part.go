package prompt

import (
	"slices"
	"strings"

	"clefbar/engine"
)

// part is a stretch of the prompt with positions counted from its own start.
type part struct {
	ids       []int32
	pieces    []engine.Piece
	questions []engine.QuestionSpans
	control   []engine.Control
}

// frame is everything around the fields.
type frame struct {
	front  *part // prefix and media
	state  *part
	schema *part
	suffix *part
}

// join puts the parts in a row and moves their positions along.
func (f *frame) join(fields ...*part) *engine.Encoding {
	parts := append([]*part{f.front, f.state, f.schema}, fields...)
	parts = append(parts, f.suffix)
	enc := &engine.Encoding{}
	total := 0
	for _, p := range parts {
		total += len(p.ids)
	}
	enc.IDs = make([]int32, 0, total)
	var text strings.Builder
	for _, p := range parts {
		by := len(enc.IDs)
		enc.IDs = append(enc.IDs, p.ids...)
		for _, piece := range p.pieces {
			piece.Tokens = move(piece.Tokens, by)
			enc.Pieces = append(enc.Pieces, piece)
			text.WriteString(piece.Text)
		}
		for _, q := range p.questions {
			q.Field = move(q.Field, by)
			q.Options = slices.Clone(q.Options)
			for i := range q.Options {
				q.Options[i].Span = move(q.Options[i].Span, by)
			}
			enc.Questions = append(enc.Questions, q)
		}
		for _, c := range p.control {
			c.At += by
			enc.Control = append(enc.Control, c)
		}
	}
	enc.Text = text.String()
	enc.State = move(engine.Span{To: len(f.state.ids)}, len(f.front.ids))
	return enc
}

func move(s engine.Span, by int) engine.Span { return engine.Span{From: s.From + by, To: s.To + by} }

// cut keeps the first n tokens of a part that is one piece, and fewer where n would
// end inside a character.
func (p *part) cut(tok Tokenizer, n int) {
	for n > 0 && endsInside(tok.Decode(p.ids[max(0, n-8):n])) {
		n--
	}
	p.ids = p.ids[:n]
	p.pieces[0].Text = tok.Decode(p.ids)
	p.pieces[0].Tokens.To = n
	p.control = slices.DeleteFunc(p.control, func(c engine.Control) bool { return c.At >= n })
}
