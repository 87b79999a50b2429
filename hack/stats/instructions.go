package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// newInstructionsCommand makes the row of a call. COUNTS are the instructions of the calling thread
// and of all threads in four runs: without the tracer with few and with many calls, and with it the
// same. CALLS is the difference between many and few.
func newInstructionsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "instructions MPI CALL VARIANT CALLS COUNTS…", Short: "Instructions added per call (hack/bench-tracer.sh)", Args: cobra.ExactArgs(12),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[3:])
			if err != nil {
				return err
			}
			printInstructions(os.Stdout, args[0], args[1], args[2], n[0], n[1:])
			return nil
		},
	}
}

func printInstructions(to io.Writer, mpi, call, variant string, calls float64, counts []float64) {
	added := func(k int) float64 { // k = 0: of the calling thread; 1: of all threads
		without, with := counts[2+k]-counts[k], counts[6+k]-counts[4+k]
		return (with - without) / calls
	}
	fmt.Fprintf(to, "%-8s %-20s %-10s %8.0f %8.0f\n", mpi, call, variant, added(0), added(1))
}
