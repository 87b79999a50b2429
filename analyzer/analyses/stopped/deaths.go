package stopped

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// A process is known to have been alive until 0.1 s before its death. Ranks that were ended
// together differ by at most together; a rank that died at least apart before the others died by
// itself. On a machine with many more threads than cores the last sign of life can be older: of a
// job that had stood still for a second, all ranks were ended together if they differ by less than
// that.
const (
	together = 300e6
	apart    = 500e6
	late     = 1e9
)

// aborted finds the first rank that called MPI_Abort, in any of its threads.
func (s *search) aborted() *verdict.Stop {
	var first *state
	for i := range s.states {
		if r := &s.states[i]; r.abort != nil && (first == nil || r.abort.call.Enter < first.abort.call.Enter) {
			first = r
		}
	}
	if first == nil {
		return nil
	}
	at := first.abort.call
	stop := s.death(first, at.Enter)
	stop.Death.Abort, stop.Death.Code, stop.Named[0].In = true, first.abort.code, s.call(at.Function, at.Site)
	stop.Others = s.waiting(func(r *state) bool { return r != first && r.open.Enter <= at.Enter })
	return stop
}

// crashed finds the first rank that was ended by a signal of its own, not by one that launchers and
// people send. If the job was told to end, and ranks ended so, it may be a handler that fails.
func (s *search) crashed() *verdict.Stop {
	first := s.first(func(r *state) bool { return r.end != nil && r.end.Signal != 0 && !r.endedBy(sent...) })
	if first == nil {
		return nil
	}
	told := s.told(first)
	if told && s.count(func(r *state) bool { return unfinished(r) && r.endedBy(sent...) }) > 0 {
		return nil
	}
	stop := s.death(first, first.died)
	if stop.Death.Told = told; told {
		s.endedBy(stop)
	}
	return stop
}

// executed finds the ranks that executed another program, which is no rank: the first one, and
// those that did so at about the same time. How that program ended need not matter.
func (s *search) executed() *verdict.Stop {
	first := s.first(func(r *state) bool { return r.program != "" })
	if first == nil {
		return nil
	}
	stop := s.death(first, first.died)
	stop.Death.Program = first.program
	s.several(stop, s.rowsOf(func(r *state) bool { return r.program == first.program && r.died-first.died < apart }))
	return stop
}

// left finds the first rank that exited, if most did not: in the end all do so if their launcher is
// gone.
func (s *search) left() *verdict.Stop {
	gone := func(r *state) bool { return !r.finished && r.end != nil && r.end.ExitCode >= 0 }
	first := s.first(gone)
	if first == nil {
		return nil
	}
	many := 2*s.count(gone) > s.count(unfinished) && s.count(unfinished) > 1
	if many && s.ended-first.died < apart || s.told(first) {
		return nil
	}
	return s.death(first, first.died)
}

// vanished finds ranks that were gone long before the others without any record: a lost pod, or a
// killed process.
func (s *search) vanished() *verdict.Stop {
	first := s.first(func(r *state) bool { return !r.finished && (r.living || s.ended-r.died >= apart) })
	if first == nil || !first.living && s.ended-first.died < late && s.stoodStill(first.died-late) {
		return nil
	}
	var set []int
	for i := range s.states {
		if r := &s.states[i]; !r.finished && r.died-first.died < together && s.ended-r.died >= apart && r.endedLike(first) {
			set = append(set, i)
		}
	}
	if len(set) == 0 {
		return nil
	}
	stop := s.death(first, first.died)
	for _, unit := range []struct {
		scope string
		of    func(*state) string
	}{
		{"pod", func(r *state) string { return r.pod }}, {"node", func(r *state) string { return r.node }}, {"host", func(r *state) string { return r.host }},
	} {
		if name := unit.of(first); name != "" && s.wholeUnit(set, unit.of) {
			stop.Scope, stop.Name = unit.scope, name
			stop.Named = []verdict.Who{{Ranks: s.list(set), Count: len(set)}}
			s.accused = set
			break
		}
	}
	if stop.Scope == "" {
		s.several(stop, set)
	}
	stop.Others = s.waiting(func(r *state) bool { return !slices.Contains(set, r.row) })
	return stop
}

// endedLike reports whether nothing is known that distinguishes the ends of two ranks.
func (r *state) endedLike(other *state) bool {
	return r.end == nil || other.end == nil || r.end.Signal == other.end.Signal && r.end.ExitCode == other.end.ExitCode
}

// stoodStill reports whether every rank is in a call that it entered before a time.
func (s *search) stoodStill(at int64) bool {
	return !slices.ContainsFunc(s.states, func(r state) bool { return r.open == nil || r.open.Enter > at })
}

// wholeUnit reports whether rows are all rows of a unit, such as a pod, and not all of the run.
func (s *search) wholeUnit(rows []int, of func(*state) string) bool {
	name := of(&s.states[rows[0]])
	n := 0
	for i := range s.states {
		if of(&s.states[i]) == name {
			n++
		}
	}
	for _, row := range rows {
		if of(&s.states[row]) != name {
			return false
		}
	}
	return n == len(rows) && n < len(s.states)
}

