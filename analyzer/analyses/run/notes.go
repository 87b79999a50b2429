package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/trace"
)

// notesOf returns the defects of the trace that a reader must know before relying on the other
// findings.
func notesOf(a *accounts.Accounts, f *matching.Result) []string {
	notes := append([]string{}, a.Meta.Notes...)
	if a.Window != nil {
		notes = append(notes, "Only a part of the run was analyzed; 'the run' means that part. The groups of ranks with the same calls and the program text are those of the whole run.")
	}
	if note := roundingNote(a, f); note != "" {
		if n := f.Violations.Rounded; n > 0 {
			note += fmt.Sprintf(" Messages that seem to arrive before they were sent, but by no more than that: %d. They do not indicate a clock error.", n)
		}
		notes = append(notes, note)
	}
	if c := a.Meta.Clustering; c != nil && len(c.Votes) > 0 {
		notes = append(notes, "The ranks were clustered while they ran: between two markers the times of single calls of most ranks are extrapolated from the lead rank of their cluster: stretched to the time that the rank itself spent computing and in MPI.")
	}
	if len(a.Meta.MissingRanks) > 0 {
		notes = append(notes, fmt.Sprintf("Missing from the trace: rank %s. How long others waited for missing ranks is not known.", a.Meta.MissingRanks))
	}
	for _, r := range a.Ranks {
		if r.EndedEarly != "" && !r.TracingStopped() {
			notes = append(notes, fmt.Sprintf("Rank %d ended early (%s).", r.Rank, r.EndedEarly))
		}
	}
	for _, loss := range a.Names.Trace.Ranks().Losses() {
		notes = append(notes, fmt.Sprintf("Calls of rank %s that were not recorded: %d, because %s.", loss.Ranks, loss.Calls, loss.Why))
	}
	if note := untracedNote(a); note != "" {
		notes = append(notes, note)
	}
	if note := overheadNote(a); note != "" {
		notes = append(notes, note)
	}
	if n := len(a.Meta.Excluded); n > 0 {
		notes = append(notes, fmt.Sprintf("Calls of some groups were not recorded (%s): the time in them counts as computation.", strings.Join(a.Meta.Excluded, ", ")))
	}
	return append(notes, unmatchedNotes(a, f)...)
}

// untracedNote reports intervals in which the program turned tracing off.
func untracedNote(a *accounts.Accounts) string {
	var ranks []int
	sum := int64(0)
	for i := range a.Each {
		if ns := a.Each[i].Untraced; ns > 0 {
			sum += ns
			ranks = append(ranks, a.Ranks[a.Locations[i].Row].Rank)
		}
	}
	if sum == 0 {
		return ""
	}
	slices.Sort(ranks)
	return fmt.Sprintf("Tracing was off (MPI_Pcontrol) for %.3g s of the time of rank %s: it counts neither as computation nor as MPI, and messages of that time are not known.",
		float64(sum)/1e9, trace.NewRankList(slices.Compact(ranks)))
}

// overheadNote reports the time that ranks spent in votes if they were clustered while they ran.
func overheadNote(a *accounts.Accounts) string {
	overhead, lasted := int64(0), int64(0)
	for i := range a.Each {
		overhead += a.Each[i].Overhead
		lasted += a.Extents[i].End - a.Extents[i].Start
	}
	if overhead == 0 || lasted <= 0 {
		return ""
	}
	return fmt.Sprintf("The ranks voted while they ran (--mode clustered): that took %.2g%% of their time, which counts neither as computation nor as MPI.",
		100*float64(overhead)/float64(lasted))
}

// unmatchedNotes reports unmatched operations, joined over the ranks with the same kind of
// operation at the same call site.
func unmatchedNotes(a *accounts.Accounts, f *matching.Result) []string {
	if f == nil {
		return nil
	}
	type callSite struct {
		what     match.What
		function uint16
		site     uint32
	}
	ranks, counts := map[callSite][]int{}, map[callSite]int{}
	var order []callSite
	for _, l := range f.Leftovers {
		p := callSite{l.What, l.Function, l.Site}
		if counts[p] == 0 {
			order = append(order, p)
		}
		counts[p] += l.Count
		ranks[p] = append(ranks[p], a.Ranks[l.Row].Rank)
	}
	suffix := notStored(a)
	var notes []string
	for _, p := range order {
		notes = append(notes, fmt.Sprintf("%s: %d × %s on rank %s%s.", capital(string(p.what)), counts[p],
			a.Names.Call(p.function, p.site).At(), trace.NewRankList(ranks[p]), suffix))
	}
	return notes
}

// notStored explains why a partner may be missing without an error of the program: the trace of a
// rank whose pod was lost ends with the last data that was stored.
func notStored(a *accounts.Accounts) string {
	var cut []int
	for _, r := range a.Ranks {
		if r.EndedEarly == trace.Running {
			cut = append(cut, r.Rank)
		}
	}
	if len(cut) == 0 {
		return ""
	}
	return fmt.Sprintf("; the other side may not be stored: what rank %s called last is not in the trace", trace.NewRankList(cut))
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
