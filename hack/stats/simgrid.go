package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"
)

// newSimgridCommand makes the row of a trace: the seconds predicted by cairn predict and by
// SimGrid. TARGET is the maximum difference in percent; 0: no target.
func newSimgridCommand() *cobra.Command {
	return &cobra.Command{
		Use: "simgrid NAME MESSAGES TARGET PREDICTED SIMULATED", Short: "SimGrid as a judge of cairn predict (hack/bench-simgrid.sh)", Args: cobra.ExactArgs(5),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[2:])
			if err != nil {
				return err
			}
			printSimgrid(os.Stdout, args[0], args[1], n[0], n[1], n[2])
			return nil
		},
	}
}

func printSimgrid(to io.Writer, name, messages string, target, predicted, simulated float64) {
	off, says := 100*(predicted/simulated-1), ""
	switch {
	case target == 0:
	case math.Abs(off) <= target:
		says = "met"
	default:
		says = "MISSED"
	}
	fmt.Fprintf(to, "%-22s %-10s %12.3f %12.3f %+8.2f%%  %s\n", name, messages, predicted*1e3, simulated*1e3, off, says)
}
