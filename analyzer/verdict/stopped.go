package verdict

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A Stop describes a run that did not reach its end. Kind and Form determine which fields apply.
type Stop struct {
	// Hang, Crash; "": no rank is known to have failed, or all left without MPI_Finalize
	Kind Kind
	// For Hang: Cycle, Missing, Mismatch. Without a kind, Missing: ranks waited for one that was
	// outside MPI, and whether it would have gone on is not known.
	Form Form

	Seconds float64 // duration of the run; for a crash, until the first death
	// For a hang: how long none of the named ranks had made progress; 0: not known. If neither a
	// hang nor a crash is known: for how long no rank had made progress; 0: calls went on until
	// the end.
	Waited float64
	Ranks  int // number of ranks of the run

	Cycle  []Waiting // each waits for the next, the last for the first
	Named  []Who     // the rank that never came, or died; for a mismatch, one Who per call that does not match; if neither is known, ranks outside MPI
	Others []Waiting // other waiting ranks, one entry per call; the largest first
	Death  *Death    // for a crash
	Scope  string    // for a crash: "pod", "node" or "host" if all of its ranks ended at once
	Name   string    // name of the Scope
	Left   string    // ranks that left without MPI_Finalize, with their exit code, if they all did; otherwise ""
	Call   Call      // the call in which the others waited for the rank that never came; for a mismatch see Number
	Comm   string    // communicator of Call; "": it is about messages
	Send   bool      // they waited until their messages were received
	Window bool      // they waited for a lock of a window, or for an epoch
	Number int       // for a mismatch: number of the collective, from 1
	Stray  string    // for a cycle: description of a message that was sent and never received; "": none

	// For a run of which neither a hang nor a crash is known. Signals are 0 if there were none.
	Doubts   []Doubt   // why it is not known whether ranks could proceed
	May      []Waiting // ranks in calls that may have failed, if all were killed at once
	Signal   int       // ended all ranks
	Launcher int       // ended the command that had started the ranks
	Asked    int       // asked this command to end
	Code     int       // its exit code; −1: unknown
}

// A Doubt is why it is not known whether ranks could proceed.
type Doubt struct {
	Ranks string
	Count int
	What  string // "whether anybody connects"
}

// A Waiting is one rank, or several ranks that wait in the same call.
type Waiting struct {
	Ranks string // "3", "0-2"
	Count int
	Call  Call
	Polls bool   // it tested again and again with this call
	Rank  string // for a cycle: the rank that it waits for
	For   string // what it waits for: "from rank 3, tag 7, MPI_COMM_WORLD"; "" if the call determines it
}

// A Who is the state of ranks that do not wait: the call that they are in, or the last call and the
// time since then.
type Who struct {
	Ranks   string
	Count   int
	Where   string  // pod, node or host in words, "" if they differ
	In      Call    // the call that they were in; empty: none
	Detail  string  // detail of In: "with root 1"
	After   Call    // the last call that returned
	Seconds float64 // time since After
	Tests   bool    // After is an unsuccessful test: they may test again
	// Activity is what they did outside MPI. Busy: they made calls until the end.
	Activity Activity
	Busy     bool
	Gone     bool // they had exited, with or without MPI_Finalize
}

// An Activity is what the main thread of a rank outside MPI was seen to do in the end.
type Activity string

// The activities.
const (
	Unseen    Activity = ""
	Running   Activity = "running"   // on a CPU, or ready to run
	InKernel  Activity = "blocked"   // it slept, or waited for something
	Suspended Activity = "suspended" // by SIGSTOP or the like, or by a debugger
)

// A Death is how the first rank died.
type Death struct {
	Signal   int    // 0: not known
	ExitCode int    // −1: not known
	Abort    bool   // MPI_Abort was called
	Code     string // error code of MPI_Abort
	Failed   bool   // an MPI call failed, which ended the process
	Class    string // the error class of that; "": unknown
	Quick    bool   // an exit code without exit
	Program  string // it executed this program, which ended so; "": its own
	// Finalized: it had completed MPI_Finalize and made another call, which never returned.
	Finalized bool
	Told      bool   // somebody asked the job to end, which need not be why it died
	OneOf     bool   // it was at least one of the named ranks, which ended at once
	Or        string // what may have happened instead, by the exit code of the launcher

	OutOfMemory             bool  // the kernel killed it for lack of memory
	MemoryLimit, MemoryUsed int64 // bytes: of its cgroup, and what it was seen with; 0: not known
	Cut                     bool  // its end is not known: the trace has only what was stored before
	// Exact reports that the process said when it ended. Otherwise it was seen alive every 0.1 s,
	// and lived for at least so long.
	Exact bool
	Late  float64 // seconds from then to the end of the run
}

