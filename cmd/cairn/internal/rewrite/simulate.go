package rewrite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
)

// maxSlower is the largest percentage by which a simulated rank may be slower. Beyond it, times do
// not fit into 64 bits.
const maxSlower = 1e6

// NewSimulateCommand returns the command `cairn simulate`.
func NewSimulateCommand() *cobra.Command {
	var (
		s3       storage.Flags
		config   simulate.Config
		out, url string
		skew     []time.Duration
	)
	patterns := make([]string, len(simulate.Patterns))
	for i, p := range simulate.Patterns {
		patterns[i] = fmt.Sprintf("  %-14s %s", p.Name, p.About)
	}
	c := &cobra.Command{
		Use:   "simulate (-o FILE | --store URL)",
		Short: "Write the trace of a program that never ran, for any number of ranks",
		Long: `Simulate writes the trace of a made-up MPI program or, with --store, the shards of all pods. Messages and collectives are
replayed in time: receives wait for their sends, collectives for the last rank. --no-replay disables that, so that a
million ranks can be simulated one by one.

Patterns:
` + strings.Join(patterns, "\n"),
		Example: `  cairn simulate --pattern stencil2d --ranks 64 --slow-rank 3 --slow-percent 30 -o trace.cairn
  cairn simulate --pattern wavefront --ranks 16384 --no-replay --store job && cairn merge --job --store job`,
		Args: cli.Exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if (out == "") == (url == "") {
				return cli.UsageError(errors.New("either -o FILE, for a trace, or --store URL, for shards, is needed"))
			}
			if err := checkSimulated(&config); err != nil {
				return err
			}
			config.Skew = skew
			sim, err := simulate.New(config)
			if err != nil {
				return cli.UsageError(err)
			}
			if url != "" {
				s, err := s3.Open(url)
				if err != nil {
					return err
				}
				written, err := shards.Upload(c.Context(), s, sim, nil)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %d shards, %d calls, %d bytes\n", url, written.Shards, written.Calls, written.Bytes)
				return nil
			}
			return writeSimulated(c, s3, out, sim)
		},
	}
	s3.Register(c)
	flags := c.Flags()
	flags.StringVarP(&out, "output", "o", "", "the merged trace to write, a local path or s3://bucket/key")
	flags.StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix to write shards to")
	flags.StringVar(&config.Pattern, "pattern", "ring", "the kind of program")
	flags.Var(cli.AtLeast(&config.Ranks, 4, 1), "ranks", "number of ranks")
	flags.Var(cli.AtLeast(&config.Iterations, 10, 1), "iterations", "number of iterations")
	flags.Var(cli.AtLeast(&config.Bytes, 1024, 1), "bytes", "size of a message")
	flags.IntSliceVar(&config.Grid, "grid", nil, "ranks per dimension (default: as even as possible)")
	flags.BoolVar(&config.Periodic, "periodic", false, "the grid is periodic")
	flags.Var(cli.AtLeast(&config.Points, 0, 0), "points", "points of a stencil: 5 or 9, 7 or 27")
	flags.BoolVar(&config.Cartesian, "cartesian", false, "a stencil creates a Cartesian communicator")
	flags.Var(cli.AtLeast(&config.Reduce, 10, -1), "reduce", "a stencil reduces every N iterations (-1: never)")
	flags.Var(cli.AtLeast(&config.Steps, 4, 1), "steps", "planes of a wavefront")
	flags.Var(cli.AtLeast(&config.Regrid, 5, 1), "regrid", "an irregular program changes its neighbors every N iterations")
	flags.Var(cli.AtLeast(&config.Variety, 1000, 1), "variety", "different steps of a random program")
	flags.Var(cli.MoreThan(&config.Compute, 100*time.Microsecond, 0, time.Hour), "compute", "computing time of a rank in an iteration")
	flags.Var(cli.AtLeast(&config.Imbalance.SlowRank, 0, 0), "slow-rank", "this rank computes longer by --slow-percent")
	flags.Var(cli.Within(&config.Imbalance.SlowPercent, 0, -100, maxSlower), "slow-percent", "see --slow-rank")
	flags.Var(cli.AtLeast(&config.Imbalance.SlowNode, 0, 0), "slow-node", "the ranks of this node compute longer by --slow-node-percent")
	flags.Var(cli.Within(&config.Imbalance.SlowNodePercent, 0, -100, maxSlower), "slow-node-percent", "see --slow-node")
	flags.Var(cli.Within(&config.Imbalance.Linear, 0, -100, maxSlower), "linear-percent", "the last rank computes longer by this percentage, the others in proportion")
	flags.Var(cli.Within(&config.Imbalance.Noise, 0, 0, maxSlower), "noise-percent", "every rank computes longer by a random percentage up to this, in each iteration")
	flags.Uint64Var(&config.Seed, "seed", 0, "seed of all random numbers")
	flags.Var(cli.AtLeast(&config.Model.Latency, 2000, 1), "latency", "latency of a message, in ns")
	flags.Var(cli.MoreThan(&config.Model.PerByte, 0.1, 0, 1e9), "per-byte", "time for a byte of a message, in ns")
	flags.Var(cli.AtLeast(&config.Model.Eager, 64<<10, 1), "eager", "size in bytes above which messages wait for their receive")
	flags.Var(cli.AtLeast(&config.Model.Collective, 5000, 1), "collective", "time of a collective after its last rank entered, in ns")
	flags.Var(cli.AtLeast(&config.Model.Call, 200, 1), "call", "minimum time of a call, in ns")
	flags.Var(cli.AtLeast(&config.RanksPerNode, 64, 1), "ranks-per-node", "ranks of a node, pod and shard")
	flags.DurationSliceVar(&skew, "skew", nil, "how far ahead the clock of each node is, as a list")
	flags.StringVar(&config.CallSites, "call-sites", "caller", "caller or none")
	flags.StringVar(&config.Timing, "timing", "lossless", "lossless, \"lossy 5\" (within 5 percent) or aggregated")
	flags.BoolVar(&config.NoReplay, "no-replay", false, "simulate each rank by itself: ranks never wait for each other")
	return c
}

