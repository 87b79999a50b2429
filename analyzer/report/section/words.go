package section

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// Functions are the functions of section templates.
var Functions = template.FuncMap{
	"seconds": wording.Duration, "fixed": Fixed, "known": Known, "percent": Percent, "activity": Activity, "site": callsite.Short, "early": Early,
	"place": func(p verdict.Call) string { return callsite.At(p.Function, p.CallSite) },
	"minus": func(a, b float64) float64 { return a - b },
	"plus":  func(a, b float64) float64 { return a + b },
	"share": func(part, whole float64) string {
		if whole <= 0 {
			return Percent(0)
		}
		return Percent(part / whole)
	},
}

// Fixed formats seconds for a column of a table.
func Fixed(s float64) string {
	switch {
	case s == 0:
		return "0"
	case s < 0.001:
		return fmt.Sprintf("%.6f", s)
	case s < 10:
		return fmt.Sprintf("%.4f", s)
	}
	return fmt.Sprintf("%.2f", s)
}

// Known is Fixed for a time that may be unknown.
func Known(s *float64) string {
	if s == nil {
		return "not known"
	}
	return Fixed(*s)
}

// Early describes how a rank ended that did not reach MPI_Finalize, or that its tracing stopped.
func Early(how string) string {
	if strings.HasPrefix(how, trace.TracingStopped) {
		return how
	}
	return "ended early: " + how
}

// Percent formats a share with one decimal.
func Percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// Whole returns a share in whole percents.
func Whole(share float64) int { return int(math.Round(100 * share)) }

// Rounded rounds to the digits that a reader needs, for the data of the page.
func Rounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 4-math.Ceil(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// Activity describes a call, or the computation between two.
func Activity(function, site string) string {
	if callsite.IsBetween(site) {
		return function + " " + site
	}
	return callsite.At(function, site)
}
