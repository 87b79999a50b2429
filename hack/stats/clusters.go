package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchfmt"
)

// clusterTargets are the maximum seconds of each benchmark of groups of ranks, in the order of the
// table.
var clusterTargets = []struct {
	what    string
	seconds float64
}{{"groups", 1}, {"program", 5}, {"topology", 60}}

// The table of a Go benchmark, Clusters: seconds and MiB.
func newClustersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "clusters FILE", Short: "Groups, program text and topology of many ranks (hack/bench-clusters.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			return printClusters(os.Stdout, file)
		},
	}
}

func printClusters(to io.Writer, from io.Reader) error {
	type cost struct{ seconds, mib float64 }
	costs := map[string]cost{}
	for r := benchfmt.NewReader(from, "the benchmark's output"); r.Scan(); {
		if result, ok := r.Result().(*benchfmt.Result); ok {
			seconds, _ := result.Value("sec/op")
			mib, _ := result.Value("MiB")
			what, _, _ := strings.Cut(path.Base(string(result.Name.Full())), "-")
			costs[what] = cost{seconds, mib}
		}
	}
	fmt.Fprintf(to, "%-10s %10s %10s %8s  %s\n", "what", "seconds", "target", "MiB", "")
	missed := false
	for _, t := range clusterTargets {
		c, measured := costs[t.what]
		if !measured {
			return fmt.Errorf("the benchmark has no result for %s", t.what)
		}
		says := "pass"
		if c.seconds >= t.seconds {
			says, missed = "MISS", true
		}
		fmt.Fprintf(to, "%-10s %10.3f %10s %8.0f  %s\n", t.what, c.seconds, fmt.Sprintf("< %g", t.seconds), c.mib, says)
	}
	if missed {
		return fmt.Errorf("a target was missed")
	}
	return nil
}
