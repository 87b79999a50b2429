package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "apps", Short: "Run real MPI programs natively and traced", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(newRunCommand(), newTableCommand(), newPackagesCommand(), newVersionsCommand(), newMeasureCommand(), newPerfettoCommand())
	err := root.ExecuteContext(ctx)
	stop()
	var code exitCode
	switch {
	case errors.As(err, &code):
		os.Exit(int(code))
	case err != nil:
		fmt.Fprintln(os.Stderr, "apps:", err)
		os.Exit(1)
	}
}

// results is where runs are made and what was measured is kept.
var results = filepath.Join("out", "apps")

var errRed = errors.New("the table has checks that fail without being known, or known failures that pass")

func newRunCommand() *cobra.Command {
	only := slices.Clone(parts)
	c := &cobra.Command{
		Use: "run [PROGRAM…]", Short: "Run programs, check them and print the table",
		RunE: func(c *cobra.Command, names []string) error {
			for _, part := range only {
				if !slices.Contains(parts, part) {
					return fmt.Errorf("--only %s: the parts are %s", part, strings.Join(parts, ", "))
				}
			}
			corpus, cases, err := selected(names)
			if err != nil {
				return err
			}
			d, err := newDriver(corpus)
			if err != nil {
				return err
			}
			for _, e := range cases {
				if err := d.run(c.Context(), e, only); err != nil {
					return err
				}
			}
			return printTable(os.Stdout, corpus, cases)
		},
	}
	c.Flags().StringSliceVar(&only, "only", only, "redo only these parts; the others are those of an earlier call")
	return c
}

func newTableCommand() *cobra.Command {
	return &cobra.Command{
		Use: "table [PROGRAM…]", Short: "Print the table of what was measured before",
		RunE: func(_ *cobra.Command, names []string) error {
			corpus, cases, err := selected(names)
			if err != nil {
				return err
			}
			return printTable(os.Stdout, corpus, cases)
		},
	}
}

func newPackagesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "packages [PROGRAM…]", Short: "Print the Debian packages of programs",
		RunE: func(_ *cobra.Command, names []string) error {
			_, cases, err := selected(names)
			if err != nil {
				return err
			}
			var all []string
			for _, e := range cases {
				all = append(all, e.program.Packages...)
			}
			slices.Sort(all)
			fmt.Println(strings.Join(slices.Compact(all), "\n"))
			return nil
		},
	}
}

func newVersionsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "versions", Short: "Print the programs with the versions of their installed packages", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			corpus, err := readCorpus(catalog.Folder)
			if err != nil {
				return err
			}
			return printVersions(os.Stdout, corpus)
		},
	}
}

// selected returns the corpus, and the cases of the named programs or of all.
func selected(names []string) (*corpus, []testCase, error) {
	c, err := readCorpus(catalog.Folder)
	if err != nil {
		return nil, nil, err
	}
	cases, err := c.cases(names)
	return c, cases, err
}
