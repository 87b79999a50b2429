package waitstate

import (
	"cmp"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// EagerLimit is the size in bytes from which on a standard send may wait for its receive. It is the
// smallest default among common transports (Open MPI's shared memory: 4 KiB). If the limit of an
// implementation is higher, the send returns before the receive is entered and is not a wait state
// anyway.
const EagerLimit = 4096

// A Finder is a match.Handler that finds wait states.
type Finder struct {
	// Found is called for each wait state, in program order of its location.
	Found func(*State)
	// Violations counts effects that precede their causes, which only clock errors or rounded times
	// explain.
	Violations Violations
	// WrongOrder counts the late senders that are made worse by the order of the receives.
	WrongOrder [2]WrongOrder // messages of the same source, and of different ones

	trees     *Trees
	small     small
	receivers []recent // by location
}

// NewFinder returns a Finder for a trace.
func NewFinder(t timeline.Trace, found func(*State)) *Finder {
	return &Finder{Found: found, trees: NewTrees(t), small: newSmall(t)}
}

// Section implements match.Sectioner.
func (f *Finder) Section(within bool) { f.small.Section(within) }

// Violations are violations of causality: their number and maximum.
type Violations struct {
	Count   int
	Worst   int64 // ns
	Rounded int   // explained by rounding; not in Count
}

// checkOrder counts an effect that precedes its cause.
func (f *Finder) checkOrder(cause, effect match.Stamp) {
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
		f.checkOrder(s.Post.EnterStamp(), r.Done.ExitStamp())
		if recordWait(r.Done, LateSender, s.Post.EnterStamp(), s.Post.Location, known(m)) && !r.Probe {
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
	switch there, again := ReceiverReady(s, r); {
	case s.Done == nil:
	case Awaited(s.Done, there):
		kind := LateReceiver
		if again {
			kind = lateness(s, r)
		}
		recordWait(s.Done, kind, there, r.Post.Location, known(m))
	case s.Mode == semantics.Synchronous:
		// it did not need the receiver's help, but cannot end before the receive is posted
		recordWait(s.Done, LateReceiver, r.Post.EnterStamp(), r.Post.Location, known(m))
	}
	if r.Done != nil && Pulled(s, r) {
		recordWait(r.Done, LateProgress, s.ProgressStamp(), s.Post.Location, known(m))
	}
}

// ReceiverReady returns the time from which on a receiver was ready for a large message: when it
// had posted its receive or, if returned is true, when it had returned to MPI after that. The
// latter requires evidence if the receiver may have been inside MPI long enough before.
func ReceiverReady(s, r *match.End) (ready match.Stamp, returned bool) {
	posted := r.Post.EnterStamp()
	switch {
	case s.Done == nil:
		return posted, false
	case r.Open && !endedSoon(s.Done, r.Progress, max(s.Done.Begin, s.Post.Enter, r.Left)), r.Brief && !cameBack(s.Done, r):
		return posted, false
	}
	return r.ProgressStamp(), true
}

// minAbsence is the minimum absence of a rank from MPI, in nanoseconds, for a call to have waited
// for its return.
const minAbsence = 40_000

// cameBack reports whether a call seems to have waited for the return of a partner's rank that had
// been inside MPI with both sides posted: the rank was away for half of the time that the call
// lasted until then, by more than rounding explains, and the call ended soon after.
func cameBack(done *match.Completion, partner *match.End) bool {
	away := partner.Progress - partner.Left
	return away > max(minAbsence, 4*(partner.ProgressError+done.EnterError+done.ExitError)) && 2*away >= partner.Progress-done.Begin &&
		partner.Progress < done.Exit && endedSoon(done, partner.Progress, max(done.Begin, partner.Left))
}

// lateness returns how a receiver was late: it had not posted its receive, or was outside MPI.
func lateness(s, r *match.End) Kind {
	if r.Progress > r.Post.Enter && r.Progress > s.Post.Enter {
		return LateProgress
	}
	return LateReceiver
}

// Awaited reports whether a call can have waited for an event: it ended after it. If rounding
// leaves the order undecided, the call must have lasted longer than rounding explains; otherwise a
// wait of that length would be lost.
func Awaited(done *match.Completion, until match.Stamp) bool {
	exit := done.ExitStamp()
	return exit.At > until.At ||
		until.At-exit.At < until.Error+exit.Error && exit.After(match.Stamp{At: done.Begin, Error: done.EnterError})
}

// Pulled reports whether a receive seems to have waited until its sender, outside MPI since it had
// posted the send, was inside MPI again. With some protocols the receiver fetches the message
// alone, so evidence is required: the wait ended soon after the sender's return, compared with its
// absence.
func Pulled(s, r *match.End) bool {
	if s.Brief {
		return cameBack(r.Done, s)
	}
	since := max(r.Done.Begin, s.Post.Exit)
	return s.Progress < r.Done.Exit && endedSoon(r.Done, s.Progress, since)
}

// endedSoon reports whether a call ended soon after its partner had returned to MPI, compared with
// the partner's absence since a given time.
func endedSoon(done *match.Completion, back, since int64) bool {
	return back > since && done.Exit-back < (back-since)/4
}

// Rendezvous reports whether a message may have to wait for its receive. A standard send that
// returned before the receive shows that it did not.
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
		recordWait(done, kindOf[c.Class], post.EnterStamp(), post.Location, c.Parts[c.Last].Post.Enter)
	}
	if cause, found := f.trees.CauseOf(c, part); found {
		post := &c.Parts[cause.Part].Post
		recordWait(done, kindOf[c.Class], post.EnterStamp(), post.Location, c.Parts[c.Last].Post.Enter)
	}
}

