package inspect

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// topologyFlags control the search for a topology.
type topologyFlags struct {
	patterns  string
	threshold float64
}

func (t *topologyFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&t.patterns, "patterns", "", "a JSON file with your own topologies: a list of {name, offsets, periodic} or {name, ranks, edges}")
	c.Flags().Var(cli.Within(&t.threshold, topology.DefaultThreshold, 0, 100), "threshold", "if the traffic of all pairs of ranks matches no topology, ignore pairs with less traffic than this, in percent of the busiest pair of either rank (0: ignore none)")
}

func (t *topologyFlags) options() (topology.Options, error) {
	o := topology.Options{Threshold: t.threshold}
	if t.threshold == 0 {
		o.Threshold = -1
	}
	if t.patterns == "" {
		return o, nil
	}
	f, err := os.Open(t.patterns)
	if err != nil {
		return o, err
	}
	defer f.Close()
	if o.Patterns, err = topology.ReadCustom(f); err != nil {
		return o, cli.UsageError(fmt.Errorf("%s: %w", t.patterns, err))
	}
	return o, nil
}

// NewClustersCommand returns the command `cairn clusters`.
func NewClustersCommand() *cobra.Command {
	var (
		s3      storage.Flags
		shape   topologyFlags
		o       clusters.Options
		method  string
		asJSON  bool
		noTimes bool
	)
	c := &cobra.Command{
		Use:   "clusters FILE",
		Short: "Print groups of ranks that behave alike, with their lead ranks, and the topology of the communication",
		Long: `Clusters prints the groups of ranks that take the same path through the program. Within each group it prints those that
communicate with the same neighbors relative to themselves, and those with similar times. It does the same for each
phase, and prints the topology of the messages. The lead rank represents its group: cairn reduce writes a trace of the
lead ranks.`,
		Example: `  cairn clusters out/trace.cairn
  cairn clusters out/trace.cairn --k 3 --method farthest --ignore count,tag
  cairn clusters out/trace.cairn --patterns my-stencils.json --json`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.Topology, err = shape.options(); err != nil {
				return err
			}
			if o.Method = clusters.Method(method); o.Method != clusters.Medoids && o.Method != clusters.Farthest {
				return cli.UsageError(fmt.Errorf("--method is medoids or farthest, not %q", method))
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := tracefile.CheckGroups(f, args[0], o.K); err != nil {
				return err
			}
			if !noTimes {
				if o.Clock, err = tracefile.ClockBeside(c.Context(), args[0], s3, f); err != nil {
					return err
				}
			}
			found, err := clusters.Analyze(c.Context(), timeline.Of(f.Reader), o)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), found)
			}
			printClusters(c.OutOrStdout(), &found)
			return nil
		},
	}
	s3.Register(c)
	shape.register(c)
	flags := c.Flags()
	flags.Var(cli.AtLeast(&o.K, 0, 0), "k", "number of groups of each cluster, by peers and by timing (0: as many as give a strong structure)")
	flags.StringVar(&method, "method", string(clusters.Medoids), "medoids: leads in the middle of their groups; farthest: leads as far apart as possible")
	flags.StringSliceVar(&o.Ignore, "ignore", nil, "parameters to ignore when calls are compared: count, tag, …")
	flags.Var(cli.AtLeast(&o.Frames, 0, 0), "frames", "treat calls as equal if their call paths differ in at most this many frames")
	flags.BoolVar(&noTimes, "no-times", false, "do not read the times of single calls: phases are not divided by timing")
	flags.BoolVar(&asJSON, "json", false, "print JSON, for programs")
	return c
}

func printClusters(out io.Writer, f *clusters.Findings) {
	fmt.Fprintf(out, "topology: %s\n", f.Topology.Run.Topology)
	if f.Topology.Run.Filtered {
		fmt.Fprintf(out, "          %.1f%% of the messages and %.1f%% of the bytes are not part of it\n", 100*f.Topology.Run.LostCalls, 100*f.Topology.Run.LostBytes)
	}
	fmt.Fprintf(out, "leads:    %s of %d clusters\n", tracefile.ListRanks(f.Leads), len(f.Clusters))
	for i := range f.Clusters {
		c := &f.Clusters[i]
		fmt.Fprintf(out, "\ncluster %d: ranks %s (%d)\n  %s\n", i+1, c.Ranks, c.Size, c.Distinction)
		printGroups(out, "  by peers", c.Peers)
		printGroups(out, "  by timing", c.Timing)
		for _, o := range c.Outliers {
			fmt.Fprintf(out, "  %s\n", o.Text)
		}
	}
	for _, p := range f.Phases {
		fmt.Fprintf(out, "\n%s", p.Name)
		if p.Topology != "" {
			fmt.Fprintf(out, ": %s", p.Topology)
		}
		fmt.Fprintln(out)
		printGroups(out, "  by behavior", p.Behaviors)
		printGroups(out, "  by timing", p.Timing)
		for _, o := range p.Outliers {
			fmt.Fprintf(out, "  %s\n", o.Text)
		}
	}
	for _, note := range f.Notes {
		fmt.Fprintln(out, "\nNote:", note)
	}
}

// printGroups prints groups if there is more than one.
func printGroups(out io.Writer, how string, groups []clusters.Group) {
	if len(groups) < 2 {
		return
	}
	fmt.Fprintf(out, "%s:\n", how)
	for _, g := range groups {
		fmt.Fprintf(out, "    lead %d: ranks %s", g.Lead, g.Ranks)
		if g.Distinction != "" {
			fmt.Fprintf(out, "  %s", g.Distinction)
		}
		fmt.Fprintln(out)
	}
}
