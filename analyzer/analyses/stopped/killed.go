package stopped

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/mpi"
)

// Signals by which launchers and people end ranks.
const (
	sighup  = 1
	sigint  = 2
	sigkill = 9
	sigterm = 15
)

var sent = []int{sigterm, sigkill, sigint, sighup}

// unfinished reports whether a rank did not return from MPI_Finalize.
func unfinished(r *state) bool { return !r.finished }

// endedBy reports whether the rank is known to have been ended by one of the signals.
func (r *state) endedBy(signals ...int) bool {
	return r.end != nil && slices.Contains(signals, r.end.Signal)
}

// diedBefore compares deaths by their order, which was observed on each host, otherwise by time.
func (r *state) diedBefore(other *state) bool {
	if r.end != nil && other.end != nil && r.end.Order > 0 && other.end.Order > 0 && r.host == other.host {
		return r.end.Order < other.end.Order
	}
	return r.died < other.died
}

// waits reports whether the rank was in a call that waited for another rank.
func (r *state) waits() bool {
	return r.open != nil && slices.ContainsFunc(r.open.Waits, func(w match.Wait) bool { return len(w.For) > 0 })
}

// sentBySomebody has exit codes of launchers that a signal ended or timeout(1) did. A launcher that
// ends because of a rank exits with that rank's code, with 1, or with 128 plus the rank's signal.
var sentBySomebody = []int{124, 128 + 1, 128 + 2, 128 + sigterm}

// told reports whether somebody ended the job, and the rank died no earlier than that. Its death
// need not be a reason then: calls fail when the launcher is gone, and so do signal handlers.
func (s *search) told(r *state) bool {
	l := s.trace.Meta().Launcher
	return l != nil && (l.Asked != 0 || l.Signal != 0 || slices.Contains(sentBySomebody, l.ExitCode)) && s.ended-r.died < apart
}

// failed finds the first rank that an MPI library ended after an error: in a call, by _exit with
// the error code, of which the class is the low byte; in MPI_Init also by exit. If ranks failed
// alike, it names all of them.
func (s *search) failed() *verdict.Stop {
	alike := func(r *state) bool {
		return r.end != nil && r.end.Order > 0 && r.end.ExitCode > 0 && len(r.views()) > 0 && (!r.end.CalledExit || r.detail.begin)
	}
	first := s.first(alike)
	if first == nil || s.told(first) {
		return nil
	}
	class := s.errorClass(first, first.end.ExitCode)
	first = s.failing(first, class)
	stop := s.death(first, first.died)
	stop.Death.Failed, stop.Death.Class = true, class
	stop.Named[0].Detail = s.operation(first, stop.Death.Class)
	// The launcher may have ended others while they failed, too.
	s.several(stop, s.rowsOf(func(r *state) bool {
		return r.inCall() && r.open.Function == first.open.Function && r.open.Site == first.open.Site &&
			(alike(r) && r.end.ExitCode == first.end.ExitCode || s.mustFail(r, class))
	}))
	return stop
}

// afterFinalize finds the first rank that ended in a call after MPI_Finalize, which MPI libraries
// take as a fatal error. If all ranks have completed MPI_Finalize the run itself is complete.
func (s *search) afterFinalize() *verdict.Stop {
	var first *state
	for i := range s.states {
		if r := &s.states[i]; r.after != nil && (first == nil || r.after.Enter < first.after.Enter) {
			first = r
		}
	}
	if first == nil || s.told(first) {
		return nil
	}
	stop := s.death(first, first.after.Enter)
	stop.Death.Late, stop.Death.Finalized = 0, true
	stop.Named[0].In = s.call(first.after.Function, first.after.Site)
	alike := s.rowsOf(func(r *state) bool {
		return r.after != nil && r.after.Function == first.after.Function && r.after.Site == first.after.Site && r.endedLike(first)
	})
	stop.Named[0].Ranks, stop.Named[0].Count, s.accused = s.list(alike), len(alike), alike
	if s.count(unfinished) == 0 {
		stop.Kind = ""
	}
	return stop
}

// inCall reports whether the rank was in a call that should have returned.
func (r *state) inCall() bool { return r.isWaiting() && !r.polls }

