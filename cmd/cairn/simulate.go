package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
)

func newSimulateCommand() *cobra.Command {
	var (
		s3       s3Flags
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
		Long: `Simulate writes the trace, or with --store the shards of all pods, of a made-up MPI program. Messages and collectives
are replayed in time: receives wait for their sends, collectives for the last rank. --no-replay leaves that out, so that
a million ranks can be made one by one.

Patterns:
` + strings.Join(patterns, "\n"),
		Example: `  cairn simulate --pattern stencil2d --ranks 64 --slow-rank 3 --slow-percent 30 -o trace.cairn
  cairn simulate --pattern wavefront --ranks 16384 --no-replay --store job && cairn merge --job --store job`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if (out == "") == (url == "") {
				return usageError{errors.New("where to? -o FILE for a trace, --store URL for shards")}
			}
			config.Skew = skew
			sim, err := simulate.New(config)
			if err != nil {
				return usageError{err}
			}
			if url != "" {
				s, err := s3.open(url)
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
	s3.register(c)
	flags := c.Flags()
	flags.StringVarP(&out, "output", "o", "", "the merged trace to write, a local path or s3://bucket/key")
	flags.StringVar(&url, "store", "", "the job's directory or s3://bucket/prefix to write shards to")
	flags.StringVar(&config.Pattern, "pattern", "ring", "the kind of program")
	flags.IntVar(&config.Ranks, "ranks", 4, "how many ranks")
	flags.IntVar(&config.Iterations, "iterations", 10, "how many iterations")
	flags.IntVar(&config.Bytes, "bytes", 1024, "size of a message")
	flags.IntSliceVar(&config.Grid, "grid", nil, "ranks per dimension (default: as even as it gets)")
	flags.BoolVar(&config.Periodic, "periodic", false, "the grid's ends meet")
	flags.IntVar(&config.Points, "points", 0, "of a stencil: 5 or 9, 7 or 27")
	flags.BoolVar(&config.Cartesian, "cartesian", false, "a stencil makes a Cartesian communicator")
	flags.IntVar(&config.Reduce, "reduce", 10, "a stencil reduces after every so many iterations (-1: never)")
	flags.IntVar(&config.Steps, "steps", 4, "planes of a wavefront")
	flags.IntVar(&config.Regrid, "regrid", 5, "an irregular program changes its neighbours after so many iterations")
	flags.DurationVar(&config.Compute, "compute", 100*time.Microsecond, "computing time of a rank in an iteration")
	flags.IntVar(&config.Imbalance.SlowRank, "slow-rank", 0, "this rank computes longer by --slow-percent")
	flags.Float64Var(&config.Imbalance.SlowPercent, "slow-percent", 0, "see --slow-rank")
	flags.IntVar(&config.Imbalance.SlowNode, "slow-node", 0, "the ranks of this node compute longer by --slow-node-percent")
	flags.Float64Var(&config.Imbalance.SlowNodePercent, "slow-node-percent", 0, "see --slow-node")
	flags.Float64Var(&config.Imbalance.Linear, "linear-percent", 0, "the last rank computes longer by so much, the others in proportion")
	flags.Float64Var(&config.Imbalance.Noise, "noise-percent", 0, "every rank computes longer by up to so much, anew each time")
	flags.Uint64Var(&config.Seed, "seed", 0, "of all that is random")
	flags.Int64Var(&config.Model.Latency, "latency", 2000, "of a message, in ns")
	flags.Float64Var(&config.Model.PerByte, "per-byte", 0.1, "time for a byte of a message, in ns")
	flags.IntVar(&config.Model.Eager, "eager", 64<<10, "larger messages wait for their receive, in bytes")
	flags.Int64Var(&config.Model.Collective, "collective", 5000, "time of a collective after its last rank entered, in ns")
	flags.Int64Var(&config.Model.Call, "call", 200, "time that every call takes at least, in ns")
	flags.IntVar(&config.RanksPerNode, "ranks-per-node", 64, "ranks of a node, pod and shard")
	flags.DurationSliceVar(&skew, "skew", nil, "how far ahead the nodes' clocks are, one after the other")
	flags.StringVar(&config.CallSites, "call-sites", "caller", "caller or none")
	flags.StringVar(&config.Timing, "timing", "lossless", "lossless, \"lossy 5\" (within so many per cent) or aggregated")
	flags.BoolVar(&config.NoReplay, "no-replay", false, "every rank alone: nobody waits for another")
	return c
}

// writeSimulated merges all ranks into a finished trace.
func writeSimulated(c *cobra.Command, s3 s3Flags, out string, sim *simulate.Simulation) error {
	m, err := simulated(c.Context(), sim)
	if err != nil {
		return err
	}
	contents, err := m.Finish(merger.Options{Final: true, CreatedBy: version.Version})
	if err != nil {
		return err
	}
	if err := writeObject(c, s3, out, contents[0]); err != nil {
		return err
	}
	summary := merger.Summarize(contents[0])
	fmt.Fprintf(c.OutOrStdout(), "%s: %d ranks, %d calls\n", out, summary.Ranks, summary.Calls)
	return nil
}

// simulated has the traces of all ranks.
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
