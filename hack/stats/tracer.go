package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// A tracerTable is the cost of a call with and without the tracer.
//
// A line of its input is MPI, threads, round, variant, call, and the output of hack/bench/calls.c
// for a call: mean CPU time, 99.9th percentile, longest iteration, and the time that iteration
// slept and was without a CPU, all in ns. Lines for the process have fewer numbers. Variants are
// alone, noop (a wrapper that does nothing), stamps (one that reads the clock twice), and the
// tracer's configurations.
type tracerTable struct {
	mpis, threads, calls, configs []string
}

// Numbers of a line.
const (
	mean = iota
	tail
	longest
	asleep
	delayed
	tracerNumbers
)

// Targets.
const (
	maxAdded      = 100    // ns per call
	maxRatio      = 2      // relative to reading the clock twice
	maxLongest    = 200000 // ns of an iteration, or twice the wrapper's
	maxFinalize   = 5      // ms
	maxMemory     = 32     // MiB
	minStampsCost = 0.1    // ns; minimum cost of reading the clock, for the ratio
)

func newTracerCommand() *cobra.Command {
	var mpis, threads, calls, configs string
	c := &cobra.Command{
		Use: "tracer FILE", Short: "What the tracer adds to a call (hack/bench-tracer.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readFile(args[0], 5, 1, tracerNumbers)
			if err != nil {
				return err
			}
			t := tracerTable{strings.Fields(mpis), strings.Fields(threads), strings.Fields(calls), strings.Fields(configs)}
			return t.print(os.Stdout, byRound(all, 2))
		},
	}
	c.Flags().StringVar(&mpis, "mpis", "", "the MPIs, in order")
	c.Flags().StringVar(&threads, "threads", "", "numbers of threads, in order")
	c.Flags().StringVar(&calls, "calls", "", "the calls, in order")
	c.Flags().StringVar(&configs, "configs", "", "the tracer's configurations, in order")
	return c
}

const tracerRow = "%-8s %7s %-20s %-10s %7s %7s %7s %7s %7s %7s %-6s %-6s %9s %9s %9s %9s %9s %9s %-8s\n"

func (t *tracerTable) print(to io.Writer, r rounds) error {
	fmt.Fprintf(to, tracerRow, "MPI", "threads", "call", "tracing", "alone", "no-op", "stamps", "added", "option", "ratio",
		"<=100", "<=2x", "p99.9", "no-op", "longest", "asleep", "no CPU", "no-op", "<=200us")
	for _, mpi := range t.mpis {
		for _, threads := range t.threads {
			for _, call := range t.calls {
				if err := t.printCall(to, r, mpi, threads, call); err != nil {
					return err
				}
			}
			if err := t.printProcess(to, r, mpi, threads); err != nil {
				return err
			}
		}
	}
	return nil
}

// printCall prints a row for each configuration.
func (t *tracerTable) printCall(to io.Writer, r rounds, mpi, threads, call string) error {
	of := func(variant string) string { return strings.Join([]string{mpi, threads, variant, call}, " ") }
	names := []string{of("alone"), of("noop"), of("stamps")}
	for _, c := range t.configs {
		names = append(names, of(c))
	}
	if err := r.check(names...); err != nil {
		return err
	}
	added := func(variant string) []float64 { return less(r.column(of(variant), mean), r.column(of("alone"), mean)) }
	digit := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	whole := func(variant string, number int) string { return plain(median(r.column(of(variant), number))) }
	for _, config := range t.configs {
		ratios := added(config)
		for i, stamps := range added("stamps") {
			ratios[i] /= max(stamps, minStampsCost)
		}
		cost, ratio := median(added(config)), median(ratios)
		option := median(less(r.column(of(config), mean), r.column(of(t.configs[0]), mean)))
		limit := max(2*median(r.column(of("noop"), longest)), maxLongest)
		fmt.Fprintf(to, tracerRow, mpi, threads, call, config, digit(median(r.column(of("alone"), mean))),
			digit(median(added("noop"))), digit(median(added("stamps"))), digit(cost), digit(option), digit(ratio),
			verdict(cost <= maxAdded), verdict(ratio <= maxRatio), whole(config, tail), whole("noop", tail),
			whole(config, longest), whole(config, asleep), whole(config, delayed), whole("noop", longest),
			verdict(median(r.column(of(config), longest)) <= limit))
	}
	return nil
}

// printProcess prints the costs of a process other than calls: its allocations, its end, its
// memory.
func (t *tracerTable) printProcess(to io.Writer, r rounds, mpi, threads string) error {
	of := func(variant, what string) string { return strings.Join([]string{mpi, threads, variant, what}, " ") }
	added := func(config, what string) (float64, error) {
		alone, traced := of("alone", what), of(config, what)
		if err := r.check(alone, traced); err != nil {
			return 0, err
		}
		return median(less(r.column(traced, mean), r.column(alone, mean))), nil
	}
	row := func(what, config, format string, values ...any) {
		fmt.Fprintf(to, "%-8s %7s %-20s %-10s "+format+"\n", append([]any{mpi, threads, what, config}, values...)...)
	}
	for _, config := range t.configs {
		if config != "pointers" {
			continue
		}
		cost, err := added(config, "malloc+free")
		if err != nil {
			return err
		}
		row("malloc+free", config, "%.1f ns added to a malloc and a free of %.1f ns", cost,
			median(r.column(of("alone", "malloc+free"), mean)))
	}
	for _, config := range t.configs {
		ns, err := added(config, "Finalize")
		if err != nil {
			return err
		}
		ms := ns / 1e6
		row("Finalize", config, "%.2f ms added by MPI_Finalize, target <= %d: %s", ms, maxFinalize, verdict(ms <= maxFinalize))
		kib, err := added(config, "Memory")
		if err != nil {
			return err
		}
		mib := kib / 1024
		row("Memory", config, "%.1f MiB resident beyond the application, target <= %d: %s", mib, maxMemory, verdict(mib <= maxMemory))
	}
	return nil
}

// plain formats a number with at most six digits.
func plain(x float64) string {
	if x == float64(int64(x)) {
		return fmt.Sprint(int64(x))
	}
	return fmt.Sprintf("%.6g", x)
}
