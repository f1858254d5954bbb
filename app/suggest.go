package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownCommand is the positional check of the root: whatever stands there is a
// command that does not exist.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage("%s", text)
}

// wanted says what a flag takes, by the flag library's name of its type.
var wanted = map[string]string{
	"int": "a whole number", "float64": "a number", "bool": "true or false, behind =", "intSlice": "whole numbers with commas between them",
	"stringSlice": "values with commas between them",
}

// flagError turns a complaint about flags into a usage error: what the flag takes, or the flag that
// may have been meant.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		if want := wanted[wrong.GetFlag().Value.Type()]; want != "" {
			return usage("--%s is %s, not %q", wrong.GetFlag().Name, want, wrong.GetValue())
		}
		return usage("%s", text)
	}
	name, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return usage("%s", text)
	}
	best, least := "", 3
	consider := func(f *pflag.Flag) {
		if d := distance(name, f.Name); d < least {
			best, least = f.Name, d
		}
	}
	cmd.Flags().VisitAll(consider)
	cmd.InheritedFlags().VisitAll(consider)
	if best != "" {
		text += "; did you mean --" + best + "?"
	}
	return usage("%s", text)
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
