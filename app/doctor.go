package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"clefbar/engine/probe"

	"github.com/spf13/cobra"
)

// doctorFlags are the flags of doctor.
type doctorFlags struct {
	metal           bool
	record, against string
	tolerance       float64
}

func newDoctor(c *common) *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor [MODEL]",
		Short: "Check a model's files and its answers",
		Long: "Doctor checks files, headers, shapes, the head, the tokenizer and hashes, then asks built-in questions and compares\n" +
			"the answers with stored reference probabilities. Where there is no reference yet, --record keeps the answers of one\n" +
			"machine and --against holds another one, another precision or another conversion to them.",
		Example: "  clefbar doctor\n  clefbar doctor clef-flash-4bit --record here.json",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				c.model = args[0]
			}
			if f.metal {
				c.device = gpuWord
				if err := c.examineGPU(cmd.Context()); err != nil {
					return err
				}
			}
			return c.doctor(cmd.Context(), f)
		},
	}
	cmd.Flags().BoolVar(&f.metal, "metal", false, "test the GPU first, then compute on it")
	cmd.Flags().StringVar(&f.record, "record", "", "write the answers to this file")
	cmd.Flags().StringVar(&f.against, "against", "", "compare with a file that --record wrote")
	cmd.Flags().Float64Var(&f.tolerance, "tolerance", recordTolerance, "largest difference from --against that is still right")
	return cmd
}

// recordTolerance is how far answers may be from recorded ones: other kernels and other precisions move them a little.
const recordTolerance = 0.04

// check is one thing that was looked at, or could not be because an earlier one failed.
type check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"`
	Detail  string `json:"detail"`
}

// diagnosis is the result of doctor.
type diagnosis struct {
	Model     string         `json:"model"`
	Path      string         `json:"path,omitempty"`
	Machine   machineFacts   `json:"machine"`
	Checks    []check        `json:"checks"`
	Probes    []probe.Result `json:"probes"`
	Reference string         `json:"reference"`          // where the worst compared numbers come from; "" if none were
	Largest   float64        `json:"largest_difference"` // of the probabilities that were compared
	OK        bool           `json:"ok"`

	answers probe.Answers // nil when it did not come so far
	model   probe.Model
	damaged bool // a file is not what the Hub announced
	code    int  // exit code, when not OK
}

func newDiagnosis(key string) *diagnosis {
	d := &diagnosis{OK: true, Model: key, Machine: thisMachine(), Checks: []check{}, Probes: []probe.Result{}, code: exitFailed}
	if key != etudeKey {
		d.Path = key
	}
	return d
}

// note adds a check: a failed one with err, else a good one.
func (d *diagnosis) note(name string, err error, format string, args ...any) bool {
	detail := fmt.Sprintf(format, args...)
	if err != nil {
		detail = err.Error()
	}
	d.Checks = append(d.Checks, check{Name: name, OK: err == nil, Detail: detail})
	d.OK = d.OK && err == nil
	return err == nil
}

// failure returns the first check that failed.
func (d *diagnosis) failure() (check, bool) {
	i := slices.IndexFunc(d.Checks, func(c check) bool { return !c.OK && !c.Skipped })
	if i < 0 {
		return check{}, false
	}
	return d.Checks[i], true
}

func (c *common) doctor(ctx context.Context, f doctorFlags) error {
	if f.tolerance < 0 || f.tolerance > 1 {
		return usage("--tolerance is a difference of probabilities, from 0 to 1")
	}
	l, key, err := c.here("doctor looks at models of this machine, not at %s")
	if err != nil {
		return err
	}
	extra, err := f.reference()
	if err != nil {
		return err
	}
	d := newDiagnosis(key)
	if err := c.examine(ctx, l, d, key, extra); err != nil {
		return err
	}
	if f.record != "" && d.answers != nil {
		if err := writeRecording(f.record, d.model, d.answers); err != nil {
			return err
		}
	}
	if c.json {
		err = printJSON(d)
	} else {
		d.write(&stdout, bold("FAIL"))
	}
	if err == nil && !d.OK {
		return exitError(d.code)
	}
	return err
}

// reference reads the file of --against.
func (f doctorFlags) reference() ([]probe.Reference, error) {
	if f.against == "" {
		return nil, nil
	}
	file, err := os.Open(f.against)
	if err != nil {
		return nil, usage("--against: %v", err)
	}
	defer file.Close()
	r, err := probe.Read(file)
	if err != nil {
		return nil, usage("--against %s: %v", f.against, err)
	}
	return []probe.Reference{r.Reference(f.against, f.tolerance)}, nil
}

func writeRecording(name string, m probe.Model, a probe.Answers) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write the answers: %w", err)
	}
	defer file.Close()
	if err := probe.Write(file, m, a); err != nil {
		return fmt.Errorf("write the answers to %s: %w", name, err)
	}
	return file.Close()
}

// examine fills the diagnosis. An error is about the examination itself: it was interrupted.
func (c *common) examine(ctx context.Context, l *library, d *diagnosis, key string, extra []probe.Reference) error {
	if !l.checkFiles(ctx, d, key, c.hashProgress()) {
		return ctx.Err()
	}
	m, err := l.Open(ctx, key, c.openProgress())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		d.note("opens", err, "")
		return nil
	}
	defer m.Close()
	info := m.Info()
	d.note("opens", nil, "%s, %s, requests of up to %d tokens", info.Device, info.Precision, info.Limit)
	d.model.Precision, d.model.Device = info.Precision, info.Device
	d.ask(ctx, m, extra, func(p probe.Probe) { c.progress("clefbar: asking %s", p.ID) })
	return ctx.Err()
}

// write writes the report that people read and pass on. fail marks what does not hold.
func (d *diagnosis) write(w io.Writer, fail string) {
	for _, c := range d.Checks {
		mark := "ok  "
		switch {
		case c.Skipped:
			mark = "–   "
		case !c.OK:
			mark = fail
		}
		fmt.Fprintf(w, "%s  %-10s %s\n", mark, c.Name, clean(c.Detail))
	}
	for _, p := range d.Probes {
		mark := "ok  "
		if !p.OK {
			mark = fail
		}
		fmt.Fprintf(w, "%s    %-8s %s\n", mark, p.Probe, clean(probeDetail(p, "--record keeps this answer as one")))
	}
	if d.damaged {
		fmt.Fprintln(w, "\nclefbar models get --verify REPO brings the damaged files again")
	}
	fmt.Fprintf(w, "\n%s\n%s: %s\n", clean(d.Machine.String()), clean(d.Model), d.sentence())
}

// probeDetail says what comparing one probe found; keep tells how its answer becomes a reference when there is none.
func probeDetail(p probe.Result, keep string) string {
	if p.Source == "" {
		return "no reference yet: " + keep
	}
	return fmt.Sprintf("largest difference %.6f (%s), at most %g; %s", p.Largest, p.Where, p.Tolerance, p.Source)
}