// allLeft handles runs in which all ranks called exit without MPI_Finalize.
func (s *search) allLeft() *verdict.Stop {
	codes := map[int]bool{}
	n := 0
	for i := range s.states {
		r := &s.states[i]
		if r.finished {
			continue
		}
		if r.end == nil || r.end.ExitCode < 0 || r.open != nil {
			return nil
		}
		codes[r.end.ExitCode] = true
		n++
		s.accused = append(s.accused, i)
	}
	if n == 0 {
		return nil
	}
	words := fmt.Sprintf("all %d ranks", n)
	if n < len(s.states) {
		words = who(s.list(s.accused), n)
	}
	if len(codes) == 1 {
		for code := range codes {
			words += fmt.Sprintf(" (exit code %d)", code)
		}
	}
	return &verdict.Stop{Left: words, Seconds: seconds(s.ended - s.begin)}
}

// first returns the state of the rank that died first among those that count, nil if there is none.
func (s *search) first(counts func(*state) bool) *state {
	var first *state
	for i := range s.states {
		if r := &s.states[i]; counts(r) && (first == nil || r.diedBefore(first)) {
			first = r
		}
	}
	return first
}

// count returns the number of ranks that count.
func (s *search) count(counts func(*state) bool) (n int) {
	for i := range s.states {
		if counts(&s.states[i]) {
			n++
		}
	}
	return n
}

// rowsOf returns the rows of the ranks that count.
func (s *search) rowsOf(counts func(*state) bool) (list []int) {
	for i := range s.states {
		if counts(&s.states[i]) {
			list = append(list, i)
		}
	}
	return list
}

// death returns the data of the first sentence about a rank that died.
func (s *search) death(r *state, at int64) *verdict.Stop {
	s.accused = []int{r.row}
	d := &verdict.Death{ExitCode: -1, Late: seconds(s.ended - r.died), Cut: r.living}
	if r.end != nil {
		d.Signal, d.ExitCode = r.end.Signal, r.end.ExitCode
		d.Quick, d.Exact = r.end.Order > 0 && !r.end.CalledExit, r.end.CalledExit
		if d.OutOfMemory = r.end.OutOfMemory && r.endedBy(sigkill); d.OutOfMemory {
			d.MemoryLimit, d.MemoryUsed = r.end.MemoryLimit, r.end.MemoryUsed
		}
	}
	stop := &verdict.Stop{Kind: verdict.Crash, Seconds: seconds(at - s.begin), Death: d, Named: []verdict.Who{s.who(r)}}
	stop.Named[0].Where = whereabouts(r)
	stop.Others = s.waiting(func(o *state) bool { return o.row != r.row })
	return stop
}

func whereabouts(r *state) string {
	switch {
	case r.pod != "" && r.node != "":
		return fmt.Sprintf(" (pod %s, node %s)", r.pod, r.node)
	case r.pod != "":
		return fmt.Sprintf(" (pod %s)", r.pod)
	}
	return ""
}

// who returns the state of a rank.
func (s *search) who(r *state) verdict.Who {
	w := verdict.Who{Ranks: fmt.Sprint(r.rank), Count: 1, Gone: r.finished, Activity: r.activity}
	if r.open != nil && !r.polls {
		w.In = s.call(r.open.Function, r.open.Site)
	}
	if r.last.there {
		w.After = s.call(r.last.function, r.last.site)
		w.Seconds = seconds(max(0, r.died-r.last.exit))
	}
	return w
}

// waiting groups the waiting ranks that count by call.
func (s *search) waiting(counts func(*state) bool) []verdict.Waiting {
	type key struct {
		function uint16
		site     uint32
	}
	rows := map[key][]int{}
	for i := range s.states {
		if r := &s.states[i]; r.isWaiting() && counts(r) {
			k := key{r.open.Function, r.open.Site}
			rows[k] = append(rows[k], i)
		}
	}
	var list []verdict.Waiting
	for k, set := range rows {
		w := verdict.Waiting{Ranks: s.list(set), Count: len(set), Call: s.call(k.function, k.site), Polls: s.states[set[0]].polls}
		if len(set) == 1 {
			w.For = s.words(s.states[set[0]].open)
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b verdict.Waiting) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Ranks, b.Ranks), strings.Compare(a.Call.CallSite, b.Call.CallSite))
	})
	return list
}

// list returns rows as a list of ranks.
func (s *search) list(rows []int) string {
	ranks := make([]int, len(rows))
	for i, row := range rows {
		ranks[i] = s.states[row].rank
	}
	slices.Sort(ranks)
	return trace.NewRankList(ranks).String()
}

func who(ranks string, n int) string {
	if n == 1 {
		return "rank " + ranks
	}
	return "ranks " + ranks
}

func verdictCount(n int) string { return fmt.Sprintf("%d ranks", n) }
