package inspect

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/execution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewGraphCommand returns the command `cairn graph`.
func NewGraphCommand() *cobra.Command {
	var (
		s3     storage.Flags
		o      execution.Options
		only   tracefile.Part
		ranks  string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "graph FILE --from SECONDS --to SECONDS",
		Short: "Print the execution graph of a part of the run: calls, computations, messages, collectives",
		Long: `Graph prints, for Graphviz or as JSON, the calls of a window of time (vertices), what each rank computed between
them (horizontal edges) and which call waited for which (vertical edges). Rank by rank, the vertices in the JSON are
the timeline of calls. Times are seconds since the run began.`,
		Example: `  cairn graph out/trace.cairn --from 0.5 --to 0.51 --ranks 0-3 | dot -Tsvg >graph.svg
  cairn graph out/trace.cairn --from 0 --to 1 --json`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if !only.Given() {
				return cli.UsageError(errors.New("no part of the run is given: --from SECONDS --to SECONDS"))
			}
			if err := only.Check(); err != nil {
				return err
			}
			o.From, o.To = float64(only.From), only.End()
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			chosen, err := tracefile.ChosenRanks(f, args[0], ranks)
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
			clocks, err := tracefile.ClockBeside(c.Context(), args[0], s3, f)
			if err != nil {
				return err
			}
			o.Clocks = clocks.Clocks
			g, err := execution.Analyze(c.Context(), timeline.Of(f.Reader), o)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if len(g.Vertices) == 0 {
				return only.Nothing(args[0])
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), g)
			}
			return g.WriteDOT(c.OutOrStdout())
		},
	}
	s3.Register(c)
	flags := c.Flags()
	only.Register(flags)
	flags.StringVar(&ranks, "ranks", "", "only these ranks (0-7,12)")
	flags.BoolVar(&asJSON, "json", false, "print JSON, for programs")
	return c
}
