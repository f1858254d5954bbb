package main

import (
	"fmt"
	"text/tabwriter"

	"clefbar/models/shelf"

	"github.com/spf13/cobra"
)

func newModelsSearch(c *common) *cobra.Command {
	return &cobra.Command{
		Use:   "search OWNER [WORD]",
		Short: "List an owner's repositories on the Hub that hold a Clef model",
		Long: "Search asks the Hub for the repositories of OWNER, with WORD in their names if one is given, and lists those that\n" +
			"hold Clef's decision head. They are recognised by their files, not by their names.",
		Example: "  clefbar models search mlx-community clef",
		Args:    between(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.searchModels(cmd, args) },
	}
}

// foundRow is one line of the table, and one element of its JSON.
type foundRow struct {
	Repo     string `json:"repo"`
	Revision string `json:"revision,omitempty"`
	Changed  string `json:"changed,omitempty"`
	Gated    bool   `json:"gated"`
	Problem  string `json:"problem,omitempty"`
}

func (c *common) searchModels(cmd *cobra.Command, args []string) error {
	owner, word := args[0], ""
	if len(args) == 2 {
		word = args[1]
	}
	found, looked, more, err := shelf.Search(cmd.Context(), hubClient(), owner, word)
	if err != nil {
		return fetchError(cmd.Context(), "the list of "+owner, err)
	}
	if more {
		c.progress("clefbar: only the %d repositories that changed last were looked at; add a word of the name", looked)
	}
	rows := []foundRow{}
	for _, f := range found {
		r := foundRow{Repo: f.ID, Revision: f.Commit, Changed: f.Changed, Gated: f.Gated}
		if f.Problem != nil {
			r.Problem = f.Problem.Error()
		}
		rows = append(rows, r)
	}
	if c.json {
		return printJSON(rows)
	}
	t := tabwriter.NewWriter(&stdout, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		note := r.Problem
		if note == "" {
			note = "clefbar models get " + r.Repo
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", clean(r.Repo), clean(r.Changed), clean(note))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintf(&stdout, "none of %s's %d repositories that were looked at holds Clef's decision head\n", clean(owner), looked)
	}
	return nil
}
