package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// newStartCommand makes the table of the total cost for a process that makes some calls and exits.
// A line of its input is MPI, round, variant (alone; short: no core is needed; core), and the
// output of hack/bench/start.c: a word, CPU and wall-clock time in ns.
func newStartCommand() *cobra.Command {
	var mpis string
	c := &cobra.Command{
		Use: "start FILE", Short: "What the start costs (hack/bench-tracer.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 4, 2, 2)
			if err != nil {
				return err
			}
			return printStart(os.Stdout, byRound(all, 1), strings.Fields(mpis))
		},
	}
	c.Flags().StringVar(&mpis, "mpis", "", "the MPIs, in order")
	return c
}

func printStart(to io.Writer, r rounds, mpis []string) error {
	const cpu, wall = 0, 1
	for _, mpi := range mpis {
		for _, v := range []struct{ name, says string }{{"short", "no core is needed"}, {"core", "the core is needed"}} {
			alone, traced := mpi+" alone start", mpi+" "+v.name+" start"
			if err := r.check(alone, traced); err != nil {
				return err
			}
			ms := func(ns []float64) float64 { return median(ns) / 1e6 }
			fmt.Fprintf(to, "%-8s %-27s %.2f ms of CPU time added to %.2f, %.2f ms of wall time\n", mpi, v.says,
				ms(less(r.column(traced, cpu), r.column(alone, cpu))), ms(r.column(alone, cpu)),
				ms(less(r.column(traced, wall), r.column(alone, wall))))
		}
	}
	return nil
}
