// Command stats computes the tables of the benchmarks in hack/ from their measurements.
//
// Some commands make a table of a file with a line for each measurement; what differs and by what ratio is computed within a
// round there, and medians are over rounds: the machine may do other things too. Others make one row, of their arguments. `usage`
// and `field` help to measure. Each table is a file here, which says what the columns of its input are.
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
		newAnalyzeCommand(), newMemoryCommand(), newIrregularCommand(), newMergeCommand(), newClustersCommand(),
		newClusteredRunCommand(), newClusteringCommand(), newHistogramCommand(), newRatesCommand(), newHeldBackCommand(), newSimgridCommand())
	if err := root.Execute(); err != nil {
		if !errors.Is(err, errMissed) { // which the table says
			fmt.Fprintln(os.Stderr, "stats:", err)
		}
		os.Exit(1)
	}
}
