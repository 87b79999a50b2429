package waitstate

import "github.com/cairn-mpi/cairn/analyzer/match"

// EagerLimit is the size in bytes from which a standard send may wait for its receive. It is the smallest default
// among common transports (Open MPI's shared memory: 4 KiB); where an implementation's limit is higher, the send
// returns before the receive is entered and is no wait state anyway.
const EagerLimit = 4096

// A Finder is a match.Handler that turns what was matched into wait states.
type Finder struct {
	// Found is told each wait state, in program order of its location.
	Found func(*State)
	// Violations counts effects that come before their causes, which only clocks can explain.
	Violations Violations
}

// Violations of causality: how many, and by how much at most.
type Violations struct {
	Count int
	Worst int64 // ns
}

func (v *Violations) add(ns int64) {
	v.Count++
	v.Worst = max(v.Worst, ns)
}

// Message implements match.Handler.
func (f *Finder) Message(m *match.Message) {
	s, r := m.Send, m.Receive
	if r.Done != nil {
		if late := s.Post.Enter - r.Done.Exit; late > 0 {
			f.Violations.add(late)
		}
		hold(r.Done, LateSender, s.Post.Enter, s.Post.Location)
	}
	if r.Probe || !Rendezvous(m) {
		return
	}
	if s.Done != nil && s.Done.Exit > r.Progress {
		kind := LateReceiver
		if r.Progress > r.Post.Enter && r.Progress > s.Post.Enter {
			kind = LateProgress
		}
		hold(s.Done, kind, r.Progress, r.Post.Location)
	}
	if r.Done != nil && pulled(s, r) {
		hold(r.Done, LateProgress, s.Progress, s.Post.Location)
	}
}

// pulled tells whether a receive seems to have waited until its sender, busy since it had posted the send, was inside
// MPI again. Some protocols let the receiver fetch the message alone, so it takes evidence: the wait ended soon after
// the sender came back, compared with how long it was away.
func pulled(s, r *match.End) bool {
	since := max(r.Done.Begin, s.Post.Exit)
	return s.Progress > since && s.Progress < r.Done.Exit && r.Done.Exit-s.Progress < (s.Progress-since)/4
}

// Rendezvous tells whether the message could not be sent before its receive was there. A standard send that returned
// before that has shown that it could.
func Rendezvous(m *match.Message) bool {
	switch m.Send.Mode {
	case match.Synchronous:
		return true
	case match.Buffered:
		return false
	case match.Standard, match.Ready:
	}
	return m.Bytes >= EagerLimit
}

// Collective implements match.Handler.
func (f *Finder) Collective(c *match.Collective, part int) {
	done := c.Parts[part].Done
	awaited := c.Awaited(part)
	if awaited < 0 || awaited == part || !c.Parts[awaited].Present() {
		return
	}
	post := c.Parts[awaited].Post
	if post.Enter > done.Exit {
		// Nobody can leave before the awaited has come, but for MPI_Init and MPI_Finalize, which need not synchronise,
		// and small reductions and prefixes, whose early ranks leave (so does a bcast's root, which awaits nobody).
		if c.Class == match.Barrier || c.Class == match.AllToAll && done.Enter <= post.Enter {
			f.Violations.add(post.Enter - done.Exit)
		}
		if c.Class == match.Startup || c.Class == match.Shutdown {
			return
		}
	}
	hold(done, kindOf[c.Class], post.Enter, post.Location)
}

var kindOf = [...]Kind{
	match.Barrier:  WaitAtBarrier,
	match.AllToAll: WaitAtNxN,
	match.OneToAll: LateBroadcast,
	match.AllToOne: EarlyReduce,
	match.Prefix:   EarlyScan,
	match.Neighbor: LateSender,
	match.Startup:  WaitAtInit,
	match.Shutdown: WaitAtFinalize,
}

// hold notes that the call could not go on before until, if nothing later held it up.
func hold(done *match.Completion, kind Kind, until int64, cause int) {
	until = min(until, done.Exit)
	if until > done.Begin && until > done.Until && cause != done.Location {
		done.Until, done.Cause, done.Kind = until, cause, uint8(kind)
	}
}

// Settled implements match.Handler.
func (f *Finder) Settled(c *match.Completion) {
	if c.Kind == uint8(None) || c.Polled {
		return
	}
	f.Found(&State{Kind: Kind(c.Kind), Begin: c.Begin, End: c.Until, Cause: c.Cause, Call: c})
}
