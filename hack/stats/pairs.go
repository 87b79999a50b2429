package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/hack/paired"
)

// newPairsCommand makes the row of the pairs of runs of a program. A line of the input is the CPU
// seconds without and with the tracer. The ratio is that of the sums. Its upper bound is that of
// 95% of bootstrap samples of the pairs.
func newPairsCommand() *cobra.Command {
	var mpi, kernel string
	var target float64
	var least int
	c := &cobra.Command{
		Use: "pairs FILE", Short: "CPU time with the tracer and without (hack/bench-tracer-npb.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 0, 2, 2)
			if err != nil {
				return err
			}
			printPairs(os.Stdout, all, mpi, kernel, target, least)
			return nil
		},
	}
	c.Flags().StringVar(&mpi, "mpi", "", "for the first column")
	c.Flags().StringVar(&kernel, "kernel", "", "for the second column")
	c.Flags().Float64Var(&target, "target", 1, "largest allowed upper bound")
	c.Flags().IntVar(&least, "least", 1, "fewer pairs than these give no verdict")
	return c
}

func printPairs(to io.Writer, all []measurement, mpi, kernel string, target float64, least int) {
	var without, with float64
	var pairs []paired.Pair
	for _, m := range all {
		without += m.numbers[0]
		with += m.numbers[1]
		pairs = append(pairs, paired.Pair{Without: m.numbers[0], With: m.numbers[1]})
	}
	n := len(pairs)
	_, _, upper := paired.Ratio(pairs)
	says := verdict(upper <= target)
	if n < least {
		says = fmt.Sprintf("no verdict below %d pairs", least)
	}
	fmt.Fprintf(to, "%-8s %-6s %5d %10.2f %10.2f %7.4f %7.4f %s\n", mpi, kernel, n, without/float64(n), with/float64(n), with/without, upper, says)
}
