package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// newAddedCommand makes the table of the time that tracing adds to calls. A line of either input is
// a call and ns. The medians of each call are in one row, in the order of the first file.
func newAddedCommand() *cobra.Command {
	var mpi string
	c := &cobra.Command{
		Use: "added WITHOUT WITH", Short: "Time added per call (hack/bench.sh)", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			without, err := readFile(args[0], 1, 1, 1)
			if err != nil {
				return err
			}
			with, err := readFile(args[1], 1, 1, 1)
			if err != nil {
				return err
			}
			before, after := calls(without), calls(with)
			seen := map[string]bool{}
			for _, m := range without {
				call := m.words[0]
				if seen[call] {
					continue
				}
				seen[call] = true
				if len(after[call]) == 0 {
					return fmt.Errorf("%s: nothing of %s", args[1], call)
				}
				a, b := median(before[call]), median(after[call])
				fmt.Fprintf(os.Stdout, "%-10s %-22s %10.1f %10.1f %10.1f\n", mpi, call, a, b, b-a)
			}
			return nil
		},
	}
	c.Flags().StringVar(&mpi, "mpi", "", "for the first column")
	return c
}

// calls returns the numbers of each call.
func calls(all []measurement) map[string][]float64 {
	of := map[string][]float64{}
	for _, m := range all {
		of[m.words[0]] = append(of[m.words[0]], m.numbers[0])
	}
	return of
}
