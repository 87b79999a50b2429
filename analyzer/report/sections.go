package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/profile"
)

// A section of the page: page/sections/<name>.html.tmpl shows its view, page/sections/<name>.js draws its chart.
type section struct {
	name, title string
	// view is what the template is given; nil: the report has nothing for this section, which is left out.
	view func(*Report) any
	// chart is what the script is given, as JSON; nil, or none for this report: there is no script.
	chart func(*Report) any
}

// sections are those of the page after the verdict, in their order. One that needs more than a few lines for its view
// has them in section_<name>.go.
var sections = []section{
	{"stopped", "How it ended", viewStopped, nil},
	{"ledger", "Where the time went", viewLedger, nil},
	{"efficiency", "Efficiency", viewEfficiency, chartEfficiency},
	{"whatif", "What if", func(r *Report) any { return some(r.WhatIf) }, nil},
	{"timeline", "Time line", viewTimeline, chartTimeline},
	{"path", "Critical path", viewPath, nil},
	{"waits", "Wait states", viewWaits, nil},
	{"ranks", "Ranks", viewRanks, chartRanks},
	{"computation", "Computation", func(r *Report) any { return bounded(r.Computation) }, nil},
	{"calls", "MPI calls", func(r *Report) any {
		var sizes []profile.SizeRow
		if r.Profile != nil {
			sizes = r.Profile.SizeClasses
		}
		return struct {
			table[ranks.SiteTime]
			Sizes []profile.SizeRow
		}{bounded(r.CallSites), sizes}
	}, nil},
	{"phases", "Phases", func(r *Report) any { return present(r.Phases) }, nil},
	{"messages", "Messages", viewMessages, chartMessages},
	{"topology", "Topology", viewTopology, chartTopology},
	{"clusters", "Clusters", func(r *Report) any { return r }, nil},
	{"placement", "Placement", viewPlacement, nil},
	{"program", "Program", viewProgram, nil},
	{"provenance", "Provenance", viewProvenance, nil},
}

// A table is the first rows of a long one; report.json has all.
type table[T any] struct {
	Rows []T
	More int // how many are not shown
}

// tableRows bounds the page's tables of places.
const tableRows = 60

func bounded[T any](all []T) table[T] {
	return table[T]{Rows: first(all, tableRows), More: max(0, len(all)-tableRows)}
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// present makes an absent part of the report an absent view.
func present[T any](part *T) any {
	if part == nil {
		return nil
	}
	return part
}

// some makes an empty list an absent view.
func some[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	return list
}
