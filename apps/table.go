package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// printTable prints what was measured, and returns errRed if a check fails that is not known, or a
// known failure passes.
func printTable(to io.Writer, c *corpus, cases []testCase) error {
	fmt.Fprintf(to, "%-28s %-16s %-7s %11s %-7s %9s %7s %7s %-27s %14s\n",
		"program.mpi", "version", "output", "of lines", "verify", "calls", "B/call", "native", "CPU ratio (95% bounds)", "analysis")
	var red, known []string
	for _, e := range cases {
		r, err := loadRecord(e)
		if err != nil {
			return err
		}
		if len(r.Checks) == 0 {
			red = append(red, e.name()+": was not run")
			continue
		}
		printRow(to, e, r)
		failures, reasons := judgeAll(c, e.name(), r)
		red, known = append(red, failures...), append(known, reasons...)
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"known failures", known}, {"RED", red}} {
		if len(list.lines) > 0 {
			fmt.Fprintf(to, "\n%s: %d\n  %s\n", list.title, len(list.lines), strings.Join(list.lines, "\n  "))
		}
	}
	if len(red) > 0 {
		return errRed
	}
	return nil
}

func printRow(to io.Writer, e testCase, r *record) {
	ratio, perCall := "not measured", 0.0
	if r.Ratio != nil {
		ratio = fmt.Sprintf("%.3f (%.3f to %.3f, %d)", r.Ratio.Value, r.Ratio.Lower, r.Ratio.Upper, r.Ratio.Pairs)
	}
	if r.Calls > 0 {
		perCall = float64(r.Bytes) / float64(r.Calls)
	}
	fmt.Fprintf(to, "%-28s %-16.16s %-7s %11s %-7s %9d %7.2f %5.1f s %-27s %5.2f s %4.0f MiB\n", e.name(), r.Version,
		r.word("control", "exit", "output"), fmt.Sprintf("%d/%d", r.Compared, r.Lines), r.word("verify"), r.Calls, perCall, r.Native, ratio, r.Analysis.Wall, r.Analysis.MiB)
	fmt.Fprintf(to, "  %s\n", r.Sentence)
	for _, claim := range r.Claims {
		fmt.Fprintf(to, "  %s\n", claim)
	}
	var words []string
	for _, c := range r.Checks["commands"] {
		switch {
		case !c.OK:
			words = append(words, c.Name+" FAILS")
		case c.Detail != "":
			words = append(words, c.Name+" refused")
		default:
			words = append(words, c.Name)
		}
	}
	fmt.Fprintf(to, "  %s\n", strings.Join(words, ", "))
}

// word says how checks ended.
func (r *record) word(names ...string) string {
	for _, c := range r.Checks["run"] {
		if slices.Contains(names, c.Name) && !c.OK {
			return "FAILS"
		}
	}
	return "ok"
}

// judgeAll holds the checks of a case against the list of known failures.
func judgeAll(c *corpus, name string, r *record) (red, known []string) {
	for _, part := range parts {
		for _, check := range r.Checks[part] {
			k := c.reason(name, check.Name)
			switch {
			case !check.OK && k == nil:
				red = append(red, fmt.Sprintf("%s %s: %s", name, check.Name, check.Detail))
			case !check.OK:
				known = append(known, fmt.Sprintf("%s %s: %s", name, check.Name, k.reason))
			case k != nil && !k.sometimes:
				red = append(red, fmt.Sprintf("%s %s passes, but known-failures.txt lists it (%s): remove it there", name, check.Name, k.reason))
			}
		}
	}
	return red, known
}

// printVersions prints the list for the README.
func printVersions(to io.Writer, c *corpus) error {
	for _, p := range c.programs {
		if p.Own {
			continue
		}
		version, err := p.InstalledVersion()
		if err != nil {
			return err
		}
		var mpis []string
		for _, command := range p.Commands {
			mpis = append(mpis, map[string]string{"openmpi": "Open MPI", "mpich": "MPICH"}[command.MPI])
		}
		fmt.Fprintf(to, "%-18s %-30s %-18s %s\n", p.Name, version, strings.Join(mpis, ", "), p.About)
	}
	return nil
}
