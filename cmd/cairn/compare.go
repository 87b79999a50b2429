package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

func newCompareCommand() *cobra.Command {
	var (
		s3     s3Flags
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Say what became slower from one run of a program to another",
		Long: `Compare two traces of one program, A before and B after: the difference of the run times, by place in the program, and
the ranks whose iterations differ significantly (Mann-Whitney on the iterations of each loop, corrected for the number of
tests; docs of package analyzer/compare say why).`,
		Example: "  cairn compare before/trace.cairn after/trace.cairn",
		Args:    exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			var runs [2]compare.Recording
			for i, path := range args {
				f, err := openTrace(c.Context(), path, s3)
				if err != nil {
					return err
				}
				defer f.Close()
				clocks, err := clockBeside(c.Context(), path, s3, f)
				if err != nil {
					return err
				}
				runs[i] = compare.Recording{Trace: timeline.Of(f.Reader), Clocks: clocks.Clocks}
			}
			found, err := compare.Compare(c.Context(), runs[0], runs[1])
			if err != nil {
				return damaged(args[0]+", "+args[1], err)
			}
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(found)
			}
			return found.WriteText(c.OutOrStdout())
		},
	}
	s3.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write the findings as JSON")
	return c
}
