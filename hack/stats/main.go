// Command stats makes the tables of the benchmarks in hack/ of what these have measured.
//
//	go run ./hack/stats tracer --mpis 'openmpi mpich' --threads '1 4' --calls … --configs … FILE
//	go run ./hack/stats start --mpis … FILE
//	go run ./hack/stats gaps --mpis … FILE
//	go run ./hack/stats pairs --mpi … --kernel … FILE
//	go run ./hack/stats added --mpi … WITHOUT WITH
//	go run ./hack/stats ratios FILE
//	go run ./hack/stats clusters FILE
//
// In goes a file with a line for each measurement; out comes a table in which differences and ratios are those within a
// round, and medians are over rounds: the machine may do other things too. Each table is a file here, which says what
// the columns of its input are.
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
