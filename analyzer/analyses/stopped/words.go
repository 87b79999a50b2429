package stopped

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/trace"
)

// wait describes what an operation waited for: "from rank 3, tag 7, MPI_COMM_WORLD".
func (s *search) wait(w *match.Wait) string {
	switch {
	case w.Collective:
		return ""
	case w.Unnumbered:
		return s.meeting(w)
	case w.Lock && w.Peer >= 0:
		return fmt.Sprintf("for the lock of rank %d, %s", w.Peer, s.communicator(w.Comm))
	case w.Epoch:
		return fmt.Sprintf("for rank %d, %s", w.Peer, s.communicator(w.Comm))
	case w.Lock:
		return "for its lock, " + s.communicator(w.Comm)
	}
	direction, peer := "from", "any rank"
	if w.Send {
		direction = "to"
	}
	switch {
	case w.Peer >= 0:
		peer = fmt.Sprintf("rank %d", w.Peer)
	case !w.AnyOf && s.foreign(w.Comm):
		peer = "a process"
	}
	tag := ""
	if w.Tag >= 0 {
		tag = fmt.Sprintf(", tag %d", w.Tag)
	} else if !w.Send {
		tag = ", any tag"
	}
	return fmt.Sprintf("%s %s%s, %s", direction, peer, tag, s.communicator(w.Comm))
}

// meeting describes a collective call that is not numbered: "remote leader rank 1, tag 5,
// MPI_COMM_WORLD".
func (s *search) meeting(w *match.Wait) string {
	var parts []string
	if w.Peer >= 0 {
		parts = append(parts, fmt.Sprintf("remote leader rank %d", w.Peer))
	}
	if w.Tag >= 0 {
		parts = append(parts, fmt.Sprintf("tag %d", w.Tag))
	}
	return strings.Join(append(parts, s.communicatorOf(w)), ", ")
}

// communicatorOf returns the name of the communicator of an operation.
func (s *search) communicatorOf(w *match.Wait) string {
	if w.Unnumbered && w.Comm < 0 {
		return "MPI_COMM_SELF"
	}
	return s.communicator(w.Comm)
}

// words describes what a call waited for: the first operation that had not begun, and the number of
// others.
func (s *search) words(u *match.Unreturned) string {
	var list []string
	for i := range u.Waits {
		if w := &u.Waits[i]; len(w.For) > 0 || s.foreign(w.Comm) {
			list = append(list, s.waitOn(w))
		}
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	if len(list) > 1 {
		return fmt.Sprintf("%s, and %d more", list[0], len(list)-1)
	}
	return strings.Join(list, "")
}

// wordsFor describes what a call waited for from one rank.
func (s *search) wordsFor(u *match.Unreturned, rank int) string {
	for i := range u.Waits {
		if w := &u.Waits[i]; slices.Contains(w.For, rank) {
			return s.waitOn(w)
		}
	}
	return ""
}

// waitOn describes an operation; a collective one by its communicator.
func (s *search) waitOn(w *match.Wait) string {
	if w.Collective {
		return s.communicator(w.Comm)
	}
	return s.wait(w)
}

// stray describes an unreceived message from a rank that r waits for.
func (s *search) stray(r *state) string {
	for i := range r.open.Waits {
		w := &r.open.Waits[i]
		if w.Stray == nil {
			continue
		}
		return fmt.Sprintf(" Rank %d had sent to rank %d with tag %d on %s by %s, which nobody received.", w.Peer, r.rank, w.Stray.Tag,
			s.communicator(w.Stray.Comm), s.call(w.Stray.Post.Function, w.Stray.Post.Site).At())
	}
	return ""
}

// maxRanks is the number of ranks in the findings.
const maxRanks = 4096

func (s *search) ranks() []Rank {
	order, first := slices.Clone(s.accused), map[int]bool{}
	for _, row := range order {
		first[row] = true
	}
	for row := range s.states {
		if !first[row] {
			order = append(order, row)
		}
	}
	list := []Rank{}
	for _, row := range order[:min(len(order), maxRanks)] {
		list = append(list, s.rankOf(&s.states[row]))
	}
	return list
}

func (s *search) rankOf(r *state) Rank {
	out := Rank{Rank: r.rank, State: "outside MPI", Activity: r.activity}
	if r.end != nil {
		if r.end.Signal != 0 {
			out.Signal = new(r.end.Signal)
		}
		if r.end.ExitCode >= 0 {
			out.ExitCode = new(r.end.ExitCode)
		}
	}
	where, since := s.call(r.last.function, r.last.site), r.last.exit
	switch {
	case r.finished:
		out.State = "finished"
	case r.open != nil:
		out.State = "waiting"
		if r.polls {
			out.State = "polling"
		}
		where, since = s.call(r.open.Function, r.open.Site), r.open.Enter
		out.Root = r.detail.root
		if r.open.Comm >= 0 {
			out.Communicator = s.communicator(r.open.Comm)
		}
		s.fill(&out, r.open)
	case r.last.missed:
		out.State = "polling"
	}
	out.Function, out.CallSite = where.Function, where.CallSite
	if r.open != nil || r.last.there {
		out.SinceSeconds, out.LastedSeconds = seconds(since-s.begin), seconds(max(0, r.died-since))
	}
	return out
}

// fill sets what a call waited for.
func (s *search) fill(out *Rank, u *match.Unreturned) {
	var ranks []int
	for i := range u.Waits {
		w := &u.Waits[i]
		if len(w.For) == 0 {
			continue
		}
		ranks = append(ranks, w.For...)
		out.AnyOf = out.AnyOf || w.AnyOf || u.Any
		if out.Communicator == "" {
			out.Communicator = s.communicatorOf(w)
		}
		if !w.Collective && out.Peer == nil && out.Tag == nil {
			if w.Peer >= 0 {
				out.Peer = new(w.Peer)
			}
			if w.Tag >= 0 {
				out.Tag = new(w.Tag)
			}
		}
	}
	slices.Sort(ranks)
	out.For = trace.NewRankList(slices.Compact(ranks)).String()
}
