package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"clefbar/engine"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

func newDecide(c *common) *cobra.Command {
	var flags caseFlags
	var timing bool
	cmd := &cobra.Command{
		Use:   "decide [FILE|-]",
		Short: "Answer the questions of a request",
		Long: "Decide reads a System One request (JSON) from a file or stdin, or builds one from flags,\n" +
			"and prints a probability for every allowed answer.",
		Example: "  clefbar decide --state 'Our checkout returns errors and orders are blocked.' \\\n" +
			"    --choice 'team: billing=Payments or invoices; technical=Bugs or outages' \\\n" +
			"    --score 'urgency: Can wait | This week | Today' --noul 'outage: Is a service down?'",
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readCase(cmd.Context(), args, &flags)
			if err != nil {
				return err
			}
			return c.decide(cmd.Context(), r, timing)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&timing, "timing", false, "add milliseconds of each step and peak memory")
	return cmd
}

// caseLimits say how the command line reads requests: a null side of a noul stays,
// as the reference has it (clef.md 2.5).
var caseLimits = engine.Limits{KeepNullSides: true}

// readCase reads the request from the file, stdin or the flags, and checks it as the
// endpoint does.
func readCase(ctx context.Context, args []string, flags *caseFlags) (*engine.Request, error) {
	r, err := readRequest(ctx, args, flags)
	if err != nil {
		return nil, err
	}
	if len(flags.images) == 0 {
		return r, nil
	}
	if err := flags.attach(ctx, r); err != nil {
		return nil, err
	}
	return r, r.Check(caseLimits)
}

func readRequest(ctx context.Context, args []string, flags *caseFlags) (*engine.Request, error) {
	if flags.given() {
		if len(args) > 0 {
			return nil, usage("give either a file or --state with questions, not both")
		}
		r, err := flags.request(ctx)
		if err != nil {
			return nil, err
		}
		return r, r.Check(caseLimits)
	}
	name := "-"
	if len(args) > 0 {
		name = args[0]
	} else if isatty.IsTerminal(os.Stdin.Fd()) {
		return nil, usage("give a file with a request, - for stdin, or --state and a question; see clefbar decide --help")
	}
	most := engine.DefaultLimits().Body
	b, err := readInput(ctx, name, most)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, errOverLong):
		return nil, engine.InvalidAt("too_long", nil, "The request has more than %d bytes, which is the limit", most)
	case err != nil:
		return nil, usage("%v", err)
	}
	return engine.ParseRequest(b, caseLimits)
}

func (c *common) decide(ctx context.Context, r *engine.Request, timing bool) error {
	start := time.Now()
	m, err := c.open(ctx, r.Model)
	if err != nil {
		return err
	}
	defer m.Close()
	loaded := time.Since(start)
	resp, err := m.Decide(ctx, r)
	if err != nil {
		return err
	}
	resp.Timing.Load = loaded
	if c.json {
		fmt.Fprintf(&stdout, "%s\n", withTiming(resp, timing))
		return nil
	}
	printBars(&stdout, resp, m.Info(), terminalColumns(os.Stdout))
	if timing {
		fmt.Fprintln(&stdout, timingLine(resp.Timing))
	}
	return nil
}

// withTiming returns the endpoint's response body and, if asked for, x_timing in it.
func withTiming(resp *engine.Response, timing bool) []byte {
	body := resp.JSON()
	if !timing {
		return body
	}
	t := resp.Timing
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Appendf(body[:len(body)-1],
		`,"x_timing":{"load_ms":%.3f,"encode_ms":%.3f,"prefill_ms":%.3f,"head_ms":%.3f,"total_ms":%.3f,"peak_bytes":%d}}`,
		ms(t.Load), ms(t.Encode), ms(t.Prefill), ms(t.Head), ms(t.Total), t.PeakBytes)
}

func timingLine(t engine.Timing) string {
	return fmt.Sprintf("load %s · encode %s · prefill %s · head %s · total %s · peak memory %s",
		millis(t.Load), millis(t.Encode), millis(t.Prefill), millis(t.Head), millis(t.Total), size(t.PeakBytes))
}

// size writes bytes as people read them.
func size(n int64) string {
	const unit = 1000
	switch {
	case n <= 0:
		return "unknown"
	case n < unit*unit:
		return fmt.Sprintf("%.0f kB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.0f MB", float64(n)/unit/unit)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/unit/unit/unit)
}
