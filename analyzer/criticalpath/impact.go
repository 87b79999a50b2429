package criticalpath

import (
	"cmp"
	"slices"
)

// Impact is what the activities of the path cost all ranks together: Scalasca's performance impact (Böhme, de Supinski,
// Geimer, Schulz and Wolf, "Scalable critical-path based performance analysis", IPDPS 2012). While the path goes through
// an activity for CP(a), a rank r spends T_r(a) in it without waiting, and is idle for what its activities leave of the
// path's length. All of it adds up: Allocation = Activity + Within + Between + OffPath.
type Impact struct {
	Allocation float64          `json:"allocation_seconds"` // the path's activities times the number of ranks
	Activity   float64          `json:"activity_seconds"`   // sums over all activities
	Within     float64          `json:"within_seconds"`
	Between    float64          `json:"between_seconds"`
	OffPath    float64          `json:"off_path_seconds"`
	Activities []ActivityImpact `json:"activities"` // on the path, costliest first, at most 500
}

// ActivityImpact is what one activity of the path costs all ranks together.
type ActivityImpact struct {
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Path     float64 `json:"path_seconds"`
	// Imbalance is the critical-path imbalance indicator: what the path has of it beyond the mean of the ranks.
	Imbalance float64 `json:"imbalance_seconds"`
	// Activity is what ranks spend in it, of each no more than the path does.
	Activity float64 `json:"activity_seconds"`
	// Within is how long ranks that do the same are idle on its account (intra-partition imbalance), Between how long
	// ranks are that never do it (inter-partition imbalance): a rank's idle time is put down to what the path has more of
	// than the rank does, in proportion.
	Within  float64 `json:"within_seconds"`
	Between float64 `json:"between_seconds"`
	// OffPath is what ranks spend in it beyond what the path does: to make that shorter does not make the run shorter.
	OffPath float64 `json:"off_path_seconds"`
}

// Seconds is what the activity costs in all: its own time, and that of those who are idle meanwhile.
func (i *ActivityImpact) Seconds() float64 { return i.Activity + i.Within + i.Between }

// impact weighs the activities of the path.
func (a *analysis) impact() Impact {
	onPath := a.sorted(func(what activity) bool { return a.total[what].path > 0 }, func(t *tally) int64 { return t.path })
	length := 0.0
	rows := make([]ActivityImpact, len(onPath))
	for i, what := range onPath {
		kind := Communication
		if what.computes() {
			kind = Computation
		}
		function, site := a.names.labels(kind, what)
		rows[i] = ActivityImpact{Function: function, CallSite: site, Path: a.seconds(a.total[what].path)}
		length += rows[i].Path
	}
	f := Impact{}
	ranks, spent := 0, make([]float64, len(onPath))
	for first := range a.forward.locations {
		if a.forward.locations[first].Main != first || a.forward.extents[first].empty {
			continue
		}
		ranks++
		busy := a.busy(first)
		clear(spent)
		for i, what := range onPath {
			for _, t := range a.threads(first) {
				if own := t.tallies[what]; own != nil {
					spent[i] += a.seconds(max(0, own.ns-own.waited))
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
	f.Activities = rows[:min(len(rows), maxRows)]
	return f
}

// threads are the accounts of a rank whose first location is this.
func (a *analysis) threads(first int) []account {
	last := first + 1
	for last < len(a.accounts) && a.forward.locations[last].Main == first {
		last++
	}
	return a.accounts[first:last]
}

// busy is how long a rank's threads did something other than wait.
func (a *analysis) busy(first int) float64 {
	ns := int64(0)
	for _, t := range a.threads(first) {
		for _, own := range t.tallies {
			ns += max(0, own.ns-own.waited)
		}
	}
	return a.seconds(ns)
}
