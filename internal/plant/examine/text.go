package examine

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/plant"
	"github.com/cairn-mpi/cairn/trace"
)

// String returns the truth, the verdict and the judgment, one per line.
func (r *Result) String() string {
	var b strings.Builder
	if r.Truth.RunSeconds > 0 {
		fmt.Fprintf(&b, "loss: %.4g s of %.4g s, %.0f%%\n", r.Truth.LossSeconds, r.Truth.RunSeconds, 100*r.Truth.Loss())
	}
	if r.Mended != nil {
		fmt.Fprintf(&b, "mended: %.3f s\n", r.Mended)
	}
	for i := range r.Truth.Planted {
		one := &r.Truth.Planted[i]
		fmt.Fprintf(&b, "true: %s", accepted(one))
		if len(r.Truth.Planted) > 1 && one.LossSeconds > 0 {
			fmt.Fprintf(&b, " (%.0f%%)", 100*one.LossSeconds/r.Truth.RunSeconds)
		}
		fmt.Fprintln(&b)
	}
	if len(r.Truth.Planted) == 0 {
		fmt.Fprintf(&b, "true: nobody%s\n", also(r.Truth.May))
	}
	for i := range r.Causes {
		fmt.Fprintf(&b, "cause: %s\n", plant.Name(&r.Causes[i]))
	}
	for i := range r.WhatIf {
		fmt.Fprintf(&b, "if %s: %.1f%% less\n", r.WhatIf[i].What, 100*r.WhatIf[i].Gain)
	}
	if l := r.Ledger; l != nil {
		for _, row := range l.Rows {
			if row.NS > 0 {
				fmt.Fprintf(&b, "ledger: %5.1f%% %s\n", 100*float64(row.NS)/float64(l.TotalNS), row.What)
			}
		}
	}
	fmt.Fprintf(&b, "verdict: %s\n", r.Text)
	if r.Why == "" {
		fmt.Fprintln(&b, "right")
	} else {
		fmt.Fprintf(&b, "WRONG: %s\n", r.Why)
	}
	return b.String()
}

func accepted(p *plant.Planted) string {
	parts := make([]string, len(p.Accepted))
	for i, e := range p.Accepted {
		parts[i] = string(e.Kind)
		for k, form := range e.Forms {
			parts[i] += []string{"/", " or "}[min(k, 1)] + string(form)
		}
		if e.Who != nil {
			parts[i] += map[bool]string{true: " of ", false: " of some of "}[e.Exact] + trace.NewRankList(e.Who).String()
		}
	}
	return p.Kind + ": " + strings.Join(parts, "; or ")
}

func also(kinds []verdict.Kind) string {
	s := ""
	for _, k := range kinds {
		s += ", or " + string(k)
	}
	return s
}

// Command returns a command that reproduces the result.
func (r *Result) Command() string {
	s := fmt.Sprintf("go run ./bench plant --kind %s --seed %d", r.Plant.Kind, r.Plant.Seed)
	if r.Plant.Real {
		s += " --real --mpi " + r.MPI
	}
	return s
}
