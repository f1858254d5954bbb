package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"clefbar/engine"
	"clefbar/models"
	"clefbar/models/shelf"

	"github.com/spf13/cobra"
)

func newModels(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "List the models on this machine",
		Example: "  clefbar models\n  clefbar models inspect DIR",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.listModels(cmd, false) },
	}
	var all bool
	list := &cobra.Command{
		Use: "list", Short: "List the models on this machine, or also those that can be fetched",
		Example: "  clefbar models list --all", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.listModels(cmd, all) },
	}
	list.Flags().BoolVar(&all, "all", false, "also the known models that can be fetched")
	path := &cobra.Command{
		Use: "path [NAME]", Short: "Print where models are kept, or where one model is",
		Example: "  clefbar models path", Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.modelPath(args) },
	}
	inspect := &cobra.Command{
		Use: "inspect DIR|NAME", Short: "List every tensor of a model: type, shape, quantisation",
		Example: "  clefbar models inspect ./clef-flash-4bit", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error { return c.inspect(args[0]) },
	}
	cmd.AddCommand(list, path, inspect, newModelsGet(c), newModelsSearch(c), newModelsRemove(c))
	return cmd
}

// modelRow is one line of the table, and one element of its JSON.
type modelRow struct {
	Name      string `json:"name"`
	Chosen    bool   `json:"chosen"`
	Precision string `json:"precision"`
	Disk      int64  `json:"disk_bytes"`
	Memory    int64  `json:"memory_bytes"`
	Fits      string `json:"fits"`
	State     string `json:"state"`
	Problem   string `json:"problem,omitempty"`
	Path      string `json:"path,omitempty"`
	Repo      string `json:"repo,omitempty"`
	Revision  string `json:"revision,omitempty"`
	Missing   int64  `json:"missing_bytes,omitempty"`
	Note      string `json:"note,omitempty"`
}

// fitTokens is the length of request that the memory of a model is told for.
const fitTokens = 16384

func (l *library) rowOf(e entry) modelRow {
	row := modelRow{
		Name: e.info.Name, Chosen: e.key == l.chosen(), Precision: e.info.Layout, Disk: e.info.DiskBytes,
		Memory: e.memory(l.tokens(e.key)), State: shelf.Ready.String(), Fits: string(shelf.Fits), Path: e.info.Path,
	}
	if e.item == nil {
		return row
	}
	row.State = e.item.State.String()
	row.Repo, row.Revision, row.Missing = e.item.Repo, e.item.Commit, e.item.Missing
	if e.item.State == shelf.Incomplete && e.item.Missing > 0 {
		row.State = fmt.Sprintf("incomplete %s of %s", size(e.item.DiskBytes), size(e.item.DiskBytes+e.item.Missing))
	}
	if e.item.Problem != nil {
		row.Problem = e.item.Problem.Error()
	}
	if e.item.State != shelf.Ready {
		row.Fits, row.Memory = "", 0
		return row
	}
	if fit, err := l.fit(row.Memory, 0); err == nil {
		row.Fits = string(fit.Verdict())
	}
	return row
}

