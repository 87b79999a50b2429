package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// maxEvidence is the target: the maximum part of the time that evidence may cost.
const maxEvidence = 0.001

// newGapsCommand makes the table of the cost of evidence for long computations. A line of its input
// is MPI, round, variant (without or with evidence), CPU time and length of a gap in ns.
func newGapsCommand() *cobra.Command {
	var mpis string
	c := &cobra.Command{
		Use: "gaps FILE", Short: "What evidence for long computations costs (hack/bench-tracer.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 3, 2, 2)
			if err != nil {
				return err
			}
			return printGaps(os.Stdout, byRound(all, 1), strings.Fields(mpis))
		},
	}
	c.Flags().StringVar(&mpis, "mpis", "", "the MPIs, in order")
	return c
}

func printGaps(to io.Writer, r rounds, mpis []string) error {
	const cpu, wall = 0, 1
	for _, mpi := range mpis {
		without, with := mpi+" without", mpi+" with"
		if err := r.check(without, with); err != nil {
			return err
		}
		added := median(less(r.column(with, cpu), r.column(without, cpu)))
		gaps := r.column(with, wall)
		gap := gaps[len(gaps)-1] // all are about equal, since the program sleeps in them
		fmt.Fprintf(to, "%-8s %.0f ns per gap of %.2f ms, %.3f%%: %s\n", mpi, added, gap/1e6, 100*added/gap, verdict(added <= maxEvidence*gap))
	}
	return nil
}
