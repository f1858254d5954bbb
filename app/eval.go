package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"clefbar/app/measure"
	"clefbar/app/worker"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

func newEval(c *common) *cobra.Command {
	var out string
	var resume bool
	var threshold float64
	cmd := &cobra.Command{
		Use:   "eval FILE.jsonl|-",
		Short: "Measure a model on labelled records",
		Long: "Eval reads one record a line, {\"id\",\"state\",\"questions\",\"gold\":{question:answer}}, and prints accuracy,\n" +
			"calibration and latency. Lines that are no records are named and left out. Interrupt it to stop early;\n" +
			"with --out, --resume goes on where it stopped.",
		Example: "  clefbar eval tickets.jsonl --out answers.jsonl",
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if resume && out == "" {
				return usage("--resume needs --out, the file to go on with")
			}
			if err := checkThreshold(threshold); err != nil {
				return err
			}
			return c.eval(cmd.Context(), args[0], out, resume, threshold)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "write every probability to this file, one line a record")
	f.BoolVar(&resume, "resume", false, "keep what --out holds and go on")
	f.Float64Var(&threshold, "threshold", 0.8, "top probability from which a decision counts as sure")
	return cmd
}

func checkThreshold(t float64) error {
	if !(t > 0 && t <= 1) {
		return usage("--threshold is above 0 and at most 1, not %v", t)
	}
	return nil
}

// evalReport is the result of eval.
type evalReport struct {
	File        string                     `json:"file"`
	Model       string                     `json:"model"`
	Records     int                        `json:"records"`
	Done        int                        `json:"done"`
	Bad         []lineProblem              `json:"bad_lines"`
	Failed      []lineProblem              `json:"failed"`
	Threshold   float64                    `json:"threshold"`
	Kinds       map[string]measure.Summary `json:"kinds"`
	MedianMS    float64                    `json:"median_ms"`
	P90MS       float64                    `json:"p90_ms"`
	Interrupted bool                       `json:"interrupted"`
}

type lineProblem struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// readRecords reads a file of records and names its bad lines on stderr.
func (c *common) readRecords(ctx context.Context, name string) ([]measure.Record, []lineProblem, error) {
	var bad []measure.BadLine
	records, err := unlessDone(ctx, func() (records []measure.Record, err error) {
		in := os.Stdin
		if name != "-" {
			if in, err = os.Open(name); err != nil {
				return nil, usage("%v", err)
			}
			defer in.Close()
		}
		records, bad, err = measure.Read(in, caseLimits)
		return records, err
	})
	if err != nil {
		return nil, nil, err
	}
	problems := []lineProblem{}
	for _, b := range bad {
		c.progress("%s: %s", name, clean(b.Error()))
		problems = append(problems, lineProblem{b.Line, b.Err.Error()})
	}
	switch {
	case len(records) == 0 && len(bad) > 0:
		return nil, nil, usage("%s holds no record: %s", name, clean(bad[0].Error()))
	case len(records) == 0:
		return nil, nil, usage("%s holds no record: it is empty", name)
	}
	return records, problems, nil
}

// measurable refuses what eval could only lose or learn nothing from: writing over the records, and records without a
// right answer whose probabilities nobody keeps.
func measurable(name, out string, records []measure.Record) error {
	if same(name, out) {
		return usage("--out: %s holds the records: give the answers a file of their own", out)
	}
	if out == "" && !slices.ContainsFunc(records, func(r measure.Record) bool { return r.Labelled() }) {
		return usage("%s holds no right answers to compare with: give its records \"gold\": {question: answer}, or --out to keep the probabilities", name)
	}
	return nil
}

// same reports whether two names are of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (c *common) eval(ctx context.Context, name, out string, resume bool, threshold float64) error {
	records, bad, err := c.readRecords(ctx, name)
	if err != nil {
		return err
	}
	if err := measurable(name, out, records); err != nil {
		return err
	}
	m, err := c.open(ctx, "")
	if err != nil {
		return err
	}
	defer m.Close()
	report := evalReport{File: name, Model: m.Info().Name, Records: len(records), Bad: bad, Failed: []lineProblem{}, Threshold: threshold}
	kept, err := openAnswers(out, resume, report.Model, records)
	if err != nil {
		return err
	}
	all, took, err := c.runRecords(ctx, m, records, kept, &report)
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	report.Kinds = measure.ByKind(all, threshold)
	slices.Sort(took)
	if n := len(took); n > 0 {
		report.MedianMS, report.P90MS = ms(took[n/2]), ms(took[n*9/10])
	}
	if c.json {
		err = printJSON(report)
	} else {
		err = printEval(&stdout, report)
	}
	if err == nil && report.Interrupted {
		return exitError(exitInterrupted)
	}
	return err
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// runRecords decides every record that kept does not hold. An interrupt ends it
// early and is noted in the report.
func (c *common) runRecords(ctx context.Context, m worker.Model, records []measure.Record, kept *answersFile, report *evalReport) (all []measure.Outcome, took []time.Duration, err error) {
	tick := c.ticker(len(records))
	for i := range records {
		rec := &records[i]
		if old, ok := kept.done[rec.ID]; ok {
			all, took = append(all, old.outcomes...), append(took, old.took)
			report.Done++
			continue
		}
		resp, err := m.Decide(ctx, rec.Request)
		switch {
		case ctx.Err() != nil:
			report.Interrupted = true
			return all, took, nil
		case err != nil:
			c.progress("line %d: %s", rec.Line, clean(err.Error()))
			report.Failed = append(report.Failed, lineProblem{rec.Line, err.Error()})
			continue
		}
		all, took = append(all, measure.Outcomes(rec, resp)...), append(took, resp.Timing.Total)
		report.Done++
		if err := kept.write(rec, resp); err != nil {
			return all, took, err
		}
		tick(i + 1)
	}
	return all, took, nil
}

// ticker returns a function that draws how many records are done, on a terminal.
func (c *common) ticker(total int) func(done int) {
	if c.quiet || !isatty.IsTerminal(os.Stderr.Fd()) {
		return func(int) {}
	}
	return func(done int) {
		fmt.Fprintf(os.Stderr, "\r\x1b[K%d of %d", done, total)
		if done == total {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		}
	}
}

func printEval(w io.Writer, r evalReport) error {
	if r.Kinds["all"].Decisions > 0 {
		if err := printFigures(w, r); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(w, "nothing to compare with: no record that was answered has a right answer")
	}
	fmt.Fprintf(w, "\n%d of %d records with %s · median %.1f ms · 90 %% within %.1f ms · %d bad lines · %d failed\n",
		r.Done, r.Records, clean(r.Model), r.MedianMS, r.P90MS, len(r.Bad), len(r.Failed))
	if r.Interrupted {
		fmt.Fprintln(w, "interrupted: the figures are of the records that were done")
	}
	return nil
}

func printFigures(w io.Writer, r evalReport) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\tdecisions\taccuracy\tECE\tBrier\tlog loss\tshare ≥ %.2f\taccuracy there\t\n", r.Threshold)
	for _, kind := range []string{"noul", "choice", "score", "all"} {
		if s, ok := r.Kinds[kind]; ok {
			fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", kind, s.Decisions, s.Accuracy, s.ECE, s.Brier, s.LogLoss, s.Share, s.ShareAccuracy)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

// jsonLine is one line of the file that --out names.
type jsonLine struct {
	ID      string                     `json:"id"`
	Model   string                     `json:"model"`
	MS      float64                    `json:"ms"`
	Tokens  int                        `json:"tokens"`
	Answers map[string]json.RawMessage `json:"answers"`
}
