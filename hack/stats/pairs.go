package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"
)

// The number of samples of the bootstrap, and the part of them below the upper bound.
const (
	samples    = 10000
	confidence = 0.95
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

func printPairs(to io.Writer, pairs []measurement, mpi, kernel string, target float64, least int) {
	var without, with float64
	for _, p := range pairs {
		without += p.numbers[0]
		with += p.numbers[1]
	}
	n, upper := len(pairs), upperBound(pairs)
	says := verdict(upper <= target)
	if n < least {
		says = fmt.Sprintf("no verdict below %d pairs", least)
	}
	fmt.Fprintf(to, "%-8s %-6s %5d %10.2f %10.2f %7.4f %7.4f %s\n", mpi, kernel, n, without/float64(n), with/float64(n), with/without, upper, says)
}

// upperBound returns the 95th percentile of the ratio over bootstrap samples of the pairs. It is
// deterministic.
func upperBound(pairs []measurement) float64 {
	chance := rand.New(rand.NewPCG(1, 1))
	ratios := make([]float64, samples)
	for i := range ratios {
		var without, with float64
		for range pairs {
			p := pairs[chance.IntN(len(pairs))]
			without += p.numbers[0]
			with += p.numbers[1]
		}
		ratios[i] = with / without
	}
	slices.Sort(ratios)
	return stat.Quantile(confidence, stat.Empirical, ratios, nil)
}
