package main

import (
	"fmt"
	"io"
	"os"
	"path"

	"github.com/spf13/cobra"
)

// clusterTargets are the maximum seconds of each benchmark of groups of ranks, in the order of the
// table.
var clusterTargets = []struct {
	what    string
	seconds float64
}{{"groups", 1}, {"program", 5}, {"topology", 60}}

// newClustersCommand makes the table of the Go benchmark Clusters: seconds and MiB.
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
	all, err := readBenchmarks(from)
	if err != nil {
		return err
	}
	costs := map[string]map[string]float64{}
	for _, b := range all {
		costs[path.Base(b.name)] = b.values
	}
	fmt.Fprintf(to, "%-10s %10s %10s %8s  %s\n", "what", "seconds", "target", "MiB", "")
	met := true
	for _, t := range clusterTargets {
		c, measured := costs[t.what]
		if !measured {
			return fmt.Errorf("the benchmark has no result for %s", t.what)
		}
		says := "pass"
		seconds := c["ns/op"] / 1e9
		if seconds >= t.seconds {
			says, met = "MISS", false
		}
		fmt.Fprintf(to, "%-10s %10.3f %10s %8.0f  %s\n", t.what, seconds, fmt.Sprintf("< %g", t.seconds), c["MiB"], says)
	}
	return missedUnless(met)
}
