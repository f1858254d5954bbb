package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"clefbar/app/measure"

	"github.com/spf13/cobra"
)

func newCompare(c *common) *cobra.Command {
	var threshold float64
	cmd := &cobra.Command{
		Use:   "compare FILE.jsonl A B",
		Short: "Run the same records through two models or precisions",
		Long: "Compare names the answers that change, and the probabilities that cross --threshold, smallest margins first.\n" +
			"A and B are models, precisions of --model (f32, bf16, int8), or both: clef-flash-4bit@int8. Gold is not needed.",
		Example: "  clefbar compare tickets.jsonl f32 int8\n  clefbar compare tickets.jsonl clef-flash-4bit clef-flash-8bit",
		Args:    exactly(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkThreshold(threshold); err != nil {
				return err
			}
			return c.compare(cmd.Context(), args[0], args[1], args[2], threshold)
		},
	}
	cmd.Flags().Float64Var(&threshold, "threshold", 0.8, "probability that matters to you")
	return cmd
}

// compareReport is the result of compare.
type compareReport struct {
	File      string        `json:"file"`
	A         string        `json:"a"`
	B         string        `json:"b"`
	Records   int           `json:"records"`
	Bad       []lineProblem `json:"bad_lines"`
	Failed    []lineProblem `json:"failed"`
	Threshold float64       `json:"threshold"`
	measure.Comparison
}

func (c *common) compare(ctx context.Context, name, a, b string, threshold float64) error {
	records, bad, err := c.readRecords(ctx, name)
	if err != nil {
		return err
	}
	report := compareReport{File: name, A: a, B: b, Records: len(records), Bad: bad, Failed: []lineProblem{}, Threshold: threshold}
	left, err := c.side(ctx, a, records, &report)
	if err != nil {
		return err
	}
	right, err := c.side(ctx, b, records, &report)
	if err != nil {
		return err
	}
	report.Comparison = measure.Compare(left, right, threshold)
	if c.json {
		return printJSON(report)
	}
	return printCompare(report)
}

// side runs the records through one side. The two sides run one after the other: they
// may not fit into memory together.
func (c *common) side(ctx context.Context, what string, records []measure.Record, report *compareReport) ([]measure.Outcome, error) {
	one := *c
	one.model, one.precision = splitSide(what, c.model, c.precision)
	m, err := one.open(ctx, "")
	if err != nil {
		return nil, err
	}
	defer m.Close()
	part := evalReport{}
	all, _, err := one.runRecords(ctx, m, records, &answersFile{}, &part)
	if err == nil && part.Interrupted {
		err = ctx.Err()
	}
	report.Failed = append(report.Failed, part.Failed...)
	return all, err
}

// splitSide reads a model, a precision, or model@precision.
func splitSide(what, model, precision string) (string, string) {
	if slices.Contains(precisions, what) {
		return model, what
	}
	if at := strings.LastIndexByte(what, '@'); at > 0 && slices.Contains(precisions, what[at+1:]) {
		return what[:at], what[at+1:]
	}
	return what, precision
}

// mostShown is how many differences a person is shown. JSON has them all.
const mostShown = 40

func printCompare(r compareReport) error {
	if len(r.Differences) > 0 {
		t := tabwriter.NewWriter(&stdout, 0, 8, 2, ' ', 0)
		fmt.Fprintf(t, "RECORD\tQUESTION\tA\tB\tMARGIN\t\n")
		for _, d := range r.Differences[:min(len(r.Differences), mostShown)] {
			what := ""
			if d.Changed {
				what = "changed"
			}
			if d.Crossed {
				what = strings.TrimSpace(what + fmt.Sprintf(" crosses %.2f", r.Threshold))
			}
			fmt.Fprintf(t, "%s\t%s\t%s %.3f\t%s %.3f\t%.3f\t%s\n", clean(d.Record), clean(d.Question), clean(d.A), d.PA, clean(d.B), d.PB, d.Margin, what)
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("write the table: %w", err)
		}
		fmt.Fprintln(&stdout)
	}
	fmt.Fprintf(&stdout, "%d decisions in %d records · %d changed · %d cross %.2f · largest difference %.4f, mean %.5f · %d bad lines · %d failed\n",
		r.Decisions, r.Records, r.Changed, r.Crossed, r.Threshold, r.Largest, r.Mean, len(r.Bad), len(r.Failed))
	return nil
}
