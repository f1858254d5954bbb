package main

import "github.com/spf13/cobra"

// commands returns every subcommand.
func commands(c *common) []*cobra.Command {
	return []*cobra.Command{
		newDecide(c), newEncode(c), newModels(c), newServe(c), newBench(c), newVersion(c),
	}
}
