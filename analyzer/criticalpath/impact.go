package criticalpath

import (
	"cmp"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"slices"
)

// impact weighs the activities of the path.
func (a *pathMaker) impact() path.Impact {
	onPath := a.sorted(func(what activity) bool { return a.total[what].path > 0 }, func(t *tally) int64 { return t.path })
	length := 0.0
	rows := make([]path.ActivityImpact, len(onPath))
	for i, what := range onPath {
		kind := accounts.Communication
		if what.computes() {
			kind = accounts.Computation
		}
		function, site := a.names.labels(kind, what)
		rows[i] = path.ActivityImpact{Function: function, CallSite: site, Path: inSeconds(a.total[what].path)}
		length += rows[i].Path
	}
	f := path.Impact{}
	ranks, spent := 0, make([]float64, len(onPath))
	for first := range a.locations {
		if a.locations[first].Main != first || a.extents[first].empty {
			continue
		}
		ranks++
		busy := a.busy(first)
		clear(spent)
		for i, what := range onPath {
			for _, t := range a.threads(first) {
				if own := t.tallies[what]; own != nil {
					spent[i] += inSeconds(max(0, own.ns-own.waited))
				}
			}
		}
		room, own := 0.0, 0.0
		for i := range rows {
			rows[i].Imbalance += spent[i]
			rows[i].Activity += min(spent[i], rows[i].Path)
			rows[i].OffPath += max(0, spent[i]-rows[i].Path)
			own += spent[i]
			room += max(0, rows[i].Path-spent[i])
		}
		f.OffPath += max(0, busy-own)
		idle := max(0, length-busy)
		if room == 0 {
			continue
		}
		for i := range rows {
			part := idle / room * max(0, rows[i].Path-spent[i])
			if spent[i] > 0 {
				rows[i].Within += part
			} else {
				rows[i].Between += part
			}
		}
	}
	f.Allocation = length * float64(ranks)
	for i := range rows {
		row := &rows[i]
		row.Imbalance = max(0, row.Path-row.Imbalance/float64(max(1, ranks)))
		f.Activity += row.Activity
		f.Within += row.Within
		f.Between += row.Between
		f.OffPath += row.OffPath
	}
	slices.SortStableFunc(rows, func(x, y path.ActivityImpact) int { return cmp.Compare(y.Seconds(), x.Seconds()) })
	f.Activities = rows[:min(len(rows), maxRows)]
	return f
}

// threads are the accounts of a rank whose first location is this.
func (a *pathMaker) threads(first int) []account {
	last := first + 1
	for last < len(a.each) && a.locations[last].Main == first {
		last++
	}
	return a.each[first:last]
}

// busy is how long a rank's threads did something other than wait.
func (a *pathMaker) busy(first int) float64 {
	ns := int64(0)
	for _, t := range a.threads(first) {
		for _, own := range t.tallies {
			ns += max(0, own.ns-own.waited)
		}
	}
	return inSeconds(ns)
}
