package stopped

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// hung reads the closed set of ranks that cannot proceed, whatever ranks outside MPI do: its first
// mismatched collective, its shortest cycle, or the rank outside of it that it waits for. It
// returns nil if the set is empty.
func (s *search) hung() *verdict.Stop {
	s.play(overdue, unknown)
	stuck := s.stuckRows()
	for _, read := range []func([]int) *verdict.Stop{s.mismatched, s.circle, s.never} {
		if found := read(stuck); found != nil {
			found.Kind, found.Seconds = verdict.Hang, seconds(s.ended-s.begin)
			return found
		}
	}
	return nil
}

// stalled finds the rank that others wait for: one that is overdue outside MPI, or one that goes on
// making calls while they wait for most of the run. They could proceed only if it did, and whether
// it would is not known.
func (s *search) stalled() *verdict.Stop {
	defer s.play(overdue, unknown)
	if stop := s.waitFor(overdue); stop != nil {
		return stop
	}
	if stop := s.waitFor(s.busy); stop != nil && stop.Waited > max(stop.Seconds/2, muchLonger*longEnough/1e9) {
		return stop
	}
	s.accused = nil
	return nil
}

// waitFor returns the ending of ranks that wait for one of these ranks, or for several that do the
// same.
func (s *search) waitFor(these func(*state) bool) *verdict.Stop {
	s.play(these, cannot)
	stuck := slices.DeleteFunc(s.stuckRows(), func(row int) bool { return these(&s.states[row]) })
	row, waiters := s.awaited(stuck, these)
	if row < 0 {
		return nil
	}
	first := &s.states[row]
	stop := s.absent(s.rowsOf(func(r *state) bool {
		return these(r) && r.activity == first.activity && r.last.function == first.last.function && r.last.site == first.last.site &&
			slices.Equal(s.waitersOf(stuck, r.row), waiters)
	}), waiters)
	stop.Named[0].Busy, stop.Seconds = s.busy(first), seconds(s.ended-s.begin)
	stop.Named = append(stop.Named, s.outside(func(r *state) bool { return r.overdue && !slices.Contains(s.accused, r.row) })...)
	s.endedBy(stop)
	return stop
}

