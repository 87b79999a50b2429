package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// rateTargets are percentages by the noise between runs: none, some, and 5%.
var rateTargets = []struct {
	unit                string
	most                bool // the target is a maximum, otherwise a minimum
	exact, usual, noisy float64
}{
	{"%right-term", false, 98, 80, 55},
	{"%false-alarms", true, 0, 5, 5},
	{"%error-4x", true, 1, 8, 15},
	{"%error-16x", true, 1, 15, 30},
	{"%in-interval", false, 99, 80, 80},
	{"%right-hurts-first", false, 100, 85, 70},
}

// minRates is the number of combinations of sizes, runs and noise.
const minRates = 12

// newRatesCommand makes the table of the Go benchmark Rates of package scaling.
func newRatesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rates FILE", Short: "How good models of random programs are (hack/bench-scale.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readBenchmarkFile(args[0])
			if err != nil {
				return err
			}
			return printRates(os.Stdout, all)
		},
	}
}

func printRates(to io.Writer, all []benchmark) error {
	met := true
	for _, b := range all {
		_, name, _ := strings.Cut(b.name, "/")
		fmt.Fprintf(to, "%-30s", name)
		for _, t := range rateTargets {
			value, measured := b.values[t.unit]
			if !measured {
				return fmt.Errorf("%s says nothing of %s", b.name, t.unit)
			}
			limit := t.usual
			switch {
			case strings.Contains(name, "noise=0%"):
				limit = t.exact
			case strings.Contains(name, "noise=5%"):
				limit = t.noisy
			}
			ok, sign := value >= limit, ">="
			if t.most {
				ok, sign = value <= limit, "<="
			}
			mark := " "
			if !ok {
				mark, met = "!", false
			}
			fmt.Fprintf(to, " %6.1f (%s %3.0f)%s", value, sign, limit, mark)
		}
		fmt.Fprintln(to)
	}
	if len(all) < minRates {
		return fmt.Errorf("there are %d lines, fewer than %d", len(all), minRates)
	}
	return missedUnless(met)
}

// maxTimeOff is the maximum error in percent of the time of the example's computation.
const maxTimeOff = 15

// newHeldBackCommand makes the table of the Go benchmark HeldBack of package scaling.
func newHeldBackCommand() *cobra.Command {
	return &cobra.Command{
		Use: "held-back FILE", Short: "How good models of a size that is held back are (hack/bench-scale.sh)", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := readBenchmarkFile(args[0])
			if err != nil {
				return err
			}
			return printHeldBack(os.Stdout, all)
		},
	}
}

func printHeldBack(to io.Writer, all []benchmark) error {
	met := len(all) > 0
	slices.SortFunc(all, func(a, b benchmark) int { return cmp.Compare(a.name, b.name) })
	for _, b := range all {
		_, name, _ := strings.Cut(b.name, "/")
		v := b.values
		ok := v["calls-right"] == v["call-models"] && v["bytes-right"] == v["byte-models"]
		fmt.Fprintf(to, "%-10s %3.0f ranks, %3.0f sites; calls %.0f of %.0f right; bytes %.0f of %.0f right", name, v["held-back"], v["sites"],
			v["calls-right"], v["call-models"], v["bytes-right"], v["byte-models"])
		if name == "stencil" { // the only program that sleeps instead of computing
			off, measured := v["%time-off"]
			ok = ok && measured && -maxTimeOff <= off && off <= maxTimeOff
			fmt.Fprintf(to, "; time %+.1f%% (target: within %d)", off, maxTimeOff)
		}
		if !ok {
			met = false
			fmt.Fprint(to, "  MISS")
		}
		fmt.Fprintln(to)
	}
	return missedUnless(met)
}