func (c *common) listModels(cmd *cobra.Command, all bool) error {
	l, err := c.library()
	if err != nil {
		return err
	}
	var rows []modelRow
	for _, e := range l.list(cmd.Context()) {
		rows = append(rows, l.rowOf(e))
	}
	if err := l.cacheTrouble(); err != nil {
		fmt.Fprintf(os.Stderr, "clefbar: the cache of the Hub's models cannot be read: %s\n", clean(err.Error()))
	}
	if all {
		rows = append(rows, l.fetchable(rows)...)
	}
	if c.json {
		return printJSON(rows)
	}
	t := tabwriter.NewWriter(&stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tPRECISION\tDISK\tMEMORY\tFITS\tSTATE")
	for _, r := range rows {
		mark := ""
		if r.Chosen {
			mark = " *"
		}
		memory, state := "", r.State
		if r.Memory > 0 {
			memory = size(r.Memory)
		}
		if r.Problem != "" && !strings.HasPrefix(state, "incomplete ") {
			state += ": " + r.Problem
		}
		if r.Note != "" {
			state += ". " + r.Note
		}
		fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\n", clean(r.Name), mark, r.Precision, size(r.Disk), memory, r.Fits, clean(state))
	}
	return t.Flush()
}

// fetchable lists the known repositories that are not among rows.
func (l *library) fetchable(rows []modelRow) (more []modelRow) {
	for _, k := range l.catalog() {
		if slices.ContainsFunc(rows, func(r modelRow) bool { return strings.EqualFold(r.Repo, k.Repo) }) {
			continue
		}
		r := modelRow{
			Name: k.Repo, Precision: k.Layout, Disk: k.Bytes, Memory: k.Memory(fitTokens), State: "can be fetched", Repo: k.Repo, Note: k.Size() + k.Note,
		}
		if fit, err := l.fit(r.Memory, 0); err == nil {
			r.Fits = string(fit.Verdict())
		}
		more = append(more, r)
	}
	return more
}

func (c *common) modelPath(args []string) error {
	if len(args) == 0 {
		fmt.Fprintln(&stdout, modelCache().Dir)
		return nil
	}
	l, err := c.library()
	if err != nil {
		return err
	}
	key, err := l.locate(args[0])
	if err != nil {
		return err
	}
	if key == etudeKey {
		return &engine.Error{Reason: engine.NoModel, Message: "Etude is inside the program: it has no folder"}
	}
	fmt.Fprintln(&stdout, key)
	return nil
}

// tensorRow is one tensor in the JSON of models inspect.
type tensorRow struct {
	File  string `json:"file"`
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bytes int64  `json:"bytes"`
	Quant string `json:"quantisation,omitempty"`
}

// inspect lists the tensors of a folder. A folder that cannot be run is listed too,
// and the command fails with the reason.
func (c *common) inspect(dir string) error {
	list, err := c.listing(dir)
	if err != nil {
		return modelError(dir, err)
	}
	if c.json {
		out := struct {
			Name    string      `json:"name"`
			Layout  string      `json:"layout"`
			Problem string      `json:"problem,omitempty"`
			Tensors []tensorRow `json:"tensors"`
		}{Name: list.Name, Layout: list.Layout, Tensors: []tensorRow{}}
		if list.Problem != nil {
			out.Problem = list.Problem.Error()
		}
		for _, t := range list.Tensors {
			row := tensorRow(t)
			row.Shape = append([]int{}, row.Shape...) // a scalar is [], not null
			out.Tensors = append(out.Tensors, row)
		}
		err = printJSON(out)
	} else {
		err = printTensors(list)
	}
	if err == nil && list.Problem != nil {
		return modelError(dir, list.Problem)
	}
	return err
}

// listing lists the tensors of a folder, or of a model that has a name here.
func (c *common) listing(what string) (*models.Listing, error) {
	if _, err := os.Stat(what); err == nil {
		return models.Inspect(what)
	}
	l, err := c.library()
	if err != nil {
		return nil, err
	}
	e, known := l.find(what)
	switch {
	case known && e.key == etudeKey:
		return models.InspectFS(etudeFiles(), etudeKey)
	case known && e.info.ServerSide:
		return nil, usage("only a model of this machine can be looked into, not %s", e.key)
	case known:
		return models.Inspect(e.key)
	}
	return models.Inspect(what)
}

func printTensors(list *models.Listing) error {
	t := tabwriter.NewWriter(&stdout, 0, 8, 2, ' ', 0)
	var total int64
	for _, x := range list.Tensors {
		fmt.Fprintf(t, "%s\t%s\t%v\t%d\t%s\t%s\n", clean(x.Name), x.DType, x.Shape, x.Bytes, x.Quant, x.File)
		total += x.Bytes
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	fmt.Fprintf(&stdout, "\n%s · %s · %d tensors · %s\n", clean(list.Name), list.Layout, len(list.Tensors), size(total))
	return nil
}
