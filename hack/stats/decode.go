package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// decodeRows are the benchmarks of reading traces, with their targets in million calls per second
// and core; 0: no target.
var decodeRows = []struct {
	benchmark, unit, what string // benchmark: prefix of its name
	target                float64
}{
	{"Cursor/timing=false", "cpu-ns/op", "stencil without timing", 20},
	{"Cursor/timing=true", "cpu-ns/op", "stencil with lossless timing", 10},
	{"CursorsOfShortRanks/aggregated", "cpu-ns/call", "1,024 ranks of 268 calls, without timing", 0},
	{"CursorsOfShortRanks/lossy", "cpu-ns/call", "1,024 ranks of 268 calls, timing within 5%", 0},
}

// newDecodeCommand makes the table of the Go benchmarks of cursors.
func newDecodeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "decode FILE", Short: "How fast calls are decoded (hack/bench-trace.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readBenchmarkFile(args[0])
			if err != nil {
				return err
			}
			printDecode(os.Stdout, all)
			return nil
		},
	}
}

func printDecode(to io.Writer, all []benchmark) {
	fmt.Fprintf(to, "%-44s %9s %9s\n", "decode", "target", "value")
	for _, b := range all {
		for _, row := range decodeRows {
			ns := b.values[row.unit]
			if !strings.HasPrefix(b.name, row.benchmark) || ns == 0 {
				continue
			}
			value, target, says := 1e3/ns, "", ""
			if row.target > 0 {
				target, says = fmt.Sprint(row.target), capital(value >= row.target)
			}
			fmt.Fprintf(to, "%-44s %9s %9.1f %s\n", row.what+", million calls/s/core", target, value, says)
		}
	}
}
