package stopped

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// If a rank could still make progress, it is a hang only if that rank has computed for at least
// longEnough, and for muchLonger times as long as any rank did before. Waits shorter than minWait
// may be due to a run that was stopped at that time.
const (
	longEnough = 500e6
	muchLonger = 3
	minWait    = 20e6
)

// hung finds a hang.
func (s *search) hung() *verdict.Stop {
	var waiting []int
	for i := range s.states {
		if s.states[i].open != nil && !s.states[i].detail.begin {
			waiting = append(waiting, i)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	s.play()
	var stuck []int
	for i := range s.states {
		if s.stuck[i] {
			stuck = append(stuck, i)
		}
	}
	// Ranks in mismatched calls may have all partners present.
	if rows := stuck; len(rows) > 0 || s.waited(waiting) >= longEnough {
		if len(rows) == 0 {
			rows = waiting
		}
		if stop := s.mismatched(rows); stop != nil {
			return stop
		}
	}
	if len(stuck) > 0 && s.waited(stuck) >= minWait {
		if stop := s.circle(stuck); stop != nil {
			return stop
		}
		return s.never(stuck)
	}
	return s.slow()
}

// play determines which ranks could still make progress:
//
//   - a rank that computes;
//   - a rank that waits for nothing that has not begun;
//   - a rank whose requirements (or one of them, if that is enough) can be met by ranks that can
//     make progress.
func (s *search) play() {
	n := len(s.states)
	s.canAct, s.stuck = make([]bool, n), make([]bool, n)
	for i := range s.states {
		r := &s.states[i]
		s.canAct[i] = !r.finished && r.open == nil
	}
	for changed := true; changed; {
		changed = false
		for i := range s.states {
			if r := &s.states[i]; r.open != nil && !s.canAct[i] && s.returns(r.open) {
				s.canAct[i], changed = true, true
			}
		}
	}
	for i := range s.states {
		s.stuck[i] = s.states[i].open != nil && !s.canAct[i]
	}
}

// returns reports whether a call can return by the actions of ranks that can make progress.
func (s *search) returns(u *match.Unreturned) bool {
	if len(u.Waits) == 0 {
		return true // its requirements are unknown
	}
	for i := range u.Waits {
		if done := s.ends(&u.Waits[i]); done && u.Any {
			return true
		} else if !done && !u.Any {
			return false
		}
	}
	return !u.Any
}

func (s *search) ends(w *match.Wait) bool {
	if len(w.For) == 0 || s.foreign(w.Comm) {
		return true
	}
	for _, rank := range w.For {
		row, there := s.rows[rank]
		can := !there || s.canAct[row] // actions of a rank that is not in the trace are unknown
		if can && w.AnyOf {
			return true
		} else if !can && !w.AnyOf {
			return false
		}
	}
	return !w.AnyOf
}

// foreign reports whether a communicator includes processes of another world, which are not in this
// trace.
func (s *search) foreign(comm int) bool {
	comms := s.trace.Communicators()
	return comm >= 0 && comm < len(comms) && comms[comm].RemoteWorld != ""
}

// waited returns how long none of these ranks has made progress.
func (s *search) waited(rows []int) int64 {
	since := s.states[rows[0]].open.Enter
	until := int64(0)
	for _, row := range rows {
		since, until = max(since, s.states[row].open.Enter), max(until, s.states[row].died)
	}
	return max(0, until-since)
}

// next returns the rows that a stuck rank waits for.
func (s *search) next(row int) []int {
	var list []int
	u := s.states[row].open
	for i := range u.Waits {
		if s.ends(&u.Waits[i]) && !u.Any {
			continue
		}
		for _, rank := range u.Waits[i].For {
			if to, there := s.rows[rank]; there && !s.canAct[to] {
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
		return s.absent(ahead, s.waitersOf(stuck, ahead))
	}
	stop := &verdict.Stop{Kind: verdict.Hang, Form: verdict.Cycle, Seconds: seconds(s.ended - s.begin), Waited: seconds(s.waited(best))}
	for i, row := range best {
		r := &s.states[row]
		s.cycle = append(s.cycle, r.rank)
		to := s.states[best[(i+1)%len(best)]].rank
		stop.Cycle = append(stop.Cycle, verdict.Waiting{
			Ranks: fmt.Sprint(r.rank), Count: 1, Call: s.call(r.open.Function, r.open.Site), Rank: fmt.Sprint(to), For: s.wordsFor(r.open, to),
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
		if !s.stuck[at] || s.states[at].detail.ends {
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

// never handles a rank that is in MPI_Finalize, or gone, while others wait for it.
func (s *search) never(stuck []int) *verdict.Stop {
	for _, row := range stuck {
		if s.states[row].detail.ends {
			continue
		}
		for _, to := range s.next(row) {
			if t := &s.states[to]; t.finished || t.detail.ends {
				return s.absent(to, s.waitersOf(stuck, to))
			}
		}
	}
	return &verdict.Stop{Kind: verdict.Hang, Seconds: seconds(s.ended - s.begin), Waited: seconds(s.waited(stuck)), Others: s.waiting(func(*state) bool { return true })}
}

// waitersOf returns the given rows that wait for a row.
func (s *search) waitersOf(rows []int, to int) []int {
	var list []int
	for _, row := range rows {
		if r := &s.states[row]; !r.detail.ends && slices.Contains(s.targets(r.open), s.states[to].rank) {
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

// slow finds a rank that computes for much longer than any rank did before, while all others wait
// for it.
func (s *search) slow() *verdict.Stop {
	longest := int64(0)
	for i := range s.states {
		longest = max(longest, s.states[i].longest)
	}
	var found *state
	var waiters []int
	for i := range s.states {
		r := &s.states[i]
		if r.finished || r.open != nil || !r.last.there {
			continue
		}
		lasted := r.died - r.last.exit
		if lasted < longEnough || lasted < muchLonger*longest {
			continue
		}
		var waiting []int
		for k := range s.states {
			if s.states[k].open != nil && slices.Contains(s.targets(s.states[k].open), r.rank) {
				waiting = append(waiting, k)
			}
		}
		if len(waiting) > 0 && (found == nil || len(waiting) > len(waiters)) {
			found, waiters = r, waiting
		}
	}
	if found == nil {
		return nil
	}
	return s.absent(found.row, waiters)
}

// absent returns the hang of ranks that wait for one that never came.
func (s *search) absent(row int, waiters []int) *verdict.Stop {
	r := &s.states[row]
	s.accused = []int{row}
	stop := &verdict.Stop{
		Kind: verdict.Hang, Form: verdict.Missing, Seconds: seconds(s.ended - s.begin), Waited: seconds(s.waited(waiters)), Named: []verdict.Who{s.who(r)},
	}
	in := func(r *state) bool { return slices.Contains(waiters, r.row) }
	stop.Others = append(s.waiting(in), s.waiting(func(o *state) bool { return !in(o) && o != r })...)
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
			if w.Collective {
				stop.Comm = s.communicator(w.Comm)
			} else {
				stop.Send, stop.Others[0].For = w.Send, s.wait(w)
			}
		}
	}
	return stop
}

// mismatched finds mismatched collective calls on the communicators that stuck ranks wait on or are
// members of.
func (s *search) mismatched(stuck []int) *verdict.Stop {
	if s.lost {
		return nil
	}
	var found *instance
	for comm, i := range s.collectives.mismatch {
		concerned := false
		for _, g := range i.groups {
			concerned = concerned || slices.ContainsFunc(g.rows, func(row int) bool { return slices.Contains(stuck, row) })
		}
		if concerned && (found == nil || comm < found.comm) {
			found = i
		}
	}
	if found == nil {
		return nil
	}
	groups := slices.Clone(found.groups)
	slices.SortStableFunc(groups, func(a, b group) int { return len(a.rows) - len(b.rows) })
	stop := &verdict.Stop{
		Kind: verdict.Hang, Form: verdict.Mismatch, Seconds: seconds(s.ended - s.begin), Waited: seconds(s.waited(stuck)),
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
