package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"clefbar/engine/backend"
	"clefbar/engine/bench"
	"clefbar/engine/local"

	"github.com/spf13/cobra"
)

// benchFlags are the flags of bench.
type benchFlags struct {
	lengths []int
	runs    int
	threads int
	plan    string
}

// benchReport is the JSON of bench.
type benchReport struct {
	Machine bench.Machine `json:"machine"`
	Model   benchModel    `json:"model"`
	Rows    []bench.Row   `json:"rows"`
}

// benchModel says what was measured.
type benchModel struct {
	Name        string `json:"name"`
	Layout      string `json:"layout"`
	Precision   string `json:"precision"`
	WeightBytes int64  `json:"weight_bytes"`
}

func newBench(c *common) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure seconds per decision by the length of the request",
		Long: "Bench answers requests of several lengths, each once to warm up and then --runs times, and prints the\n" +
			"median, the fastest and the slowest time, peak memory, and the share of the machine's peak: of what a loop\n" +
			"over registers reaches with the same threads between the runs.",
		Example: "  clefbar bench --model ./clef-flash-4bit --lengths 250,500,2000 --runs 5",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.plan != "" {
				return c.printPlan(f.plan)
			}
			return c.bench(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	fl.IntSliceVar(&f.lengths, "lengths", []int{250, 500, 2000, 8000, 32000}, "tokens of the requests")
	fl.IntVar(&f.runs, "runs", 5, "timed runs of each length")
	fl.IntVar(&f.threads, "threads", 0, "threads on the processor; 0 means all")
	fl.StringVar(&f.plan, "plan", "", "predict times for an Apple chip (such as m2max38) instead of measuring")
	return cmd
}

func (f benchFlags) check() error {
	switch {
	case len(f.lengths) == 0 || slices.Min(f.lengths) < 1 || slices.Max(f.lengths) > local.MaxLimit:
		return usage("--lengths are numbers of tokens from 1 to %d", local.MaxLimit)
	case f.runs < 1 || f.runs > 1000:
		return usage("--runs is from 1 to 1000")
	case f.threads < 0 || f.threads > 1024:
		return usage("--threads is from 0 to 1024")
	}
	return nil
}

func (c *common) bench(ctx context.Context, f benchFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	m, meter, err := c.openBench(ctx, f)
	if err != nil {
		return err
	}
	defer m.Close()
	info, device := m.Info(), m.DeviceInfo()
	rows, err := bench.Run(ctx, m, bench.Options{
		Lengths: f.lengths, Runs: f.runs, Precision: device.Precision, Meter: meter,
		Progress: func(n int) { c.progress("clefbar: %d tokens", n) },
	})
	if err != nil {
		return err
	}
	report := benchReport{Machine: bench.ThisMachine(), Model: benchModel{info.Name, info.Layout, device.Precision, info.WeightBytes}, Rows: rows}
	report.Machine.Device, report.Machine.Detail = device.Device, device.Detail
	if c.json {
		return printJSON(report)
	}
	return report.print(&stdout)
}

// openBench opens the model with its own hold on the backend, which counts operations.
func (c *common) openBench(ctx context.Context, f benchFlags) (*local.Model, bench.Meter, error) {
	l, err := c.library()
	if err != nil {
		return nil, nil, err
	}
	key, err := c.key(l, "")
	if err != nil {
		return nil, nil, err
	}
	if isURL(key) {
		return nil, nil, usage("bench measures this machine: --model names a model on it, not %s", key)
	}
	l.how.maxTokens = max(slices.Max(f.lengths), local.DefaultLimit)
	opt, err := l.how.options(c.openProgress())
	if err != nil {
		return nil, nil, err
	}
	if f.threads > 0 {
		if c.device == "metal" {
			return nil, nil, usage("--threads is for the processor, not for --device metal")
		}
		opt.Device = local.CPU(f.threads)
	}
	var meter bench.Meter
	open := opt.Device.Open
	opt.Device.Open = func(precision string) (backend.Backend, error) {
		b, err := open(precision)
		meter, _ = b.(bench.Meter)
		return b, err
	}
	m, err := openHere(ctx, key, opt)
	return m, meter, err
}

// openHere opens the embedded model or a folder.
func openHere(ctx context.Context, key string, opt local.Options) (*local.Model, error) {
	if key == etudeKey {
		return local.OpenFS(ctx, etudeFiles(), etudeKey, opt)
	}
	return local.Open(ctx, key, opt)
}

// print writes the table for people.
func (r benchReport) print(w io.Writer) error {
	m := r.Machine
	fmt.Fprintf(w, "%s, %s, %s\n", r.Model.Name, r.Model.Layout, r.Model.Precision)
	fmt.Fprintf(w, "%s (%s), %s, %d processors, %s, %s\n\n", m.Device, m.Detail, m.System, m.Processors, orUnknown(m.Processor), m.Go)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "tokens\tmedian s\tmin s\tmax s\ttokens/s\tpeak memory\tGop/s\tof peak\t")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%d\t%.4g\t%.4g\t%.4g\t%.0f\t%s\t", row.Tokens, row.Median, row.Min, row.Max, row.TokensPerSecond, size(row.PeakBytes))
		if row.Peak > 0 {
			fmt.Fprintf(t, "%.0f\t%.0f %%\t\n", row.Rate, 100*row.Share)
		} else {
			fmt.Fprint(t, "-\tnot measured\t\n")
		}
	}
	return t.Flush()
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown processor"
	}
	return s
}
