package main

import "github.com/spf13/cobra"

// commands returns every subcommand.
func commands(c *common) []*cobra.Command {
	return []*cobra.Command{
		newDecide(c), newEncode(c), newModels(c), newServe(c), newEval(c), newCompare(c), newCalibrate(c), newDoctor(c), newBench(c), newHistory(c), newVersion(c),
	}
}
