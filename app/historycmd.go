package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"clefbar/app/history"

	"github.com/spf13/cobra"
)

func newHistory(c *common) *cobra.Command {
	var q history.Query
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List the decisions that you chose to keep",
		Long: "History lists what serve --keep and the app have kept, the newest first. Nothing is kept unless you say so;\n" +
			"it stays in one file on this machine, within the limits of the settings.",
		Example: "  clefbar history --text refund",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.listHistory(cmd, q) },
	}
	cmd.Flags().StringVar(&q.Text, "text", "", "only entries that hold this text")
	cmd.Flags().IntVar(&q.Most, "most", 20, "how many")
	show := &cobra.Command{
		Use: "show ID", Short: "Print one entry with its request and response", Example: "  clefbar history show 12", Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.showHistory(cmd, args[0]) },
	}
	clear := &cobra.Command{
		Use: "clear", Short: "Forget everything that was kept", Example: "  clefbar history clear", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := openHistory()
			if err != nil {
				return err
			}
			return errors.Join(s.Clear(cmd.Context()), s.Close())
		},
	}
	cmd.AddCommand(show, clear)
	return cmd
}

// historyRow is an entry in JSON.
type historyRow struct {
	ID       int64           `json:"id"`
	At       time.Time       `json:"at"`
	Source   string          `json:"source"`
	Client   string          `json:"client,omitempty"`
	Model    string          `json:"model,omitempty"`
	Status   int             `json:"status"`
	MS       float64         `json:"ms"`
	Tokens   int             `json:"tokens"`
	Request  json.RawMessage `json:"request,omitempty"`
	Response json.RawMessage `json:"response,omitempty"`
}

func historyRowOf(e history.Entry, whole bool) historyRow {
	row := historyRow{ID: e.ID, At: e.At, Source: e.Source, Client: e.Client, Model: e.Model, Status: e.Status, MS: ms(e.Took), Tokens: e.Tokens}
	if whole {
		row.Request, row.Response = e.Request, e.Response
	}
	return row
}

func (c *common) listHistory(cmd *cobra.Command, q history.Query) error {
	s, err := openHistory()
	if err != nil {
		return err
	}
	defer s.Close()
	entries, err := s.List(cmd.Context(), q)
	if err != nil {
		return err
	}
	rows := []historyRow{}
	for _, e := range entries {
		rows = append(rows, historyRowOf(e, false))
	}
	if c.json {
		return printJSON(rows)
	}
	t := tabwriter.NewWriter(&stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tWHEN\tSTATUS\tTOOK\tMODEL\tCLIENT")
	for _, r := range rows {
		fmt.Fprintf(t, "%d\t%s\t%d\t%.1f ms\t%s\t%s\n", r.ID, r.At.Format(time.DateTime), r.Status, r.MS, clean(r.Model), clean(r.Client))
	}
	return t.Flush()
}

func (c *common) showHistory(cmd *cobra.Command, what string) error {
	id, err := strconv.ParseInt(what, 10, 64)
	if err != nil {
		return usage("%q is not the number of an entry", what)
	}
	s, err := openHistory()
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := s.Get(cmd.Context(), id)
	if err != nil {
		return fmt.Errorf("entry %d: %w", id, err)
	}
	return printJSON(historyRowOf(e, true))
}
