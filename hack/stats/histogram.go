package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// maxMiddleOff is the maximum error in percent of the median duration.
const maxMiddleOff = 25

const exactSums = "calls by function off by 0%, bytes by 0%, time by 0%, time of the run by 0%"

var (
	saidSums   = regexp.MustCompile(`(?m)^compared with the whole trace: (.*); the middle`)
	saidMiddle = regexp.MustCompile(`durations of a call by ([0-9.]*)%`)
	saidMatrix = regexp.MustCompile(`relative L1 error ([0-9.]*)\)`)
)

// newHistogramCommand makes the row of a trace of histograms. SAID is a file with the output of
// cairn reduce --histogram.
func newHistogramCommand() *cobra.Command {
	var first, most float64
	c := &cobra.Command{
		Use: "histogram NAME TRACE-BYTES BYTES SAID", Short: "What a trace of histograms is (hack/bench-histogram.sh)", Args: cobra.ExactArgs(4),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[1:3])
			if err != nil {
				return err
			}
			said, err := os.ReadFile(args[3])
			if err != nil {
				return err
			}
			return printHistogram(os.Stdout, args[0], n[0], n[1], first, most, string(said))
		},
	}
	c.Flags().Float64Var(&first, "first", 0, "bytes of the histograms that it is compared with; 0: of none")
	c.Flags().Float64Var(&most, "most", 1, "how many times as large it may be")
	return c
}

func printHistogram(to io.Writer, name string, trace, bytes, first, most float64, said string) error {
	found := func(what *regexp.Regexp) string {
		if m := what.FindStringSubmatch(said); m != nil {
			return m[1]
		}
		return "?"
	}
	growth := 1.0
	if first > 0 {
		growth = bytes / first
	}
	sums, middle := found(saidSums), found(saidMiddle)
	off, err := strconv.ParseFloat(middle, 64)
	met := growth <= most && sums == exactSums && err == nil && off <= maxMiddleOff
	if strings.HasSuffix(sums, strings.TrimPrefix(exactSums, "calls by function off ")) {
		sums = "exact"
	}
	fmt.Fprintf(to, "%-26s %10.0f %8.0f %7.3f %8s  sums %s; middle of durations %s%% (≤ %d%%); matrix %s  %s\n", name, trace, bytes, growth,
		fmt.Sprintf("≤ %g", most), sums, middle, maxMiddleOff, found(saidMatrix), capital(met))
	return missedUnless(met)
}
