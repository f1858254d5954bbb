package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"clefbar/engine"

	"github.com/spf13/cobra"
)

// caseFlags builds a request from the command line: --state, --choice, --score,
// --noul and --image. Questions keep the order in which they were given.
type caseFlags struct {
	state     string
	hasState  bool
	questions []engine.Question
	images    []string
}

func (c *caseFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(stateFlag{c}, "state", "the state: text, or @FILE (a .json file is read as JSON, @@ starts a text with @)")
	f.Var(questionFlag{c, engine.Choice}, "choice", "a question to pick from: 'id: name=description; name'; 'id: question :: name; name' asks in words; \\; and \\= are text")
	f.Var(questionFlag{c, engine.Score}, "score", "a question to rate: 'id: low | middle | high'; 'id: question :: low | high' asks in words; \\| is text")
	f.Var(questionFlag{c, engine.Noul}, "noul", "a yes-or-no question: 'id: question'")
	f.StringArrayVar(&c.images, "image", nil, "a PNG, JPEG or WebP file; repeatable")
}

// given reports whether the request is built from flags.
func (c *caseFlags) given() bool { return c.hasState || len(c.questions) > 0 }

// request returns the request that the flags describe.
func (c *caseFlags) request(ctx context.Context) (*engine.Request, error) {
	if !c.hasState {
		return nil, usage("--state is missing")
	}
	if len(c.questions) == 0 {
		return nil, usage("ask something: --choice, --score or --noul")
	}
	state, err := stateValue(ctx, c.state)
	if err != nil {
		return nil, err
	}
	return &engine.Request{State: state, Questions: c.questions}, nil
}

// attach reads the image files into r.
func (c *caseFlags) attach(ctx context.Context, r *engine.Request) error {
	for _, name := range c.images {
		b, err := readPart(ctx, "--image", name, engine.DefaultLimits().ImageBytes)
		if err != nil {
			return err
		}
		r.Images = append(r.Images, engine.Image{Data: b})
	}
	return nil
}

// stateFlag and questionFlag are pflag values. Both write into one caseFlags, so that
// the order of the flags is the order of the questions.
type stateFlag struct{ c *caseFlags }

func (stateFlag) String() string { return "" }
func (stateFlag) Type() string   { return "text" }
func (f stateFlag) Set(s string) error {
	if f.c.hasState {
		return fmt.Errorf("given twice; a request has one state")
	}
	f.c.state, f.c.hasState = s, true
	return nil
}

type questionFlag struct {
	c    *caseFlags
	kind engine.Kind
}

func (questionFlag) String() string { return "" }
func (questionFlag) Type() string   { return "question" }
func (f questionFlag) Set(s string) error {
	q, err := parseQuestion(f.kind, s)
	if err != nil {
		return err
	}
	for _, other := range f.c.questions {
		if other.ID == q.ID {
			return fmt.Errorf("two questions are called %q", q.ID)
		}
	}
	f.c.questions = append(f.c.questions, q)
	return nil
}

// stateValue reads the value of --state.
func stateValue(ctx context.Context, s string) (engine.Value, error) {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile || strings.HasPrefix(name, "@") { // @@ stands for a text that starts with @
		return textValue("--state", name)
	}
	b, err := readPart(ctx, "--state", name, engine.DefaultLimits().Body)
	if err != nil {
		return engine.Value{}, err
	}
	if !strings.HasSuffix(strings.ToLower(name), ".json") {
		return textValue("--state "+s, string(bytes.TrimPrefix(b, []byte("\ufeff"))))
	}
	v, err := engine.ParseValue(b, engine.Limits{})
	if e, ok := errors.AsType[*engine.Error](err); ok { // its places are those of a body, and this is a file
		return engine.Value{}, &engine.Error{Reason: e.Reason, Message: "--state " + s + ": " + e.Message, Err: e}
	}
	return v, err
}

// readPart reads the file that a flag names.
func readPart(ctx context.Context, flag, name string, most int) ([]byte, error) {
	b, err := readInput(ctx, name, most)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errOverLong):
		return nil, usage("%s: %s has more than %d bytes, which is the limit", flag, name, most)
	case err != nil:
		return nil, usage("%s: %v", flag, err)
	}
	return b, nil
}

func textValue(what, text string) (engine.Value, error) {
	if !utf8.ValidString(text) {
		return engine.Value{}, usage("%s is not UTF-8 text", what)
	}
	return engine.Text(text), nil
}

// parseQuestion reads 'id: rest' in the form of its kind.
func parseQuestion(kind engine.Kind, s string) (engine.Question, error) {
	if !utf8.ValidString(s) {
		return engine.Question{}, fmt.Errorf("not UTF-8 text")
	}
	id, rest, ok := cutAt(s, ":")
	if id = plain(id, ":"); id == "" || (!ok && kind != engine.Noul) {
		return engine.Question{}, fmt.Errorf("%q has no 'id:' in front", s)
	}
	q := engine.Question{ID: id, Kind: kind}
	rest = strings.TrimSpace(rest)
	if kind == engine.Noul {
		q.Options = []engine.Option{{Name: "true"}, {Name: "false"}}
		if rest != "" {
			q.Instructions = engine.Text(rest)
		}
		return q, nil
	}
	if words, options, asked := cutAt(rest, "::"); asked {
		rest = options
		if words = plain(words, ":;=|"); words != "" {
			q.Instructions = engine.Text(words)
		}
	}
	var err error
	if kind == engine.Choice {
		q.Options, err = parseChoices(rest)
	} else {
		q.Options, err = parseLevels(rest)
	}
	return q, err
}

// parseChoices reads 'name=description; name'.
func parseChoices(s string) ([]engine.Option, error) {
	var options []engine.Option
	seen := map[string]bool{}
	for _, part := range splitAt(s, ";") {
		name, description, described := cutAt(part, "=")
		if name = plain(name, ":;="); name == "" {
			if strings.TrimSpace(part) == "" {
				continue // a trailing semicolon
			}
			return nil, fmt.Errorf("%q has no name before the =", part)
		}
		if seen[name] {
			return nil, fmt.Errorf("two options are called %q", name)
		}
		seen[name] = true
		o := engine.Option{Name: name, Description: engine.Value{Type: engine.Null}}
		if described {
			o.Description = engine.Text(plain(description, ":;="))
		}
		options = append(options, o)
	}
	if len(options) == 0 {
		return nil, fmt.Errorf("no options; write 'id: name=description; name'")
	}
	if most := engine.DefaultLimits().Options; len(options) > most {
		return nil, fmt.Errorf("%d options; at most %d are allowed", len(options), most)
	}
	return options, nil
}

// parseLevels reads 'low | middle | high'.
func parseLevels(s string) ([]engine.Option, error) {
	var options []engine.Option
	for _, part := range splitAt(s, "|") {
		level := plain(part, ":|")
		if level == "" {
			return nil, fmt.Errorf("an empty level; write 'id: low | middle | high'")
		}
		options = append(options, engine.Option{Name: strconv.Itoa(len(options)), Description: engine.Text(level)})
	}
	if most := engine.DefaultLimits().Levels; len(options) > most {
		return nil, fmt.Errorf("%d levels; at most %d are allowed", len(options), most)
	}
	return options, nil
}
