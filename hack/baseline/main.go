// Command baseline measures what a tree of this repository costs, and compares two such
// measurements.
//
//	go run ./hack/baseline measure [--rounds 5] [-o FOLDER] TREE…
//	go run ./hack/baseline compare OLD NEW
//
// measure takes the folders of built trees (make build) and writes one file for each: sizes of
// built files, bytes of traces, CPU time and peak memory of the commands that read traces, and
// instructions that the tracer adds to an MPI call. Several trees are measured in turns, round by
// round, so that other load on the machine affects all of them alike. The measured programs are
// those of the tree. The measuring code is that of this tree.
//
// compare takes two of the files and prints what differs by more than chance. It exits with 1 if
// anything got worse.
//
// The files are in Go's benchmark format (https://go.dev/design/14313-benchmark-format), which
// benchstat (golang.org/x/perf/cmd/benchstat) reads, too.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{
		Use: "baseline", Short: "Measure what built trees cost, and compare two measurements",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(newMeasureCommand(), newCompareCommand())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "baseline:", err)
		os.Exit(1)
	}
}

func newMeasureCommand() *cobra.Command {
	var out string
	plan := plan{log: os.Stderr}
	c := &cobra.Command{
		Use: "measure TREE…", Short: "Measure built trees in turns and write a file for each", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			trees, err := openTrees(args)
			if err != nil {
				return err
			}
			if err := plan.run(trees); err != nil {
				return err
			}
			return writeAll(out, trees)
		},
	}
	c.Flags().IntVar(&plan.rounds, "rounds", 5, "how often commands and calls are measured; fewer than 4 cannot show a difference")
	c.Flags().StringVar(&plan.only, "only", "", "measure only this: sizes, commands or instructions")
	c.Flags().StringVarP(&out, "output", "o", filepath.Join("out", "baseline"), "folder for the files, named for the trees")
	return c
}

var errWorse = errors.New("something got worse")

func newCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compare OLD NEW", Short: "Say what differs by more than chance between two measurements", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			before, err := readFile(args[0])
			if err != nil {
				return err
			}
			after, err := readFile(args[1])
			if err != nil {
				return err
			}
			if printChanges(os.Stdout, compare(before, after)) {
				return errWorse
			}
			return nil
		},
	}
}
