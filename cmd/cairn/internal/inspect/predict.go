package inspect

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewPredictCommand returns the command `cairn predict`.
func NewPredictCommand() *cobra.Command {
	var (
		s3                storage.Flags
		ideal, asJSON     bool
		latency, overhead time.Duration
		bandwidth         float64
		handshakes        int64
		compute, free     []string
	)
	c := &cobra.Command{
		Use:   "predict FILE",
		Short: "Predict a run under other conditions: a faster rank, another network, a call that costs nothing",
		Long: `Predict replays a run under other conditions, and prints how long it would have taken. All given conditions apply at the
same time. The model is LogGP; the documentation of package analyzer/predict lists its assumptions. The run's clock map
(clock.json beside the trace) is used if there is one.`,
		Example: `  cairn predict out/trace.cairn --compute 3=0.5                    # rank 3 computes in half the time
  cairn predict out/trace.cairn --latency 1us --bandwidth 25         # a network of 1 µs and 25 GB/s
  cairn predict out/trace.cairn --ideal-network
  cairn predict out/trace.cairn --free MPI_Allreduce@solver.c:120    # this call costs nothing`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			t := timeline.Of(f.Reader)
			var changed predict.Scenario
			switch given := c.Flags().Changed; {
			case ideal && (given("latency") || given("bandwidth") || given("overhead") || given("handshake-from")):
				return cli.UsageError(errors.New("--ideal-network excludes --latency, --bandwidth, --overhead and --handshake-from"))
			case ideal:
				changed.Network = &predict.Network{}
			case given("latency") || given("bandwidth") || given("overhead"):
				changed.Network = &predict.Network{Latency: float64(latency), Overhead: float64(overhead), Handshakes: handshakes}
				if bandwidth > 0 {
					changed.Network.PerByte = 1 / bandwidth // GB/s is bytes per ns
				}
			}
			if changed.Compute, err = computeFactors(t, compute); err != nil {
				return cli.UsageError(err)
			}
			if changed.Keeps, err = freeCalls(t, free); err != nil {
				return cli.UsageError(err)
			}
			if changed.Network == nil && changed.Compute == nil && changed.Keeps == nil {
				return cli.UsageError(errors.New("no change is given: see 'cairn predict --help'"))
			}
			clocks, err := tracefile.ClockBeside(c.Context(), args[0], s3, f)
			if err != nil {
				return err
			}
			lengths, err := predict.Lengths(c.Context(), t, clocks.Clocks, []predict.Scenario{{}, changed})
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			p := prediction{
				SchemaVersion: predictionVersion,
				Run:           newChange(lengths[0].Run, lengths[1].Run), Program: newChange(lengths[0].Program, lengths[1].Program),
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), p)
			}
			fmt.Fprintf(c.OutOrStdout(), "The run took %s.\nBetween MPI_Init and MPI_Finalize it took %s.\n", p.Run, p.Program)
			return nil
		},
	}
	s3.Register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, for programs")
	c.Flags().BoolVar(&ideal, "ideal-network", false, "MPI calls cost nothing except waiting for others")
	c.Flags().Var(cli.AtLeast(&latency, 0, 0), "latency", "latency of a message")
	c.Flags().Var(cli.Within(&bandwidth, 0, 0, 1e9), "bandwidth", "bandwidth, in GB/s (0: unlimited)")
	c.Flags().Var(cli.AtLeast(&overhead, 0, 0), "overhead", "time that each MPI call costs its caller")
	c.Flags().Var(cli.AtLeast(&handshakes, 0, 0), "handshake-from", "size in bytes from which messages use a handshake with their receiver, with --latency (0: as measured in the run, else 64 KiB)")
	c.Flags().StringArrayVar(&compute, "compute", nil, "RANKS=FACTOR: the computations of these ranks (0-7,12 or all) take this many times as long; may be repeated")
	c.Flags().StringArrayVar(&free, "free", nil, "FUNCTION or FUNCTION@FILE:LINE costs nothing; may be repeated")
	return c
}

// predictionVersion is the version of the JSON format of prediction.
const predictionVersion = 1

// A prediction is the JSON output of `cairn predict`.
type prediction struct {
	SchemaVersion int    `json:"schema_version"`
	Run           change `json:"run"`     // from the first entry into MPI_Init to the last exit from MPI_Finalize
	Program       change `json:"program"` // from the last exit from MPI_Init to the last entry into MPI_Finalize
}

// A change is a duration in the run and its prediction.
type change struct {
	Measured  float64 `json:"measured_seconds"`
	Predicted float64 `json:"predicted_seconds"`
}

func newChange(measured, predicted int64) change {
	return change{float64(measured) / 1e9, float64(predicted) / 1e9}
}

// String is the text for people: "2 s; it would take 1 s (-50.0%)".
func (c change) String() string {
	more := 0.0
	if c.Measured > 0 {
		more = 100 * (c.Predicted/c.Measured - 1)
	}
	return fmt.Sprintf("%.6g s; it would take %.6g s (%+.1f%%)", c.Measured, c.Predicted, more)
}

// computeFactors parses the values of --compute.
func computeFactors(t timeline.Trace, values []string) (func(int, predict.Region) float64, error) {
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
			return nil, fmt.Errorf("--compute %s: RANKS=FACTOR is expected, such as 3=0.5", value)
		}
		wanted := map[int]bool{}
		if list != "all" {
			ranks, err := tracefile.ParseRanks(list)
			if err != nil {
				return nil, err
			}
			for _, r := range ranks {
				wanted[r] = true
			}
		}
		there := map[int]bool{}
		for i, l := range locations {
			there[l.Rank] = true
			if list == "all" || wanted[l.Rank] {
				factors[i] = factor
			}
		}
		for _, rank := range slices.Sorted(maps.Keys(wanted)) {
			if !there[rank] {
				return nil, fmt.Errorf("--compute %s: the trace has no rank %d", value, rank)
			}
		}
	}
	return func(location int, _ predict.Region) float64 { return factors[location] }, nil
}

// freeCalls parses the values of --free.
func freeCalls(t timeline.Trace, values []string) (func(uint16, uint32) float64, error) {
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
			return nil, fmt.Errorf("--free %s: the trace has no such call; 'cairn report' and 'cairn dump' show its calls", value)
		}
	}
	return func(function uint16, site uint32) float64 {
		if chosen[call{function, site}] {
			return 0
		}
		return 1
	}, nil
}