// stuckRows returns the rows of the ranks that are stuck.
func (s *search) stuckRows() (rows []int) {
	for i := range s.states {
		if s.stuck(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// stuck reports whether a rank is in a call and cannot proceed.
func (s *search) stuck(row int) bool {
	return s.states[row].open != nil && s.abilities[row] == cannot
}

// waited returns how long none of these ranks has made progress.
func (s *search) waited(rows []int) int64 {
	since, until := int64(0), int64(0)
	for i, row := range rows {
		r := &s.states[row]
		if i == 0 {
			since = r.open.Enter
		}
		since, until = max(since, r.open.Enter), max(until, r.died)
	}
	return max(0, until-since)
}

// next returns the rows that a stuck rank waits for.
func (s *search) next(row int) []int {
	var list []int
	u := s.states[row].open
	for i := range u.Waits {
		if s.ends(&u.Waits[i]) != cannot {
			continue
		}
		for _, rank := range u.Waits[i].For {
			if to, there := s.rows[rank]; there && s.abilities[to] == cannot {
				list = append(list, to)
			}
		}
	}
	return list
}

// maxCircle is the size of a run up to which the shortest cycle is searched from each rank.
const maxCircle = 2048

// circle finds the shortest cycle of ranks that wait for each other. Ranks in MPI_Finalize have
// done their part.
func (s *search) circle(stuck []int) *verdict.Stop {
	var best []int
	for k, from := range stuck {
		if k == maxCircle {
			break
		}
		if found := s.back(from, len(best)); found != nil {
			if best = found; len(best) <= 2 {
				break
			}
		}
	}
	if best == nil {
		return nil
	}
	if ahead := s.ahead(best, stuck); ahead >= 0 {
		return s.absent([]int{ahead}, s.waitersOf(stuck, ahead))
	}
	stop := &verdict.Stop{Form: verdict.Cycle, Waited: seconds(s.waited(best))}
	for i, row := range best {
		r := &s.states[row]
		s.cycle = append(s.cycle, r.rank)
		to := s.states[best[(i+1)%len(best)]].rank
		stop.Cycle = append(stop.Cycle, verdict.Waiting{
			Ranks: fmt.Sprint(r.rank), Count: 1, Call: s.call(r.open.Function, r.open.Site), Polls: r.polls, Rank: fmt.Sprint(to), For: s.wordsFor(r.open, to),
		})
		if stop.Stray == "" {
			stop.Stray = s.stray(r)
		}
	}
	s.accused = best
	stop.Others = s.waiting(func(r *state) bool { return !slices.Contains(best, r.row) })
	return stop
}

// ahead returns the row of a cycle that has continued to a collective alone, while the next one in
// the cycle still waits for one of its messages and all others still wait for messages: it omitted
// the exchange. It returns −1 if there is none. With two ranks it is undecidable which of them is
// wrong.
func (s *search) ahead(circle, stuck []int) int {
	if len(stuck) < 3 {
		return -1
	}
	alone := -1
	for _, row := range circle {
		if !s.isCollective(row) {
			continue
		}
		if alone >= 0 {
			return -1
		}
		alone = row
	}
	for _, row := range stuck {
		if row != alone && s.isCollective(row) {
			return -1
		}
	}
	return alone
}

func (s *search) isCollective(row int) bool {
	f := s.trace.Semantics(s.states[row].open.Function)
	return f != nil && f.Collective
}

// back returns the shortest path from a row back to it, nil if there is none shorter than less (0:
// any).
func (s *search) back(from, less int) []int {
	before := map[int]int{}
	queue, depth := []int{from}, map[int]int{from: 1}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if less > 0 && depth[at] >= less {
			return nil
		}
		if !s.stuck(at) || s.states[at].detail.ends {
			continue
		}
		for _, to := range s.next(at) {
			if to == from {
				way := []int{at}
				for at != from {
					at = before[at]
					way = append(way, at)
				}
				slices.Reverse(way)
				return way
			}
			if _, seen := depth[to]; !seen {
				depth[to], before[to] = depth[at]+1, at
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// never finds a rank that others wait for and that is gone, or stuck in MPI_Finalize.
func (s *search) never(stuck []int) *verdict.Stop {
	row, waiters := s.awaited(stuck, func(r *state) bool { return r.finished || r.detail.ends && s.stuck(r.row) })
	if row < 0 {
		return nil
	}
	return s.absent([]int{row}, waiters)
}

// awaited returns the row of the ranks that count with most waiters among stuck rows, and these; −1
// if there is none.
func (s *search) awaited(stuck []int, counts func(*state) bool) (row int, waiters []int) {
	row = -1
	for _, r := range s.rowsOf(counts) {
		if found := s.waitersOf(stuck, r); len(found) > len(waiters) {
			row, waiters = r, found
		}
	}
	return row, waiters
}

// waitersOf returns the given rows that wait for a row. Ranks in MPI_Finalize have done their part;
// they wait only for a rank that may still come.
func (s *search) waitersOf(rows []int, to int) []int {
	_, mayCome := s.assumed[to]
	var list []int
	for _, row := range rows {
		if r := &s.states[row]; (!r.detail.ends || mayCome) && slices.Contains(s.targets(r.open), s.states[to].rank) {
			list = append(list, row)
		}
	}
	return list
}

// targets returns the ranks that a call waited for.
func (s *search) targets(u *match.Unreturned) []int {
	var list []int
	for i := range u.Waits {
		list = append(list, u.Waits[i].For...)
	}
	return list
}

// absent returns the hang of ranks that wait for those in these rows, which did the same and never
// came.
func (s *search) absent(rows, waiters []int) *verdict.Stop {
	r := &s.states[rows[0]]
	s.accused = rows
	stop := &verdict.Stop{
		Form: verdict.Missing, Waited: seconds(s.waited(waiters)), Named: []verdict.Who{s.who(r)},
	}
	stop.Named[0].Ranks, stop.Named[0].Count = s.list(rows), len(rows)
	in := func(r *state) bool { return slices.Contains(waiters, r.row) }
	stop.Others = append(s.waiting(in), s.waiting(func(o *state) bool { return !in(o) && !slices.Contains(rows, o.row) })...)
	first := &s.states[waiters[0]]
	for _, k := range waiters {
		u := s.states[k].open
		if c := s.call(u.Function, u.Site); c == stop.Others[0].Call {
			first = &s.states[k]
		}
	}
	stop.Call = stop.Others[0].Call
	for i := range first.open.Waits {
		if w := &first.open.Waits[i]; slices.Contains(w.For, r.rank) {
			if w.Collective || w.Unnumbered {
				stop.Comm = s.communicatorOf(w)
			} else {
				stop.Send, stop.Window, stop.Others[0].For = w.Send, w.Epoch || w.Lock, s.wait(w)
			}
		}
	}
	return stop
}

// mismatched finds mismatched collective calls that stuck ranks are in.
func (s *search) mismatched(stuck []int) *verdict.Stop {
	var found *instance
	for _, row := range stuck {
		for i := range s.states[row].open.Waits {
			w := &s.states[row].open.Waits[i]
			if !w.Collective {
				continue
			}
			if x := s.collectives.mismatchAt(w.Comm, w.Ordinal); x != nil && (found == nil || x.comm < found.comm) {
				found = x
			}
		}
	}
	if found == nil {
		return nil
	}
	groups := slices.Clone(found.groups)
	slices.SortStableFunc(groups, func(a, b group) int { return len(a.rows) - len(b.rows) })
	stop := &verdict.Stop{
		Form: verdict.Mismatch, Waited: seconds(s.waited(stuck)),
		Comm: s.communicator(found.comm), Number: int(found.ordinal) + 1,
	}
	for k := range groups {
		g := &groups[k]
		other := &groups[(k+1)%len(groups)]
		slices.Sort(g.rows)
		stop.Named = append(stop.Named, verdict.Who{Ranks: s.list(g.rows), Count: len(g.rows), In: s.call(g.id, g.site), Detail: g.differs(other)})
	}
	s.accused = groups[0].rows
	return stop
}