// awaited returns the participant whose entry another one had to wait for because of the operation
// itself, −1 if there is none.
func (f *Finder) awaited(c *match.Collective, part int) int {
	done, awaited := c.Parts[part].Done, c.Awaited(part)
	if awaited < 0 || awaited == part || !c.Parts[awaited].Present() {
		return -1
	}
	post := &c.Parts[awaited].Post
	if post.Enter <= done.Exit {
		return awaited
	}
	// No participant can leave before the awaited one has entered, with these exceptions: MPI_Init
	// and MPI_Finalize, which need not synchronize; participants that get no data from it (counts
	// of 0); early ranks of small reductions and prefixes (and the root of a broadcast, which
	// awaits no other); and operations on windows and files, which may but need not synchronize.
	if c.Class == match.Barrier || c.Class == match.AllToAll && done.Enter <= post.Enter {
		f.checkOrder(post.EnterStamp(), done.ExitStamp())
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

// lastBefore returns the participant that entered last before another one left without waiting for
// all. It returns −1 if that one stayed for longer after the entry than before it, and so did not
// wait for it.
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

// oneSided handles dependencies by epochs and locks.
func (f *Finder) oneSided(m *match.Message) {
	done, cause := m.Receive.Done, &m.Send.Post
	switch m.Kind {
	case match.ExposedToStart:
		// if neither, it did not wait: MPI_Win_complete will
		if cause.Enter == done.Exit || Awaited(done, cause.EnterStamp()) {
			recordWait(done, LatePost, cause.EnterStamp(), cause.Location, known(m))
		}
	case match.Exposed, match.Accessed:
		f.checkOrder(cause.EnterStamp(), done.ExitStamp())
		kind := LatePost
		if m.Kind == match.Accessed {
			kind = EarlyWait
		}
		recordWait(done, kind, cause.EnterStamp(), cause.Location, known(m))
	case match.LockGiven:
		recordWait(done, LockContention, m.Until, cause.Location, known(m))
	case match.Data, match.Partition:
	}
}

// known returns the time when a message was completely known: both its ends were being completed.
func known(m *match.Message) (at int64) {
	at = math.MinInt64
	for _, done := range [...]*match.Completion{m.Send.Done, m.Receive.Done} {
		if done != nil {
			at = max(at, done.Enter)
		}
	}
	return at
}

// recordWait records that a call could not continue before until, unless something later delayed
// it. Of several causes at the same time, the one that was known first counts, then a fixed order,
// because the order in which messages are reported is arbitrary.
func recordWait(done *match.Completion, kind Kind, until match.Stamp, cause int, known int64) bool {
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
		f.findWrongOrder(c)
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
