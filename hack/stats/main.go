// Command stats computes the tables of the benchmarks in hack/ from their measurements.
//
// Some commands make a table of a file with a line for each measurement. They compute differences
// and ratios within a round, and medians over rounds, since the machine may have other load. Other
// commands make a single row of their arguments. `usage` and `field` are used to measure. Each
// table has a file in this package, which describes the columns of its input.
//
//	go run ./hack/stats --help
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "stats", Short: "Tables of what benchmarks have measured", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(newUsageCommand(), newFieldCommand(),
		newTracerCommand(), newStartCommand(), newGapsCommand(), newPairsCommand(), newAddedCommand(), newInstructionsCommand(),
		newFortranCommand(), newPythonCommand(), newTimingCommand(),
		newRatiosCommand(), newBesideCommand(), newSimulatedCommand(), newSizeCommand(), newReadingsCommand(), newDecodeCommand(),
		newAnalyzeCommand(), newMemoryCommand(), newIrregularCommand(), newShortCommand(), newMergeCommand(), newClustersCommand(),
		newClusteredRunCommand(), newClusteringCommand(), newHistogramCommand(), newRatesCommand(), newHeldBackCommand(), newSimgridCommand())
	if err := root.Execute(); err != nil {
		if !errors.Is(err, errMissed) { // already shown in the table
			fmt.Fprintln(os.Stderr, "stats:", err)
		}
		os.Exit(1)
	}
}
