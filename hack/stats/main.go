// Command stats computes the tables of the benchmarks in hack/ from their measurements.
//
//	go run ./hack/stats tracer --mpis 'openmpi mpich' --threads '1 4' --calls … --configs … FILE
//	go run ./hack/stats start --mpis … FILE
//	go run ./hack/stats gaps --mpis … FILE
//	go run ./hack/stats pairs --mpi … --kernel … FILE
//	go run ./hack/stats added --mpi … WITHOUT WITH
//	go run ./hack/stats ratios FILE
//	go run ./hack/stats clusters FILE
//
// The input is a file with one line for each measurement. The output is a table. Its differences
// and ratios are computed within a round, because the machine may have other load, and its medians
// over the rounds. Each table has a file here, which documents the columns of its input.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "stats", Short: "Tables of what benchmarks have measured", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(newTracerCommand(), newStartCommand(), newGapsCommand(), newPairsCommand(), newAddedCommand(),
		newRatiosCommand(), newClustersCommand())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "stats:", err)
		os.Exit(1)
	}
}
