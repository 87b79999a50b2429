package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/execution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

func newGraphCommand() *cobra.Command {
	var (
		s3     s3Flags
		o      execution.Options
		only   part
		ranks  string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "graph FILE --from SECONDS --to SECONDS",
		Short: "Print the execution graph of a part of the run: calls, computations, messages, collectives",
		Long: `Graph prints, for Graphviz or as JSON, the calls of a window of time (vertices), what each rank computed between
them (horizontal edges) and which call waited for which (vertical edges). Rank by rank, the vertices of the JSON are the
time line of calls. Times are seconds since the run began.`,
		Example: `  cairn graph out/trace.cairn --from 0.5 --to 0.51 --ranks 0-3 | dot -Tsvg >graph.svg
  cairn graph out/trace.cairn --from 0 --to 1 --json`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !only.given() {
				return usageError(errors.New("which part of the run? --from SECONDS --to SECONDS"))
			}
			if err := only.check(); err != nil {
				return err
			}
			o.From, o.To = float64(only.from), only.end()
			f, err := openTrace(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			chosen, err := chosenRanks(f, args[0], ranks)
			if err != nil {
				return err
			}
			if chosen != nil {
				wanted := map[int]bool{}
				for _, r := range chosen {
					wanted[r] = true
				}
				o.Ranks = func(r int) bool { return wanted[r] }
			}
			clocks, err := clockBeside(c.Context(), args[0], s3, f)
			if err != nil {
				return err
			}
			o.Clocks = clocks.Clocks
			g, err := execution.Analyze(c.Context(), timeline.Of(f.Reader), o)
			if err != nil {
				return damaged(args[0], err)
			}
			if len(g.Vertices) == 0 {
				return only.nothing(args[0])
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), g)
			}
			return g.WriteDOT(c.OutOrStdout())
		},
	}
	s3.register(c)
	flags := c.Flags()
	only.register(flags)
	flags.StringVar(&ranks, "ranks", "", "only these ranks (0-7,12)")
	flags.BoolVar(&asJSON, "json", false, "as JSON, for tools")
	return c
}
