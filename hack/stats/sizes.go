package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/trace"
)

// Targets of traces.
const (
	maxSimulated    = 1023 // bytes of a simulated stencil without timing
	maxReadingBytes = 0.1  // of a reading of the clock, with lossy timing
)

// A traceSize is the counted size of a trace: all except timing, call sites and metadata.
type traceSize struct {
	trace.Sizes
	calls uint64
}

func sizeOf(path string) (traceSize, error) {
	file, err := os.Open(path)
	if err != nil {
		return traceSize{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return traceSize{}, err
	}
	r, err := trace.Open(file, info.Size())
	if err != nil {
		return traceSize{}, fmt.Errorf("%s: %w", path, err)
	}
	return traceSize{r.Sizes(), r.Threads().Calls()}, nil
}

func (s *traceSize) bytes() int64 {
	return s.Container + s.Signatures + s.Grammar + s.RankMap + s.Values
}

func (s *traceSize) parts() string {
	return fmt.Sprintf("%d+%d+%d+%d+%d", s.Container, s.Signatures, s.Grammar, s.RankMap, s.Values)
}

// newBesideCommand makes the row of a trace compared with the peer's. TARGET is the size of the
// peer's trace after compression.
func newBesideCommand() *cobra.Command {
	var ratios string
	c := &cobra.Command{
		Use: "beside NAME RANKS PEER TARGET TRACE", Short: "The size of a trace beside the peer's (hack/bench-trace.sh)", Args: cobra.ExactArgs(5),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[1:4])
			if err != nil {
				return err
			}
			s, err := sizeOf(args[4])
			if err != nil {
				return err
			}
			ranks, peer, target, bytes := n[0], n[1], n[2], float64(s.bytes())
			fmt.Printf("%-22s %5.0f %9d %9.0f %9.0f %9.0f %7.1fx  %-26s %s\n", args[0], ranks, s.calls, peer, target, bytes, peer/bytes, s.parts(), capital(bytes <= target))
			if peer < minPeerBytes || ratios == "" {
				return nil
			}
			file, err := os.OpenFile(ratios, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = fmt.Fprintf(file, "%.0f %.0f\n", peer, bytes)
			return err
		},
	}
	c.Flags().StringVar(&ratios, "ratios", "", "file to append the peer's bytes and ours to, for stats ratios, where the peer writes 2 KB or more")
	return c
}

// minPeerBytes is the minimum size of a peer's trace that counts for the mean ratio.
const minPeerBytes = 2000

// newSimulatedCommand makes the row of a simulated trace.
func newSimulatedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "simulated NAME TRACE", Short: "The size of a simulated trace (hack/bench-trace.sh)", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := sizeOf(args[1])
			if err != nil {
				return err
			}
			fmt.Printf("%-44s %9d %9d  %-26s %s\n", args[0], maxSimulated, s.bytes(), s.parts(), capital(s.bytes() <= maxSimulated))
			return nil
		},
	}
}

// newSizeCommand makes the row of an example's trace.
func newSizeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "size NAME RANKS TRACE", Short: "The size of a trace (hack/bench.sh)", Args: cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := sizeOf(args[2])
			if err != nil {
				return err
			}
			fmt.Printf("%-14s %6s %10d %12d %14d\n", args[0], args[1], s.calls, s.Total, s.bytes())
			return nil
		},
	}
}

// newReadingsCommand makes the row of a program that reads the clock READINGS times.
func newReadingsCommand() *cobra.Command {
	var judged bool
	c := &cobra.Command{
		Use: "readings NAME READINGS TRACE", Short: "What readings of the clock take (hack/bench-trace.sh)", Args: cobra.ExactArgs(3),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := numbers(args[1:2])
			if err != nil {
				return err
			}
			s, err := sizeOf(args[2])
			if err != nil {
				return err
			}
			each, target, says := float64(s.ClockReadings)/n[0], "", ""
			if judged {
				target, says = fmt.Sprint(maxReadingBytes), capital(s.ClockReadings > 0 && each <= maxReadingBytes)
			}
			fmt.Printf("%-34s %9s %9.4f %9d %9d %s\n", args[0], target, each, s.ClockReadings, s.Total, says)
			return nil
		},
	}
	c.Flags().BoolVar(&judged, "judge", false, "there is a target")
	return c
}

// capital returns the same as verdict with MISS in capitals, which is easier to find in a long
// table.
func capital(met bool) string {
	if met {
		return "pass"
	}
	return "MISS"
}
