package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{
		Use: "mutants", Short: "Ask whether the tests would notice a mistake",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(newDrawCommand(), newRunCommand(), newShimCommand(), newCompareCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

var (
	ownFolder = filepath.Join("out", "mutants")
	listFile  = filepath.Join(ownFolder, "list.jsonl")
)

func newDrawCommand() *cobra.Command {
	var folder, out string
	var seed uint64
	var n int
	c := &cobra.Command{
		Use: "draw", Short: "Choose mutants by a seed", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 {
				return fmt.Errorf("-n %d: how many mutants, at least one", n)
			}
			t, err := openTree(c.Context(), folder)
			if err != nil {
				return err
			}
			list, err := draw(c.Context(), t, seed, n)
			if err != nil {
				return err
			}
			if err := os.RemoveAll(out); err != nil {
				return err
			}
			for _, m := range list {
				if err := appendLine(out, m); err != nil {
					return err
				}
			}
			fmt.Printf("%d mutants of seed %d in %s\n", n, seed, out)
			return nil
		},
	}
	c.Flags().StringVar(&folder, "tree", ".", "the checkout")
	c.Flags().Uint64Var(&seed, "seed", 1, "which mutants")
	c.Flags().IntVarP(&n, "number", "n", 270, "how many")
	c.Flags().StringVarP(&out, "output", "o", listFile, "file for the list")
	return c
}

func newRunCommand() *cobra.Command {
	var folder, list, before string
	r := &runner{}
	c := &cobra.Command{
		Use: "run", Short: "Run the tests that reach each mutant until one fails", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			mutants, err := readLines[mutant](list)
			if err != nil {
				return err
			}
			if len(mutants) == 0 {
				return fmt.Errorf("%s has no mutants; make the list with: mutants draw", list)
			}
			if r.folder, err = filepath.Abs(r.folder); err != nil {
				return err
			}
			results, err := readResults(before)
			if err != nil {
				return err
			}
			r.hints = map[mutant]string{}
			for key, b := range results {
				r.hints[key] = b.Test
			}
			if r.tree, err = openTree(c.Context(), folder); err != nil {
				return err
			}
			return r.run(c.Context(), mutants)
		},
	}
	c.Flags().StringVar(&folder, "tree", ".", "the checkout")
	c.Flags().StringVar(&list, "list", listFile, "the mutants")
	c.Flags().StringVar(&r.folder, "dir", ownFolder, "what is known of this tree, and the results")
	c.Flags().BoolVar(&r.short, "short", false, "only the tests of make test, instead of all")
	c.Flags().Float64Var(&r.budget, "budget", 120, "seconds of a package's tests for one mutant")
	c.Flags().StringVar(&before, "before", "", "results of another tree: its tests run first")
	return c
}

func newShimCommand() *cobra.Command {
	r := &shimRunner{}
	c := &cobra.Command{
		Use: "shim", Short: "Run MPI programs with faults in the tracer's C code", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if r.folder, err = filepath.Abs(r.folder); err != nil {
				return err
			}
			return r.run(c.Context())
		},
	}
	c.Flags().StringVar(&r.root, "tree", ".", "the checkout: its last commit is built")
	c.Flags().StringVar(&r.folder, "dir", ownFolder, "the copy of the tree, and the results")
	c.Flags().BoolVar(&r.short, "short", false, "only the tests of make test, instead of all")
	return c
}

var errLost = errors.New("mutants that tests noticed before are not noticed now")

func newCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compare BEFORE AFTER", Short: "List mutants that are no longer noticed",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var results [2]map[mutant]result
			for i, name := range args {
				var err error
				if results[i], err = readResults(name); err != nil {
					return err
				}
				if len(results[i]) == 0 {
					return fmt.Errorf("%s has no results", name)
				}
				for _, r := range results[i] {
					if r.Outcome == "" {
						return fmt.Errorf("%s is no file of results: mutant %d has no outcome", name, r.Number)
					}
				}
			}
			if compare(os.Stdout, results[0], results[1]) > 0 {
				return errLost
			}
			return nil
		},
	}
}
