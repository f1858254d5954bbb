// Package prompt turns a request into the tokens that Clef reads, byte for byte as
// the reference does (clef.md 2): the prompt is made of pieces, each piece is
// tokenized alone, and the spans of every instruction and every option are kept for
// the joint head.
package prompt

import (
	"clefbar/engine"
	"clefbar/engine/tokenizer"
)

// Tokenizer is what encoding needs of a tokenizer.Tokenizer.
type Tokenizer interface {
	Encode(dst []int32, text string, literal bool) []int32
	Decode(ids []int32) string
	Find(text string) []tokenizer.Match
	ID(token string) (int32, bool)
}

// The literals of the prompt (clef.md 2.1).
const (
	systemPrompt = "Read the complete state and schema. Decide every field jointly. Each answer must be exactly one of that field's allowed options."
	prefixText   = "<|im_start|>system\n" + systemPrompt + "<|im_end|>\n<|im_start|>user\nSTATE:\n"
	schemaText   = "\n\nSCHEMA FIELDS:\n"
	allowedText  = "\nALLOWED OPTIONS:\n"
	newlineText  = "\n"
	endFieldText = "END FIELD\n"
	suffixText   = "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:"

	// The sides of a noul that says nothing of its own.
	trueText  = "The proposition is true or the answer is yes."
	falseText = "The proposition is false or the answer is no."
)

// DefaultLimit is the most tokens of a request where Options say nothing: what the
// models were released with.
const DefaultLimit = 16384

// Options says how a request is encoded.
type Options struct {
	Limit       int     // most tokens of the whole prompt; 0 means DefaultLimit
	MaxState    int     // most tokens of the state, cut even without r.Truncate; 0 means no such cut
	MediaTokens []int   // for each image of the request, the tokens it takes
	Videos      []Video // after the images
}

// Video is a clip as the prompt shows it: a time stamp before each group of frames.
type Video struct {
	Seconds []float64 // of each group of two frames
	Tokens  int       // of each group
}

// Encode encodes a request with all its questions in one prompt. Instructions that
// are missing, null or "" are replaced by the question's id; options of a choice are
// sorted by code point.
//
// A prompt over the limit is refused with a TooLong error, unless r.Truncate is set and
// the questions alone fit: then the end of the state is cut, never inside a
// character. Requests that make no prompt are Invalid.
func Encode(tok Tokenizer, r *engine.Request, opt Options) (*engine.Encoding, error) {
	e := encoder{tok: tok, request: r, opt: opt, neutral: r.NeutralIDs}
	parts, err := e.frame()
	if err != nil {
		return nil, err
	}
	fields := make([]*part, len(r.Questions))
	tail := 0
	for i := range r.Questions {
		if fields[i], err = e.field(i+1, &r.Questions[i]); err != nil {
			return nil, err
		}
		tail += len(fields[i].ids)
	}
	cut, err := e.fit(parts, tail)
	if err != nil {
		return nil, err
	}
	enc := parts.join(fields...)
	enc.Limit, enc.Truncated = e.limit(), cut
	return enc, nil
}

// Independent is a request encoded as one prompt for each question. All prompts begin
// with the same Shared tokens, so a run may go on from a snapshot taken there. Each
// has the question under the same number and a neutral id: neither its neighbours
// nor its name can move its answer.
type Independent struct {
	Shared  int
	Prompts []*engine.Encoding // in request order, each with one question
}

// EncodeIndependent encodes every question of a request on its own. Limits and errors
// are those of Encode, for the longest of the prompts.
func EncodeIndependent(tok Tokenizer, r *engine.Request, opt Options) (*Independent, error) {
	e := encoder{tok: tok, request: r, opt: opt, neutral: true}
	parts, err := e.frame()
	if err != nil {
		return nil, err
	}
	fields := make([]*part, len(r.Questions))
	longest := 0
	for i := range r.Questions {
		if fields[i], err = e.field(1, &r.Questions[i]); err != nil {
			return nil, err
		}
		longest = max(longest, len(fields[i].ids))
	}
	cut, err := e.fit(parts, longest)
	if err != nil {
		return nil, err
	}
	out := &Independent{Shared: len(parts.front.ids) + len(parts.state.ids) + len(parts.schema.ids)}
	for _, field := range fields {
		enc := parts.join(field)
		enc.Limit, enc.Truncated = e.limit(), cut
		out.Prompts = append(out.Prompts, enc)
	}
	return out, nil
}
