package main

import (
	"context"
	"fmt"

	"clefbar/app/measure"

	"github.com/spf13/cobra"
)

func newCalibrate(c *common) *cobra.Command {
	var save bool
	cmd := &cobra.Command{
		Use:   "calibrate FILE.jsonl|-",
		Short: "Fit a temperature to labelled records",
		Long: "Calibrate fits one temperature on half of the records and measures it on the other half, for 20 random splits.\n" +
			"A temperature changes no answer, only how sure it sounds. --save attaches it to the model; --uncalibrated, which every\n" +
			"command knows, answers without it.",
		Example: "  clefbar calibrate tickets.jsonl --save",
		Args:    exactly(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.calibrate(cmd.Context(), args[0], save) },
	}
	cmd.Flags().BoolVar(&save, "save", false, "attach the temperature to the model")
	return cmd
}

// calibrateReport is the result of calibrate.
type calibrateReport struct {
	File   string        `json:"file"`
	Model  string        `json:"model"`
	Bad    []lineProblem `json:"bad_lines"`
	Failed []lineProblem `json:"failed"`
	Saved  bool          `json:"saved"`
	measure.Calibration
}

func (c *common) calibrate(ctx context.Context, name string, save bool) error {
	records, bad, err := c.readRecords(ctx, name)
	if err != nil {
		return err
	}
	one := *c
	one.uncalibrated = true // what an earlier fit did is no part of the model
	m, err := one.open(ctx, "")
	if err != nil {
		return err
	}
	defer m.Close()
	part := evalReport{Failed: []lineProblem{}}
	all, _, err := one.runRecords(ctx, m, records, &answersFile{}, &part)
	if err == nil && part.Interrupted {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	report := calibrateReport{File: name, Model: m.Info().Name, Bad: bad, Failed: part.Failed}
	if report.Calibration, err = measure.Calibrate(all); err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	if save {
		if err := c.saveTemperature(report.Calibration, len(records)); err != nil {
			return err
		}
		report.Saved = true
	}
	if c.json {
		return printJSON(report)
	}
	printCalibration(report)
	return nil
}

// saveTemperature keeps a fit in the settings, under the key of the model.
func (c *common) saveTemperature(fit measure.Calibration, records int) error {
	_, key, err := c.here("--save: a server calibrates its own answers; nothing can be attached to %s")
	if err != nil {
		return err
	}
	return changeSettings(func(s *settings) {
		if s.Temperatures == nil {
			s.Temperatures = map[string]temperature{}
		}
		s.Temperatures[key] = temperature{T: fit.Temperature, Records: records, Before: fit.ECEBefore, After: fit.ECEAfter}
	})
}

func printCalibration(r calibrateReport) {
	fmt.Fprintf(&stdout, "temperature %.3f (quartiles %.3f and %.3f over %d splits, %d decisions)\n", r.Temperature, r.Quartiles[0], r.Quartiles[1], r.Splits, r.Decisions)
	fmt.Fprintf(&stdout, "on held-out halves: ECE %.4f → %.4f · log loss %.4f → %.4f · Brier %.4f → %.4f\n",
		r.ECEBefore, r.ECEAfter, r.LossBefore, r.LossAfter, r.BrierBefore, r.BrierAfter)
	switch {
	case r.Saved:
		fmt.Fprintf(&stdout, "attached to %s\n", clean(r.Model))
	case r.ECEAfter >= r.ECEBefore:
		fmt.Fprintln(&stdout, "it does not make the model better calibrated here: leave it")
	default:
		fmt.Fprintln(&stdout, "add --save to attach it to the model")
	}
}
