package waitstate

import (
	"cmp"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// EagerLimit is the size in bytes from which a standard send may wait for its receive. It is the smallest default
// among common transports (Open MPI's shared memory: 4 KiB); where an implementation's limit is higher, the send
// returns before the receive is entered and is no wait state anyway.
const EagerLimit = 4096

// A Finder is a match.Handler that turns what was matched into wait states.
type Finder struct {
	// Found is told each wait state, in program order of its location.
	Found func(*State)
	// Violations counts effects that come before their causes, which only clocks can explain, or rounded times.
	Violations Violations
	// WrongOrder counts the late senders that the order of the receives makes worse.
	WrongOrder [2]WrongOrder // messages of the same source, of different ones

	trees     *Trees
	small     small
	receivers []recent // by location
}

// NewFinder makes a finder for a trace.
func NewFinder(t timeline.Trace, found func(*State)) *Finder {
	return &Finder{Found: found, trees: NewTrees(t), small: newSmall(t)}
}

// Section implements match.Sectioner.
func (f *Finder) Section(within bool) { f.small.Section(within) }

// Violations of causality: how many, and by how much at most.
type Violations struct {
	Count   int
	Worst   int64 // ns
	Rounded int   // by no more than rounded times may say; not in Count
}

// early counts an effect that comes before its cause.
func (f *Finder) early(cause, effect match.Stamp) {
	switch ns := cause.At - effect.At; {
	case ns <= 0:
	case !cause.After(effect):
		f.Violations.Rounded++
	default:
		f.Violations.Count++
		f.Violations.Worst = max(f.Violations.Worst, ns)
	}
}

// Message implements match.Handler.
func (f *Finder) Message(m *match.Message) {
	s, r := m.Send, m.Receive
	if m.Kind >= match.ExposedToStart {
		f.oneSided(m)
		return
	}
	if r.Done != nil {
		f.early(s.Post.EnterStamp(), r.Done.ExitStamp())
		if hold(r.Done, LateSender, s.Post.EnterStamp(), s.Post.Location, known(m)) && !r.Probe {
			r.Done.Message = s.Post.EnterStamp()
		}
		if old := r.Done.Oldest.At; !r.Probe && (old == 0 || s.Post.Enter < old || s.Post.Enter == old && s.Post.Location < r.Done.Source) {
			r.Done.Oldest, r.Done.Source = s.Post.EnterStamp(), s.Post.Location
		}
	}
	if m.Kind == match.Partition || r.Probe {
		return
	}
	if !Rendezvous(m) {
		f.small.see(m)
		return
	}
	switch there, again := Helped(s, r); {
	case s.Done == nil:
	case Awaited(s.Done, there):
		kind := LateReceiver
		if again {
			kind = lateness(s, r)
		}
		hold(s.Done, kind, there, r.Post.Location, known(m))
	case s.Mode == semantics.Synchronous: // it did not need the receiver's help, but it cannot end before the receive is there
		hold(s.Done, LateReceiver, r.Post.EnterStamp(), r.Post.Location, known(m))
	}
	if r.Done != nil && Pulled(s, r) {
		hold(r.Done, LateProgress, s.ProgressStamp(), s.Post.Location, known(m))
	}
}

// Helped is from when on a receiver was there for a large message: when it had posted its receive, or when it was back in MPI
// after that (again). Where it may have been inside for long enough meanwhile, that takes evidence.
func Helped(s, r *match.End) (there match.Stamp, again bool) {
	posted := r.Post.EnterStamp()
	switch {
	case s.Done == nil:
		return posted, false
	case r.Open && !endedSoon(s.Done, r.Progress, max(s.Done.Begin, s.Post.Enter, r.Left)), r.Brief && !cameBack(s.Done, r):
		return posted, false
	}
	return r.ProgressStamp(), true
}

// noticeable is from which absence on, in nanoseconds, a rank may be what a call waited for after it had been there.
const noticeable = 40_000

// cameBack reports whether a call seems to have waited until the rank of a partner was back that had been inside MPI for a
// while with both sides posted: it was away for half of the time that the call lasted until then, by more than rounding
// explains, and the call ended soon after.
func cameBack(done *match.Completion, partner *match.End) bool {
	away := partner.Progress - partner.Left
	return away > max(noticeable, 4*(partner.ProgressError+done.EnterError+done.ExitError)) && 2*away >= partner.Progress-done.Begin &&
		partner.Progress < done.Exit && endedSoon(done, partner.Progress, max(done.Begin, partner.Left))
}

// lateness is how a receiver was late: it had not posted its receive, or was outside MPI.
func lateness(s, r *match.End) Kind {
	if r.Progress > r.Post.Enter && r.Progress > s.Post.Enter {
		return LateProgress
	}
	return LateReceiver
}

// Awaited reports whether a call can have waited for something: it ended after that. Where rounding leaves open which came
// first, only a call that lasted longer than rounding explains counts: a wait as long would be lost otherwise.
func Awaited(done *match.Completion, until match.Stamp) bool {
	exit := done.ExitStamp()
	return exit.At > until.At ||
		until.At-exit.At < until.Error+exit.Error && exit.After(match.Stamp{At: done.Begin, Error: done.EnterError})
}

// Pulled reports whether a receive seems to have waited until its sender, busy since it had posted the send, was inside
// MPI again. Some protocols let the receiver fetch the message alone, so it takes evidence: the wait ended soon after
// the sender came back, compared with how long it was away.
func Pulled(s, r *match.End) bool {
	if s.Brief {
		return cameBack(r.Done, s)
	}
	since := max(r.Done.Begin, s.Post.Exit)
	return s.Progress < r.Done.Exit && endedSoon(r.Done, s.Progress, since)
}

// endedSoon reports whether a call ended soon after its partner was inside MPI again, compared with how long the partner
// had been away since.
func endedSoon(done *match.Completion, back, since int64) bool {
	return back > since && done.Exit-back < (back-since)/4
}

// Rendezvous reports whether the message could not be sent before its receive was there. A standard send that returned
// before that has shown that it could.
func Rendezvous(m *match.Message) bool {
	switch m.Send.Mode {
	case semantics.Synchronous:
		return true
	case semantics.Buffered:
		return false
	case semantics.Standard, semantics.Ready:
	}
	return m.Bytes >= EagerLimit
}

// Collective implements match.Handler.
func (f *Finder) Collective(c *match.Collective, part int) {
	done := c.Parts[part].Done
	if awaited := f.awaited(c, part); awaited >= 0 {
		post := &c.Parts[awaited].Post
		hold(done, kindOf[c.Class], post.EnterStamp(), post.Location, c.Parts[c.Last].Post.Enter)
	}
	if cause, held := f.trees.Held(c, part); held {
		post := &c.Parts[cause.Part].Post
		hold(done, kindOf[c.Class], post.EnterStamp(), post.Location, c.Parts[c.Last].Post.Enter)
	}
}

// awaited is the participant whose entry the operation itself makes another wait for; −1 if there is none.
func (f *Finder) awaited(c *match.Collective, part int) int {
	done, awaited := c.Parts[part].Done, c.Awaited(part)
	if awaited < 0 || awaited == part || !c.Parts[awaited].Present() {
		return -1
	}
	post := &c.Parts[awaited].Post
	if post.Enter <= done.Exit {
		return awaited
	}
	// Nobody can leave before the awaited has come, but for MPI_Init and MPI_Finalize, which need not synchronise, those who
	// get no data from it (their counts are 0), small reductions and prefixes, whose early ranks leave (so does a bcast's
	// root, which awaits nobody), and what may but need not synchronise on windows and files.
	if c.Class == match.Barrier || c.Class == match.AllToAll && done.Enter <= post.Enter {
		f.early(post.EnterStamp(), done.ExitStamp())
	}
	switch c.Class {
	case match.Startup, match.Shutdown, match.Fence, match.Window, match.File:
		if !Awaited(done, post.EnterStamp()) {
			return -1
		}
	case match.AllToAll, match.AllToOne:
		if leftBefore(done, post) {
			return lastBefore(c, part)
		}
	case match.Barrier, match.OneToAll, match.Prefix, match.Neighbor:
	}
	return awaited
}

// lastBefore is who entered last before a participant left without waiting for everybody, −1 if it stayed for longer after
// that than before: it did not wait for that one.
func lastBefore(c *match.Collective, part int) int {
	done, last := c.Parts[part].Done, -1
	for i := range c.Parts {
		p := &c.Parts[i]
		if i != part && p.Present() && p.Post.Enter <= done.Exit && (last < 0 || p.Post.Enter > c.Parts[last].Post.Enter) {
			last = i
		}
	}
	if last >= 0 {
		if at := c.Parts[last].Post.Enter; at-done.Begin <= done.Exit-at {
			return -1
		}
	}
	return last
}

var kindOf = [...]Kind{
	match.Barrier:  WaitAtBarrier,
	match.AllToAll: WaitAtNxN,
	match.OneToAll: LateBroadcast,
	match.AllToOne: EarlyReduce,
	match.Prefix:   EarlyScan,
	match.Neighbor: WaitAtNeighbors,
	match.Startup:  WaitAtInit,
	match.Shutdown: WaitAtFinalize,
	match.Fence:    WaitAtFence,
	match.Window:   WaitAtWindow,
	match.File:     WaitAtFile,
}

// oneSided handles what ranks tell each other about epochs and locks.
func (f *Finder) oneSided(m *match.Message) {
	done, cause := m.Receive.Done, &m.Send.Post
	switch m.Kind {
	case match.ExposedToStart:
		if cause.Enter == done.Exit || Awaited(done, cause.EnterStamp()) { // else it did not wait: MPI_Win_complete will have to
			hold(done, LatePost, cause.EnterStamp(), cause.Location, known(m))
		}
	case match.Exposed, match.Accessed:
		f.early(cause.EnterStamp(), done.ExitStamp())
		kind := LatePost
		if m.Kind == match.Accessed {
			kind = EarlyWait
		}
		hold(done, kind, cause.EnterStamp(), cause.Location, known(m))
	case match.LockGiven:
		hold(done, LockContention, m.Until, cause.Location, known(m))
	case match.Data, match.Partition:
	}
}

// known is when all of a message was known: both its ends were being completed.
func known(m *match.Message) (at int64) {
	at = math.MinInt64
	for _, done := range [...]*match.Completion{m.Send.Done, m.Receive.Done} {
		if done != nil {
			at = max(at, done.Enter)
		}
	}
	return at
}

// hold notes that the call could not go on before until, if nothing later held it up. Of what held it up as long, what was known
// first counts, and of that what a fixed order puts first: messages are told of in no order that means anything.
func hold(done *match.Completion, kind Kind, until match.Stamp, cause int, known int64) bool {
	came := until.At
	if exit := done.ExitStamp(); came > exit.At {
		if until.After(exit) {
			came = exit.At
		}
		until = exit
	}
	switch {
	case until.At <= done.Begin || until.At < done.Until || cause == done.Location:
		return false
	case until.At == done.Until && done.Kind != uint8(None):
		order := cmp.Or(cmp.Compare(known, done.Known), cmp.Compare(cause, done.Cause), cmp.Compare(uint8(kind), done.Kind), cmp.Compare(came, done.Came))
		if order >= 0 {
			return false
		}
	}
	done.Until, done.Error, done.Came, done.Known, done.Cause, done.Kind = until.At, until.Error, came, known, cause, uint8(kind)
	return true
}

// Settled implements match.Handler.
func (f *Finder) Settled(c *match.Completion) {
	if c.Oldest.At != 0 {
		f.ordered(c)
	}
	f.small.settle(c)
	if c.Kind == uint8(None) || c.Polled {
		return
	}
	state := State{Kind: Kind(c.Kind), Begin: c.Begin, End: c.Until, Came: c.Came, Error: c.Error + c.EnterError, Cause: c.Cause, Call: c}
	if state.Kind == LateSender {
		f.remember(&state)
	}
	f.Found(&state)
}
