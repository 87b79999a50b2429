package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Targets of timing.
const (
	minTimedCalls = 10  // million calls read per CPU second
	maxBytes5     = 1.4 // per call, at 5%
	maxBytes20    = 1.0 // per call, at 20%
	maxBeyondKT   = 1.1 // times the Krichevsky-Trofimov code length
)

// newTimingCommand makes the table of the Go benchmark TimingOf of package trace.
func newTimingCommand() *cobra.Command {
	return &cobra.Command{
		Use: "timing FILE", Short: "What timing takes and how fast it is read (hack/bench/timing.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readBenchmarkFile(args[0])
			if err != nil {
				return err
			}
			return printTiming(os.Stdout, all)
		},
	}
}

func printTiming(to io.Writer, all []benchmark) error {
	const format = "%-44s %9.2f %9.2f %9s %s\n"
	fmt.Fprintf(to, "%-44s %9s %9s %9s\n", "timing, 4 ranks", "target", "value", "KT")
	rows := 0
	for _, b := range all {
		switch parts := strings.Split(b.name, "/"); {
		case len(parts) == 3 && parts[1] == "cursor":
			value := b.values["Mcalls/cpu-s"]
			fmt.Fprintf(to, format, "cursor "+parts[2]+", Mcalls/cpu-s", float64(minTimedCalls), value, "", capital(value >= minTimedCalls))
			rows++
		case len(parts) == 4 && parts[1] == "size":
			value, kt, target := b.values["bytes/call"], b.values["KT-bytes/call"], maxBytes20
			if parts[3] == "5%" {
				target = maxBytes5
			}
			says := capital(value <= target) + ", within 10% of KT: " + capital(value <= maxBeyondKT*kt)
			fmt.Fprintf(to, format, parts[2]+" at "+parts[3]+", bytes/call", target, value, fmt.Sprintf("%.2f", kt), says)
			rows++
		}
	}
	if rows == 0 {
		return fmt.Errorf("there are no benchmarks of timing")
	}
	return nil
}
