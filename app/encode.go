package main

import (
	"fmt"
	"os"
	"strings"

	"clefbar/engine"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

func newEncode(c *common) *cobra.Command {
	var flags caseFlags
	cmd := &cobra.Command{
		Use:     "encode [FILE|-]",
		Short:   "Show what the model reads, without running it",
		Long:    "Encode prints the exact prompt of a request, its token ids and where each part lies. It needs only the tokenizer.",
		Example: "  clefbar encode --state 'Our checkout returns errors.' --noul 'outage: Is a service down?'",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readCase(cmd.Context(), args, &flags)
			if err != nil {
				return err
			}
			e, err := c.encoding(cmd.Context(), r)
			if err != nil {
				return err
			}
			if !c.json {
				printEncoding(e)
				return nil
			}
			return printJSON(spansOf(e))
		},
	}
	flags.register(cmd)
	return cmd
}

// encodingJSON is the output of encode. Text is written by the contract's own encoder,
// which escapes nothing that JSON does not require.
type encodingJSON struct {
	Model  rawText  `json:"model"`
	Tokens int      `json:"tokens"`
	Limit  int      `json:"limit"`
	IDs    []int32  `json:"ids"`
	Text   rawText  `json:"text"`
	Spans  spanJSON `json:"spans"`
}

type spanJSON struct {
	State     [2]int   `json:"state"`
	Questions orderedQ `json:"questions"`
}

// rawText is text from a request.
type rawText string

// MarshalJSON writes s without HTML escapes.
func (s rawText) MarshalJSON() ([]byte, error) { return engine.Text(string(s)).JSON(), nil }

// orderedQ are the questions in request order.
type orderedQ []engine.QuestionSpans

// MarshalJSON writes the questions as an object, in request order.
func (qs orderedQ) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, q := range qs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(engine.Text(q.ID).AppendJSON(b), `:{"field":`...)
		b = append(appendSpan(b, q.Field), `,"options":{`...)
		for j, at := range requestOrder(q) {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(engine.Text(q.Options[at].Name).AppendJSON(b), ':')
			b = appendSpan(b, q.Options[at].Span)
		}
		b = append(b, "}}"...)
	}
	return append(b, '}'), nil
}

// requestOrder returns the positions of a question's prompt options in the order of
// the request.
func requestOrder(q engine.QuestionSpans) []int {
	at := make([]int, len(q.Options))
	for i := range at {
		at[i] = i
	}
	for prompt, request := range q.Order {
		if request < len(at) {
			at[request] = prompt
		}
	}
	return at
}

func appendSpan(b []byte, s engine.Span) []byte { return fmt.Appendf(b, "[%d,%d]", s.From, s.To) }

func spansOf(e *engine.Encoding) encodingJSON {
	return encodingJSON{
		Model: rawText(e.Model), Tokens: len(e.IDs), Limit: e.Limit, IDs: e.IDs, Text: rawText(e.Text),
		Spans: spanJSON{State: [2]int{e.State.From, e.State.To}, Questions: e.Questions},
	}
}

// printEncoding writes the prompt for a person: the text, then counts and warnings. A terminal would obey control
// characters of the text, a file gets every byte.
func printEncoding(e *engine.Encoding) {
	text := e.Text
	if isatty.IsTerminal(os.Stdout.Fd()) {
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = clean(lines[i])
		}
		text = strings.Join(lines, "\n")
	}
	fmt.Fprintln(&stdout, text)
	fmt.Fprintf(&stdout, "\n%d of %d tokens · state %d · %s\n", len(e.IDs), e.Limit, e.State.Len(), clean(e.Model))
	for _, k := range e.Control {
		fmt.Fprintf(os.Stderr, "the control token %s stands in %s (token %d)\n", k.Token, clean(k.Where), k.At)
	}
}
