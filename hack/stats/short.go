package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Targets of `cairn run` for a program whose calls hardly repeat: CPU time that it adds.
const (
	shortSeconds = 1.0
	shortMicros  = 2.0 // for each call
)

// newShortCommand makes the row of a program that was run without and with `cairn run`. Its
// arguments are the calls of all ranks, the CPU seconds of the program and of the traced run with
// everything that follows it, and those without the analysis `program`.
func newShortCommand() *cobra.Command {
	return &cobra.Command{
		Use: "short MPI KIND CALLS NATIVE-CPU TRACED-CPU ANALYZE-CPU OTHER-ANALYSES-CPU", Short: "What cairn run adds to short irregular programs (hack/bench-short.sh)",
		Args: cobra.ExactArgs(7),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[2:])
			if err != nil {
				return err
			}
			calls, added := n[0], n[2]-n[1]
			program := n[3] - n[4]
			limit := shortSeconds + shortMicros*calls/1e6
			fmt.Printf("%-8s %-12s %10.0f %10.2f %10.2f %10.2f %12.2f %8.2f%s\n", args[0], args[1], calls, n[1], added, program, added-program,
				limit, missed(added-program <= limit))
			return nil
		},
	}
}
