package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/replay"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

func newPredictCommand() *cobra.Command {
	var (
		s3                s3Flags
		ideal             bool
		latency, overhead time.Duration
		bandwidth         float64
		compute, free     []string
	)
	c := &cobra.Command{
		Use:   "predict FILE",
		Short: "Play a run again under other conditions: a faster rank, another network, a call that costs nothing",
		Long: `Play a run again under other conditions, and say how long it would have taken. All conditions that are given hold at
once. The model is LogGP: docs of package analyzer/replay say what it assumes.`,
		Example: `  cairn predict out/trace.cairn --compute 3=0.5                    # rank 3 computes in half the time
  cairn predict out/trace.cairn --latency 1us --bandwidth 25         # a network of 1 µs and 25 GB/s
  cairn predict out/trace.cairn --ideal-network
  cairn predict out/trace.cairn --free MPI_Allreduce@solver.c:120    # this call costs nothing`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := openTrace(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			t := timeline.Of(f.Reader)
			var changed replay.Scenario
			switch given := c.Flags().Changed; {
			case ideal && (given("latency") || given("bandwidth") || given("overhead")):
				return usageError{errors.New("--ideal-network leaves nothing for --latency, --bandwidth and --overhead to say")}
			case ideal:
				changed.Network = &replay.Network{}
			case given("latency") || given("bandwidth") || given("overhead"):
				if latency < 0 || overhead < 0 || bandwidth < 0 {
					return usageError{errors.New("a network has no negative times")}
				}
				changed.Network = &replay.Network{Latency: float64(latency), Overhead: float64(overhead)}
				if bandwidth > 0 {
					changed.Network.PerByte = 1 / bandwidth // GB/s is bytes per ns
				}
			}
			if changed.Compute, err = computeFactors(t, compute); err != nil {
				return usageError{err}
			}
			if changed.Free, err = freeCalls(t, free); err != nil {
				return usageError{err}
			}
			if changed.Network == nil && changed.Compute == nil && changed.Free == nil {
				return usageError{errors.New("what is to be different? see 'cairn predict --help'")}
			}
			clocks, err := clock.Analyze(c.Context(), t)
			if err != nil {
				return damaged(args[0], err)
			}
			lengths, err := replay.Play(c.Context(), t, clocks.Clocks, []replay.Scenario{{}, changed})
			if err != nil {
				return damaged(args[0], err)
			}
			was, would := time.Duration(lengths[0]), time.Duration(lengths[1])
			saved := 0.0
			if was > 0 {
				saved = 100 * (1 - float64(would)/float64(was))
			}
			fmt.Fprintf(c.OutOrStdout(), "The run took %v; it would take %v (%+.1f%%).\n", was.Round(time.Microsecond), would.Round(time.Microsecond), -saved)
			return nil
		},
	}
	s3.register(c)
	c.Flags().BoolVar(&ideal, "ideal-network", false, "MPI costs nothing but waiting for others")
	c.Flags().DurationVar(&latency, "latency", 0, "of a message")
	c.Flags().Float64Var(&bandwidth, "bandwidth", 0, "of a message, in GB/s (0: unlimited)")
	c.Flags().DurationVar(&overhead, "overhead", 0, "time that each MPI call takes of its caller")
	c.Flags().StringArrayVar(&compute, "compute", nil, "RANKS=FACTOR: these ranks (0-7,12 or all) take so many times as long to compute; may be repeated")
	c.Flags().StringArrayVar(&free, "free", nil, "FUNCTION or FUNCTION@FILE:LINE costs nothing; may be repeated")
	return c
}

// computeFactors reads the values of --compute.
func computeFactors(t timeline.Trace, values []string) (func(int, replay.Region) float64, error) {
	if len(values) == 0 {
		return nil, nil
	}
	locations := timeline.Locations(t)
	factors := make([]float64, len(locations))
	for i := range factors {
		factors[i] = 1
	}
	for _, value := range values {
		list, number, found := strings.Cut(value, "=")
		factor, err := strconv.ParseFloat(number, 64)
		if !found || err != nil || factor < 0 || math.IsInf(factor, 0) || math.IsNaN(factor) {
			return nil, fmt.Errorf("--compute %s: RANKS=FACTOR is expected, as 3=0.5", value)
		}
		wanted := map[int]bool{}
		if list != "all" {
			ranks, err := parseRanks(list)
			if err != nil {
				return nil, err
			}
			for _, r := range ranks {
				wanted[r] = true
			}
		}
		matched := false
		for i, l := range locations {
			if list == "all" || wanted[l.Rank] {
				factors[i], matched = factor, true
			}
		}
		if !matched {
			return nil, fmt.Errorf("--compute %s: the trace has none of these ranks", value)
		}
	}
	return func(location int, _ replay.Region) float64 { return factors[location] }, nil
}

// freeCalls reads the values of --free.
func freeCalls(t timeline.Trace, values []string) (func(uint16, uint32) bool, error) {
	if len(values) == 0 {
		return nil, nil
	}
	type call struct {
		function uint16
		site     uint32
	}
	chosen := map[call]bool{}
	sites := t.Sites()
	for _, value := range values {
		name, place, placed := strings.Cut(value, "@")
		matched := false
		for _, s := range t.Signatures() {
			f := t.Function(s.Function)
			if f == nil || f.Name != name {
				continue
			}
			if placed && (s.Site == 0 || int(s.Site) > len(sites) || callsite.Name(&sites[s.Site-1]) != place) {
				continue
			}
			chosen[call{s.Function, s.Site}], matched = true, true
		}
		if !matched {
			return nil, fmt.Errorf("--free %s: the trace has no such call; 'cairn report' and 'cairn dump' show what there is", value)
		}
	}
	return func(function uint16, site uint32) bool { return chosen[call{function, site}] }, nil
}
