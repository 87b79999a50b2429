package inspect

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewPlacementCommand returns the command `cairn placement`.
func NewPlacementCommand() *cobra.Command {
	var (
		s3                      storage.Flags
		rankfile, hosts, asJSON bool
	)
	c := &cobra.Command{
		Use:   "placement FILE",
		Short: "Print how much traffic crosses nodes, and an order of the ranks that reduces it",
		Long: `Placement prints how much of the point-to-point traffic goes from one node to another, searches for an order of the
ranks on the same nodes with less such traffic, and predicts by replay how much time the run would gain.`,
		Example: `  cairn placement out/trace.cairn
  cairn placement out/trace.cairn --rankfile >ranks && mpirun --rankfile ranks ./app     # Open MPI
  cairn placement out/trace.cairn --hosts >hosts && mpiexec -f hosts ./app               # MPICH`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if rankfile && hosts || asJSON && (rankfile || hosts) {
				return cli.UsageError(errors.New("--rankfile, --hosts and --json exclude each other"))
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			t := timeline.Of(f.Reader)
			var o placement.Options
			if !rankfile && !hosts {
				clocks, err := tracefile.ClockBeside(c.Context(), args[0], s3, f)
				if err != nil {
					return err
				}
				o.Clocks = clocks.Clocks
			}
			found, err := placement.Analyze(c.Context(), t, o)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			out := c.OutOrStdout()
			switch {
			case rankfile:
				return found.WriteRankfile(out, t)
			case hosts:
				return found.WriteHosts(out, t)
			case asJSON:
				return cli.WriteJSON(out, found)
			}
			fmt.Fprintln(out, found.Text)
			if found.Assumes != "" {
				fmt.Fprintf(out, "Assumed: %s.\n", found.Assumes)
			}
			for _, n := range found.Nodes {
				fmt.Fprintf(out, "%s: ranks %s\n", n.Name, n.Ranks)
			}
			return nil
		},
	}
	s3.Register(c)
	c.Flags().BoolVar(&rankfile, "rankfile", false, "print the order as a rankfile of Open MPI")
	c.Flags().BoolVar(&hosts, "hosts", false, "print the order as a list of hosts")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	return c
}