// Sentence returns the first sentence of the report on a run that did not reach its end.
func (s *Stop) Sentence() string {
	switch {
	case s.Kind == Hang && s.Form == Cycle:
		return s.cycle()
	case s.Kind == Hang && s.Form == Missing:
		return s.missing()
	case s.Kind == Hang && s.Form == Mismatch:
		return s.mismatch()
	case s.Death != nil:
		return s.crash()
	case s.Form == Missing:
		return s.stalled()
	case s.Left != "":
		return fmt.Sprintf("%s left without MPI_Finalize after %s.", capital(s.Left), wording.Duration(s.Seconds))
	}
	return s.seen()
}

// others returns a sentence about the other waiting ranks.
func (s *Stop) others(begin string) string {
	if len(s.Others) == 0 {
		return ""
	}
	list := s.list()
	if begin == "Meanwhile" {
		return " Meanwhile " + list + "."
	}
	return " " + capital(list) + "."
}

func (s *Stop) list() string { return and(s.clauses(s.Others)) }

// clauses says what waiting ranks did, one clause per call.
func (s *Stop) clauses(list []Waiting) (parts []string) {
	for i := range list {
		if i == maxNamed {
			parts = append(parts, "others elsewhere")
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", s.name(&list[i]), list[i].does()))
	}
	return parts
}

// site returns a call site in words.
func site(p Call) string { return callsite.At("", p.CallSite) }

func (w *Waiting) in() string {
	if w.For == "" {
		return w.Call.At()
	}
	return fmt.Sprintf("%s (%s)", w.Call.At(), w.For)
}

// does says what the ranks did: they waited in a call, or polled with it.
func (w *Waiting) does() string {
	if w.Polls {
		return "polled in vain with " + w.in()
	}
	return "waited in " + w.in()
}

func (w *Who) name() string { return names(w.Ranks, w.Count) }

// name returns waiting ranks in words: by number, unless they are all ranks that the sentence has
// not named yet.
func (s *Stop) name(w *Waiting) string {
	named := len(s.Cycle)
	for i := range s.Named {
		named += s.Named[i].Count
	}
	if w.Count > 1 && w.Count == s.Ranks-named && named > 0 {
		return fmt.Sprintf("the other %d ranks", w.Count)
	}
	return s.all(w.Ranks, w.Count)
}

// all returns ranks in words: by number, unless they are all ranks of the run.
func (s *Stop) all(ranks string, count int) string {
	if count > 1 && count == s.Ranks {
		return fmt.Sprintf("all %d ranks", count)
	}
	return names(ranks, count)
}

func names(ranks string, count int) string {
	if count == 1 {
		return "rank " + ranks
	}
	if len(ranks) > 40 {
		return fmt.Sprintf("%d ranks (%s…)", count, ranks[:40])
	}
	return "ranks " + ranks
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// joined joins clauses to a sentence.
func joined(clauses []string) string {
	if len(clauses) == 2 {
		return clauses[0] + ", and " + clauses[1]
	}
	return and(clauses)
}

// and joins words to a list.
func and(parts []string) string {
	switch n := len(parts); n {
	case 0, 1:
		return strings.Join(parts, "")
	case 2:
		return parts[0] + " and " + parts[1]
	default:
		return strings.Join(parts[:n-1], ", ") + ", and " + parts[n-1]
	}
}

var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGUSR1",
	11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}

// crashes are the signals of a program's own errors.
var crashes = []int{3, 4, 5, 6, 7, 8, 11, 31}

// signalName returns "signal 11, SIGSEGV".
func signalName(n int) string {
	if name := signals[n]; name != "" {
		return fmt.Sprintf("signal %d, %s", n, name)
	}
	return fmt.Sprintf("signal %d", n)
}
