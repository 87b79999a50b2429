// Command bench measures what Cairn costs and how good it is.
//
//	go run ./bench                  lists the cases: what each measures, against what, its target
//	go run ./bench NAME…            runs the case NAME, or all whose names begin with NAME-
//	go run ./bench compare OLD NEW  prints what differs by more than chance
//	go run ./bench plant            lists the kinds of planted problems; --kind runs one
//
// A case is an entry of the table in cases.txt and a function that measures. It prints a row for
// each measurement, with targets met or missed. out/bench has the same as JSON, a line for each
// value (type line), in a file for each measured tree. Figures are ratios and differences of runs
// in turns wherever possible, since a machine has other load. A missed target is an error.
//
// TREES has the folders of the built trees to measure, this one unless given. Several are measured
// in turns, round by round, so that other load affects all of them alike; ROUNDS is how often. The
// measured programs and Go benchmarks are those of the tree. The measuring code and the MPI
// programs are those of this tree, and so is what examines simulated plants (case verdict). compare
// takes two of the files; it is an error if anything got worse.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{
		Use: "bench [CASE…]", Short: "Measure what Cairn costs and how good it is, or list the cases",
		Args: cobra.ArbitraryArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(c *cobra.Command, names []string) error {
			if len(names) == 0 {
				_, err := fmt.Print(table)
				return err
			}
			return runCases(c.Context(), names)
		},
	}
	root.AddCommand(newCompareCommand(), newPlantCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A tree is a checkout of this repository that has been built.
type tree struct {
	folder, name string // the name is the output of git describe
	report
}

// openTrees checks that each folder is a built tree, and gives each a unique name.
func openTrees(folders []string) ([]*tree, error) {
	var trees []*tree
	for _, folder := range folders {
		folder, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		for _, built := range []string{"bin/cairn", "lib/libcairn-mpich.so"} {
			if _, err := os.Stat(filepath.Join(folder, built)); err != nil {
				return nil, fmt.Errorf("%s is not built: run make build in it: %w", folder, err)
			}
		}
		name, err := output(exec.Command("git", "-C", folder, "describe", "--tags", "--always",
			"--dirty"))
		if err != nil {
			return nil, err
		}
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(trees, func(t *tree) bool { return t.name == name }) {
			name = fmt.Sprintf("%s-%d", name, len(trees)+1) // the same tree twice, to see the noise
		}
		trees = append(trees, &tree{folder: folder, name: name})
	}
	return trees, nil
}

// runCases runs cases on all trees. Every second round visits the trees in reverse order.
func runCases(ctx context.Context, names []string) error {
	of, err := chosen(names)
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	trees, err := openTrees(strings.Fields(cmp.Or(os.Getenv("TREES"), ".")))
	if err != nil {
		return err
	}
	// ranks run as root, and examples sleep to compute: there are more ranks than processors
	environment := []string{
		"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "EXAMPLES_SLEEP",
	}
	for _, name := range environment {
		if err := os.Setenv(name, "1"); err != nil {
			return err
		}
	}
	folder := filepath.Join("out", "bench")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, t := range trees {
		path := filepath.Join(folder, strings.Join(names, "+")+"-"+t.name+".jsonl")
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		defer file.Close()
		defer fmt.Println(path)
		t.report = report{to: os.Stdout, results: file}
	}
	failed := 0
	for _, c := range of {
		rounds, err := strconv.Atoi(c.param("ROUNDS"))
		if err != nil || rounds < 1 {
			return fmt.Errorf("ROUNDS=%s: it is how often each case runs, at least once", c.param("ROUNDS"))
		}
		for round := range rounds {
			for _, t := range trees {
				fmt.Printf("\n%s: %s [%s, round %d of %d]\n", c.name, c.about, t.name, round+1, rounds)
				b := &bench{report: &t.report, ctx: ctx, of: c, root: root, folder: t.folder}
				if err := b.measure(); err != nil {
					failed++
					fmt.Fprintln(os.Stderr, "bench:", err)
				}
				b.head = ""
			}
			slices.Reverse(trees)
		}
	}
	return summary(trees, failed)
}

// summary is an error if a target was missed or a case failed.
func summary(trees []*tree, failed int) error {
	judged, missed := 0, 0
	for _, t := range trees {
		judged, missed = judged+t.judged, missed+t.missed
	}
	if missed+failed > 0 {
		return fmt.Errorf("%d of %d targets are missed, %d runs of cases failed", missed, judged, failed)
	}
	if judged == 0 {
		fmt.Println("\nno case has a target")
		return nil
	}
	fmt.Printf("\nall %d targets are met\n", judged)
	return nil
}
