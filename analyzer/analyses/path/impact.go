package path

import (
	"cmp"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"slices"
)

// impact returns the cost of the path's activities for all ranks.
func (a *pathMaker) impact() Impact {
	onPath := a.Sorted(func(what accounts.Activity) bool { return a.Total[what].Path > 0 }, func(t *accounts.Tally) int64 { return t.Path })
	length := 0.0
	rows := make([]ActivityImpact, len(onPath))
	for i, what := range onPath {
		kind := accounts.Communication
		if what.Computes() {
			kind = accounts.Computation
		}
		function, site := a.Names.Labels(kind, what)
		rows[i] = ActivityImpact{Function: function, CallSite: site, Path: accounts.Seconds(a.Total[what].Path)}
		length += rows[i].Path
	}
	f := Impact{}
	ranks, spent := 0, make([]float64, len(onPath))
	for first := range a.Locations {
		if a.Locations[first].Main != first || a.Extents[first].Empty {
			continue
		}
		ranks++
		busy := a.busy(first)
		clear(spent)
		for i, what := range onPath {
			for _, t := range a.threads(first) {
				if own := t.Tallies[what]; own != nil {
					spent[i] += accounts.Seconds(max(0, own.Ns-own.Waited))
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
	slices.SortStableFunc(rows, func(x, y ActivityImpact) int { return cmp.Compare(y.Seconds(), x.Seconds()) })
	f.Activities = rows[:min(len(rows), accounts.MaxRows)]
	return f
}

// threads returns the accounts of the rank with this first location.
func (a *pathMaker) threads(first int) []accounts.Account {
	last := first + 1
	for last < len(a.Each) && a.Locations[last].Main == first {
		last++
	}
	return a.Each[first:last]
}

// busy returns the seconds for which the threads of a rank did not wait.
func (a *pathMaker) busy(first int) float64 {
	ns := int64(0)
	for _, t := range a.threads(first) {
		for _, own := range t.Tallies {
			ns += max(0, own.Ns-own.Waited)
		}
	}
	return accounts.Seconds(ns)
}
