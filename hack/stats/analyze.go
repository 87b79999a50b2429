package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// Targets of the analysis.
const (
	billionSeconds  = 480
	maxGrowth       = 1.3 // of memory and of CPU time per event, with the number of events
	maxSpooledBytes = 5e9
	maxPageMiB      = 3
)

// maxEventMicros is the maximum CPU time per event in µs, by number of ranks.
var maxEventMicros = map[float64]float64{16: 0.5, 256: 0.8, 1024: 1.0}

// newAnalyzeCommand makes the row of a trace that becomes a report. Its arguments are ranks,
// events, the output of `stats usage`, and the bytes of index.html and report.json.
func newAnalyzeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "analyze RANKS EVENTS WALL CPU KIB FILE-BYTES PAGE-BYTES JSON-BYTES", Short: "How fast a trace becomes a report (hack/bench-analyze.sh)",
		Args: cobra.ExactArgs(8),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args)
			if err != nil {
				return err
			}
			printAnalyze(os.Stdout, n[0], n[1], usage{n[2], n[3], n[4], n[5]}, n[6], n[7])
			return nil
		},
	}
}

func printAnalyze(to io.Writer, ranks, events float64, u usage, page, json float64) {
	each, memory, mib := u.cpu/events*1e6, u.memory/1024, page/(1<<20)
	billion, large := events > 500e6, events > 50e6 || ranks >= 16384
	limit, limited := maxEventMicros[ranks]
	fast := (!limited || each <= limit) && (!billion || u.wall <= billionSeconds)
	small := !large || memory <= 1024 || billion && memory <= 2048
	fmt.Fprintf(to, "%6.0f %12.0f %12.2f %10.2f%-9s %8.0f%-9s %8.0f%-9s %8.2f%-9s %8.2f\n", ranks, events, events/u.wall/1e6,
		each, missed(fast), memory, missed(small), u.files/1e6, missed(u.files <= maxSpooledBytes), mib, missed(mib < maxPageMiB), json/(1<<20))
}

// newMemoryCommand makes the row of two ranks that wait for each other. Its arguments are the
// number of events, and the peak memory in KiB for an eighth of them and for all.
func newMemoryCommand() *cobra.Command {
	return &cobra.Command{
		Use: "memory EVENTS EIGHTH-KIB ALL-KIB", Short: "How memory grows with the trace (hack/bench-analyze.sh)", Args: cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args)
			if err != nil {
				return err
			}
			few, many := n[1]/1024, n[2]/1024
			fmt.Printf("%6d %12.0f %16.0f %12.0f %8.2f%s\n", 2, n[0], few, many, many/few, missed(many <= maxGrowth*few))
			return nil
		},
	}
}

// newIrregularCommand makes the row of a command on an irregular program. Its arguments are the
// calls and CPU seconds of a quarter of the trace and of all of it.
func newIrregularCommand() *cobra.Command {
	return &cobra.Command{
		Use: "irregular NAME RANKS COMMAND QUARTER-CALLS QUARTER-CPU CALLS CPU", Short: "How CPU time grows with the trace (hack/bench-analyze.sh)",
		Args: cobra.ExactArgs(7),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[3:])
			if err != nil {
				return err
			}
			few, many := n[1]/n[0]*1e6, n[3]/n[2]*1e6
			fmt.Printf("%-14s %6s %12.0f %-10s %12.2f %12.2f %8.2f%s\n", args[0], args[1], n[2], args[2], few, many, many/few, missed(many <= maxGrowth*few))
			return nil
		},
	}
}

// missed returns the suffix of a value in a table.
func missed(met bool) string {
	if met {
		return ""
	}
	return " (missed)"
}
