package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// mergeTargets are the maximum seconds and MiB of merges, by pattern and ranks.
var mergeTargets = map[string]struct{ seconds, mib float64 }{"stencil2d 16384": {2, 256}, "stencil2d 1048576": {60, 512}}

// newMergeCommand makes the row of a merge. USAGE and INFO are files with lines of `stats usage`,
// of the steps of the merge and of reading its trace.
func newMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "merge PATTERN RANKS SHARDS SHARD-BYTES WALL TRACE-BYTES USAGE INFO", Short: "What a merge takes (hack/bench-merge.sh)", Args: cobra.ExactArgs(8),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[2:6])
			if err != nil {
				return err
			}
			steps, err := readFile(args[6], 0, 4, 4)
			if err != nil {
				return err
			}
			info, err := readFile(args[7], 0, 4, 4)
			if err != nil {
				return err
			}
			printMerge(os.Stdout, args[0], args[1], n, steps, info)
			return nil
		},
	}
}

func printMerge(to io.Writer, pattern, ranks string, n []float64, steps, info []measurement) {
	shards, bytes, seconds, trace := n[0], n[1], n[2], n[3]
	var cpu, peak, look float64
	for _, s := range steps {
		cpu, peak = cpu+s.numbers[1], max(peak, s.numbers[2]/1024)
	}
	for _, i := range info {
		look = max(look, i.numbers[2]/1024)
	}
	result := ""
	if t, judged := mergeTargets[pattern+" "+ranks]; judged {
		result = "miss"
		switch {
		case peak > t.mib:
		case seconds <= t.seconds:
			result = "pass"
		case cpu/2 <= t.seconds:
			// With other load on the machine the wall-clock time means little: two free cores would
			// take half of the CPU time.
			result = "miss by the clock; half of the CPU time would pass"
		}
		result = fmt.Sprintf("%g s, %g MiB: %s", t.seconds, t.mib, result)
	}
	fmt.Fprintf(to, "%-14s %8s %7.0f %12.0f %8.2f %8.2f %9.0f %12.0f %9.0f  %s\n", pattern, ranks, shards, bytes, cpu, seconds, peak, trace, look, result)
}