// isWaiting reports whether the rank was in such a call, or polled.
func (r *state) isWaiting() bool { return r.open != nil && r.detail.code == "" }

// errorClass returns the MPI error class of an exit code; "" if it need not be one. 1 is the code
// of other errors, too, and so are all codes in MPI_Init.
func (s *search) errorClass(r *state, code int) string {
	if code <= 1 || r.detail.begin {
		return ""
	}
	return mpi.ErrorClass(s.trace.Meta().ABI, code)
}

// refused finds the rank with the call that failed, if the launcher killed all ranks at once, that
// one included: Hydra does so, and exits with the error code. If several calls can have failed with
// it, the sentence names all of these ranks. The number of a signal that ended ranks is the exit
// code after a kill, too: then an argument must be the error.
func (s *search) refused() *verdict.Stop {
	l := s.trace.Meta().Launcher
	killed := func(r *state) bool { return unfinished(r) && r.endedBy(sigkill, sigterm) }
	if l == nil || s.count(killed) == 0 || s.count(killed) != s.count(unfinished) {
		return nil
	}
	class := mpi.ErrorClass(s.trace.Meta().ABI, l.ExitCode)
	rows := s.culprits(class, func(r *state) bool { return killed(r) && s.errorClass(r, l.ExitCode) != "" })
	if len(rows) == 0 || s.told(&s.states[rows[0]]) {
		return nil
	}
	first := s.failing(&s.states[rows[0]], class)
	if s.count(func(r *state) bool { return r.endedBy(l.ExitCode) }) > 0 && s.mayFail(first, class) != faulty {
		return nil
	}
	stop := s.death(first, first.died)
	stop.Death.Failed, stop.Death.Class, stop.Death.Signal = true, class, 0
	stop.Named[0].Detail = s.operation(first, class)
	stop.Death.OneOf = len(rows) > 1 && !s.mustFail(first, class)
	s.several(stop, rows)
	return stop
}

// several lets the sentence name ranks that failed or were killed, or of which one was, with the
// call that they were in or came from if it was the same.
func (s *search) several(stop *verdict.Stop, rows []int) {
	if len(rows) < 2 {
		return
	}
	s.accused = rows
	who := &stop.Named[0]
	who.Ranks, who.Count, who.Where = s.list(rows), len(rows), ""
	for _, row := range rows {
		r := &s.states[row]
		stop.Death.OutOfMemory = stop.Death.OutOfMemory && r.end != nil && r.end.OutOfMemory
		if now := s.who(r); now.In != who.In || now.After != who.After && who.In.Function == "" {
			who.In, who.After, who.Detail = verdict.Call{}, verdict.Call{}, ""
		} else if who.Seconds = min(who.Seconds, now.Seconds); who.Detail != "" && s.operation(r, stop.Death.Class) != who.Detail {
			who.Detail = ""
		}
	}
	// where ranks were of which only one failed is worth to be known
	named := !stop.Death.OneOf || who.In.Function != ""
	stop.Others = s.waiting(func(r *state) bool { return !named || !slices.Contains(rows, r.row) })
}

// killed finds the first rank that a signal ended which is sent, if that was not the launcher's or
// somebody's who stopped the job: the launcher ended the others by another signal, its exit code
// says that a rank was killed, or the kernel ran out of memory.
func (s *search) killed() *verdict.Stop {
	first := s.first(func(r *state) bool { return unfinished(r) && r.end != nil })
	if first == nil || s.told(first) || first.end.Order == 0 || !first.endedBy(sent...) {
		return nil
	}
	alike := func(r *state) bool { return unfinished(r) && r.endedBy(first.end.Signal) }
	if s.count(alike) == 1 && s.count(unfinished) > 1 {
		return s.death(first, first.died)
	}
	if first.endedBy(sigkill) && s.trace.Meta().ABI == sendsTerm {
		stop := s.death(first, first.died)
		s.several(stop, s.rowsOf(func(r *state) bool { return alike(r) && r.died-first.died < apart }))
		return stop
	}
	l := s.trace.Meta().Launcher
	noticed := l != nil && l.Signal == 0 && (l.ExitCode == sigkill || l.ExitCode == 128+sigkill)
	if !first.endedBy(sigkill) || !noticed && !first.end.OutOfMemory {
		return nil
	}
	// A rank that is killed may still be ending when the launcher has killed the others. Those were
	// waiting for it by then, or soon.
	idle := func(r *state) bool { return alike(r) && !r.waits() }
	outside := func(r *state) bool { return idle(r) && r.open == nil }
	among := alike
	for _, fewer := range []func(*state) bool{idle, outside} {
		if s.count(fewer) > 0 {
			among = fewer
		}
	}
	likely := s.first(among)
	stop := s.death(likely, likely.died)
	if noticed {
		stop.Death.Or = s.orError(alike)
	}
	stop.Death.OneOf = s.count(among) > 1
	s.several(stop, s.rowsOf(among))
	return stop
}

