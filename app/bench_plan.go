package main

import (
	"fmt"

	"clefbar/metal"
)

// printPlan prints what decisions would take on a chip, beside published rows. It runs nothing.
func (c *common) printPlan(chip string) error {
	rows, err := metal.Plan(chip)
	if err != nil {
		return usage("--plan: %v", err)
	}
	if c.json {
		return printJSON(map[string]any{"chip": chip, "measured": false, "rows": rows})
	}
	_, err = fmt.Print(metal.FormatPlan(chip, rows))
	return err
}