// checkSimulated checks what depends on several flags.
func checkSimulated(c *simulate.Config) error {
	nodes := (c.Ranks + c.RanksPerNode - 1) / c.RanksPerNode
	switch {
	case c.Reduce == 0:
		return cli.UsageError(errors.New("--reduce 0: it must be a number of iterations, or -1 for never"))
	case c.Imbalance.SlowRank >= c.Ranks:
		return cli.UsageError(fmt.Errorf("--slow-rank %d: there are %d ranks, numbered from 0", c.Imbalance.SlowRank, c.Ranks))
	case c.Imbalance.SlowNode >= nodes:
		return cli.UsageError(fmt.Errorf("--slow-node %d: %d ranks are on %d nodes, numbered from 0", c.Imbalance.SlowNode, c.Ranks, nodes))
	}
	return nil
}

// writeSimulated merges all ranks into a finished trace.
func writeSimulated(c *cobra.Command, s3 storage.Flags, out string, sim *simulate.Simulation) error {
	m, err := simulated(c.Context(), sim)
	if err != nil {
		return err
	}
	contents, err := m.Finish(merger.Options{Final: true, CreatedBy: version.Version})
	if err != nil {
		return err
	}
	if err := tracefile.Write(c, s3, out, contents[0]); err != nil {
		return err
	}
	summary := merger.Summarize(contents[0])
	fmt.Fprintf(c.OutOrStdout(), "%s: %d ranks, %d calls\n", out, summary.Ranks, summary.Calls)
	return nil
}

// simulated collects the traces of all ranks in a merger.
func simulated(ctx context.Context, sim *simulate.Simulation) (*merger.Merger, error) {
	_, pass, end := passes.Begin(ctx, "simulating", "ranks", uint64(sim.Ranks()))
	defer end()
	var m merger.Merger
	for rank := range sim.Ranks() {
		content, err := sim.Rank(rank)
		if err != nil {
			return nil, err
		}
		if err := m.Add(content); err != nil {
			return nil, err
		}
		pass.Add(1)
	}
	return &m, nil
}