// sendsTerm is the MPI whose mpirun ends ranks by SIGTERM, and by SIGKILL only those that live a
// second longer. So ranks that SIGKILL ended at once were all killed by somebody else: a person,
// the kernel, or another launcher. Hydra sends SIGKILL within milliseconds of the first death.
const sendsTerm = "openmpi"

// orError describes the MPI error that the exit code after a kill stands for, too, if calls of
// ranks that count may have failed so; otherwise it returns "".
func (s *search) orError(counts func(*state) bool) string {
	class := mpi.ErrorClass(s.trace.Meta().ABI, sigkill)
	rows := s.culprits(class, counts)
	if class == "" || len(rows) == 0 {
		return ""
	}
	r := s.failing(&s.states[rows[0]], class)
	return fmt.Sprintf("%s made an MPI error (%s, which has the exit code of a kill, %d) in %s",
		who(s.list(rows), len(rows)), class, sigkill, s.call(r.open.Function, r.open.Site).At())
}

// suspects groups the ranks whose calls may have failed with some error.
func (s *search) suspects() []verdict.Waiting {
	return s.waiting(func(r *state) bool {
		messages := !slices.ContainsFunc(r.open.Waits, func(w match.Wait) bool { return w.Collective })
		return r.detail.begin || !s.proven(r.detail.signature) && !(messages && r.waits())
	})
}

// endedBy adds who or what stopped a run of which neither a hang nor a crash is known.
func (s *search) endedBy(stop *verdict.Stop) {
	stop.Code = -1
	for _, signal := range sent {
		if s.count(func(r *state) bool { return unfinished(r) && r.endedBy(signal) }) == s.count(unfinished) {
			stop.Signal = signal
		}
	}
	if l := s.trace.Meta().Launcher; l != nil {
		stop.Code, stop.Asked, stop.Launcher = l.ExitCode, l.Asked, l.Signal
		if stop.Signal == sigkill {
			stop.May = s.suspects()
		}
	}
}

// operation describes what a call that failed with an error of a class was about: the argument that
// was wrong, its message or its communicator.
func (s *search) operation(r *state, class string) string {
	var parts []string
	if words := r.detail.faults[class].words; words != "" {
		parts = append(parts, words)
	}
	if r.detail.root != nil {
		parts = append(parts, fmt.Sprintf("root %d", *r.detail.root))
	}
	w := s.concerned(r, class)
	switch {
	case w != nil && (w.Collective || w.Peer >= 0 || r.detail.peer == ""):
		parts = append(parts, s.waitOn(w))
		if i := s.differing(w); i != nil {
			parts = append(parts, s.amounts(i))
		} else if n := len(r.open.Waits) - 1; n > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", n))
		}
	default:
		if r.detail.peer != "" {
			parts = append(parts, r.detail.peer)
		}
		if r.open.Comm >= 0 {
			parts = append(parts, s.communicator(r.open.Comm))
		}
	}
	return strings.Join(parts, ", ")
}

// concerned returns the operation of a call that may have failed with an error of a class: of a
// message that was too long, the first receive. It returns nil if no operation is known.
func (s *search) concerned(r *state, class string) *match.Wait {
	var first *match.Wait
	for i := range r.open.Waits {
		w := &r.open.Waits[i]
		if class == "MPI_ERR_TRUNCATE" && s.truncates(r, w) != sound {
			return w
		}
		if first == nil {
			first = w
		}
	}
	return first
}
