// Package engine is the contract of Clefbar: a Request (a state and typed
// questions) goes in, a Response (a probability for every allowed answer) comes
// out of a Decider. The builder, the command line and the endpoint all meet here.
//
// The rooms behind it: prompt renders a request into tokens, qwen runs the
// backbone over a backend, head turns hidden rows into logits, answer turns
// logits into answers. Package local ties them together in this process; package
// remote asks another server.
package engine

import (
	"context"
	"time"
)

// Decider answers requests. It is safe for concurrent use; a decider that owns a
// device runs one request at a time and lets the others wait. Cancelling ctx
// stops the work within 100 ms on a CPU and returns ctx.Err() wrapped.
type Decider interface {
	Decide(ctx context.Context, r *Request) (*Response, error)
}

// Kind is the type of a question. Its value is the row of the head's type
// embedding (clef.md 1.8).
type Kind uint8

// The three kinds of question, under their names on the wire.
const (
	Noul   Kind = iota // yes or no: one probability
	Choice             // pick one of the named options
	Score              // rate on an ordered list of levels
)

// String returns the wire's word: "noul", "choice" or "score".
func (k Kind) String() string { return [...]string{"noul", "choice", "score"}[k] }

// Request is one System One request: one state, many questions.
type Request struct {
	Model     string // as sent; "" means the default model
	State     Value  // string, object or array
	Questions []Question
	Images    []Image // raw encoded bytes, in prompt order

	Truncate    bool // x_truncate: cut the end of a state that is too long instead of refusing it
	Independent bool // x_mode "independent": score each question alone over the shared state
	NeutralIDs  bool // x_ids "neutral": hide the caller's question ids from the model
	Literal     bool // x_control "literal": control tokens in user text are plain text
}

// Question is one typed question. Options are in request order: the criteria of
// a choice, the levels of a score (named "0", "1", …); for a noul exactly
// "true" and "false".
type Question struct {
	ID           string
	Kind         Kind
	Instructions Value // missing, null and "" all mean: ask with the ID
	Options      []Option
}

// Option is one allowed answer. A missing or null Description leaves the field out of
// the prompt; a missing description of a noul side takes the reference's default text.
type Option struct {
	Name        string
	Description Value
}

// Image is one encoded picture (PNG, JPEG or WebP bytes).
type Image struct {
	Data []byte
}

// Response is the answer to one Request.
type Response struct {
	Model     string // the model that answered, never an alias
	Practice  bool   // answered by a practice model
	Answers   []Answer
	Usage     Usage
	Truncated int // tokens cut from the end of the state; 0 unless Request.Truncate
	Timing    Timing
}

// Usage counts tokens. OutputTokens is always 0: nothing is generated.
type Usage struct {
	InputTokens, OutputTokens int
}

// Timing says where the time went. PeakBytes is the peak resident memory of the
// process, 0 where the system does not tell.
type Timing struct {
	Load, Queue, Encode, Prefill, Head, Total time.Duration
	PeakBytes                                 int64
}

// Answer is the answer to one question, options in request order.
type Answer struct {
	ID   string
	Kind Kind
	// Options names every allowed answer, Raw holds the float32 softmax as the
	// model gave it, Logits the numbers before it.
	Options []string
	Raw     []float64
	Logits  []float32
	// Probs is Raw rounded to 6 decimals so that it sums to exactly 1
	// (endpoint.md 4.7). Everything below derives from Probs.
	Probs      []float64
	Best       int     // index of the most probable option; the first one on ties
	Noul       float64 // Noul only: the probability of "true"
	Score      float64 // Score only: Σ i·p[i]
	Confidence float64 // Choice and Score: TypeSafe's formulas (endpoint.md 4.6)
	Legend     []Value // Score only: the levels as sent
}

// Span is a half-open range of token positions.
type Span struct{ From, To int }

// Len returns the number of tokens in the span.
func (s Span) Len() int { return s.To - s.From }

// Encoding is what the model reads for a request, before it is run.
type Encoding struct {
	Model     string
	Limit     int // most tokens a request may have
	IDs       []int32
	Text      string // the exact prompt
	Pieces    []Piece
	State     Span
	Questions []QuestionSpans // in request order
	Truncated int             // tokens cut from the end of the state
	Control   []Control       // control tokens found in the person's text
}

// Piece is one separately tokenized part of the prompt.
type Piece struct {
	Part   Part
	Tokens Span
	Text   string
}

// Part says where a piece of the prompt comes from.
type Part uint8

// The origins of prompt text.
const (
	PartTemplate Part = iota
	PartMedia
	PartState
	PartInstruction
	PartOption
)

// QuestionSpans locates one question in the prompt. Options are in prompt order
// (choice: sorted by code point), Order[i] is the request index of prompt option i.
type QuestionSpans struct {
	ID      string
	Kind    Kind
	Field   Span // the instruction
	Options []OptionSpan
	Order   []int
}

// OptionSpan locates one option's JSON object in the prompt.
type OptionSpan struct {
	Name string
	Span Span
}

// Control is a control token that stands in the person's own text.
type Control struct {
	Token string
	Where string // "state", "questions.<id>.instructions", …
	At    int    // token position
}

// ModelInfo describes a model to people and to programs.
type ModelInfo struct {
	Name         string // short name, as in responses
	Path         string // folder or URL; "" for the embedded model
	Description  string
	Released     string // YYYY-MM-DD
	Layout       string // "bf16", "8-bit", "4-bit", "mixed 4-bit", …
	Precision    string // how it is computed: "f32", "bf16", "int8"
	Device       string // "CPU", "Metal", …
	Practice     bool
	Temperature  float64 // fitted, divides the logits; 0 and 1 leave them as they are
	Vision       bool
	Limit        int   // most tokens a request may have
	DiskBytes    int64 // files together
	WeightBytes  int64 // weights in the form they are kept in memory
	ServerSide   bool  // answered by another server
	PracticeNote string
}
