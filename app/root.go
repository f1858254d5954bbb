package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

// common holds the flags that every command knows.
type common struct {
	model     string
	device    string
	precision string
	json      bool
	quiet     bool

	uncalibrated bool
	force        bool
}

// newRoot returns the whole command tree.
func newRoot() *cobra.Command {
	c := &common{}
	root := &cobra.Command{
		Use:   "clefbar",
		Short: "Run Clef decision models on this machine",
		Long: "Clefbar answers typed questions about a state with a probability for every allowed answer.\n" +
			"Without a command it opens the app; every command works without a display.",
		Example:           "  clefbar decide --state 'Our checkout returns errors.' --noul 'outage: Is a service down?'",
		Args:              unknownCommand,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return c.check() },
		RunE:              func(*cobra.Command, []string) error { return usage("name a command; see clefbar --help") },
	}
	root.SetOut(&stdout) // help and completion scripts
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(flagError)
	f := root.PersistentFlags()
	f.StringVar(&c.model, "model", "", "name, folder or URL of the model (default: the chosen one, else Etude)")
	f.StringVar(&c.device, "device", "auto", "where to compute: "+strings.Join(devices, ", "))
	f.StringVar(&c.precision, "precision", "auto", "how to compute: "+strings.Join(precisions, ", "))
	f.BoolVar(&c.json, "json", !isatty.IsTerminal(os.Stdout.Fd()), "print JSON (the default when stdout is no terminal)")
	f.BoolVar(&c.uncalibrated, "uncalibrated", false, "answer without a fitted temperature")
	f.BoolVar(&c.force, "force", false, "open the model even if it does not seem to fit into memory")
	f.BoolVar(&c.quiet, "quiet", false, "no progress on stderr")
	root.AddCommand(commands(c)...)
	c.complete(root)
	return root
}

// complete tells shells the words that flags take. Folders are offered beside the
// names of models.
func (c *common) complete(root *cobra.Command) {
	for name, words := range map[string][]string{"device": devices, "precision": precisions} {
		must(root.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	}
	must(root.RegisterFlagCompletionFunc("model", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		l, err := c.library()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		var names []string
		for _, e := range l.list(cmd.Context()) {
			names = append(names, e.info.Name)
		}
		return names, cobra.ShellCompDirectiveDefault
	}))
}

// must panics on an error that only a mistake in this file can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// devices and precisions are the words that --device and --precision take.
var (
	devices    = []string{"auto", "cpu", "metal"}
	precisions = []string{"auto", "f32", "bf16", "int8"}
)

func (c *common) check() error {
	if !slices.Contains(devices, c.device) {
		return usage("--device is one of %s, not %q", strings.Join(devices, ", "), c.device)
	}
	if !slices.Contains(precisions, c.precision) {
		return usage("--precision is one of %s, not %q", strings.Join(precisions, ", "), c.precision)
	}
	return nil
}

// progress writes a line to stderr unless --quiet was given.
func (c *common) progress(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// printJSON writes a result as one line of JSON, without escaping what HTML would need.
func printJSON(v any) error {
	e := json.NewEncoder(&stdout)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// usageError is a mistake in how the command was called.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// atMost is cobra.MaximumNArgs with our exit code.
func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("%s takes at most %d argument(s), got %d: %s", cmd.CommandPath(), n, len(args), strings.Join(args, " "))
		}
		return nil
	}
}

// exactly is cobra.ExactArgs with our exit code.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usage("%s takes %d argument(s), got %d; see %[1]s --help", cmd.CommandPath(), n, len(args))
		}
		return nil
	}
}

// between is cobra.RangeArgs with our exit code.
func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("%s takes %d to %d arguments, got %d; see %[1]s --help", cmd.CommandPath(), least, most, len(args))
		}
		return nil
	}
}

// isUsage reports whether err is about how the command was called.
func isUsage(err error) bool {
	_, ok := errors.AsType[*usageError](err)
	return ok
}
