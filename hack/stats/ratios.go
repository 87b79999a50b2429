package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat"
)

// minGeometricMean is the target: the factor by which traces are smaller than the peer's.
const minGeometricMean = 10

// newRatiosCommand computes the geometric mean of ratios. A line of the input is the bytes of the
// peer and of Cairn.
func newRatiosCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ratios FILE", Short: "How much smaller traces are than the peer's (hack/bench-trace.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 0, 2, 2)
			if err != nil {
				return err
			}
			if len(all) == 0 {
				return fmt.Errorf("%s: there are no rows", args[0])
			}
			var ratios []float64
			for _, m := range all {
				ratios = append(ratios, m.numbers[0]/m.numbers[1])
			}
			mean := stat.GeometricMean(ratios, nil)
			says := "pass"
			if mean < minGeometricMean {
				says = "MISS"
			}
			fmt.Printf("geometric mean over the %d rows where Pilgrim writes 2 KB or more: %.1fx (target %dx) %s\n", len(all), mean, minGeometricMean, says)
			return nil
		},
	}
}
