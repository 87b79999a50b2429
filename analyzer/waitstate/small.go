package waitstate

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// SmallSends determines whether small standard sends wait until their receivers are inside MPI.
// With most transports they end at once. With some they end when the receiver has taken the
// message, for example with Open MPI's shared memory from some hundred bytes on. It can be observed
// when a receiver is outside MPI at the time of a send: the send ends before the receiver's return,
// or soon after. These sends vote, separately for each class of size, and within hosts and between
// them.
type SmallSends struct {
	hosts  []int32 // by row
	votes  [2 * smallClasses]ballot
	fresh  [2 * smallClasses]ballot // of the present section; counted at its end
	within bool
	voted  bool // a vote in the present section
}

// smallClasses is the number of bit lengths of small messages.
const smallClasses = 13

// A ballot counts sends that ended soon after the return of their receivers, and those that ended
// before.
type ballot struct{ after, before int }

// Limits of a majority: because of rounded times some sends seem to wait.
const (
	majority = 4
	minVotes = 3
)

func (b *ballot) add(other ballot) { b.after, b.before = b.after+other.after, b.before+other.before }

func (b *ballot) won() bool { return b.after >= minVotes && b.after > majority*b.before }

// NewSmallSends returns a SmallSends for a trace.
func NewSmallSends(t timeline.Trace) *SmallSends {
	s, numbers := new(SmallSends), map[string]int32{}
	for _, r := range t.Ranks().All() {
		n, known := numbers[r.Host]
		if !known {
			n = int32(len(numbers))
			numbers[r.Host] = n
		}
		s.hosts = append(s.hosts, n)
	}
	return s
}

// A Taken is the time of the return of a receiver that a small send may have waited for. Class 0:
// there was none.
type Taken struct {
	match.Stamp
	Class int
}

// See evaluates the next message.
func (s *SmallSends) See(m *match.Message) Taken {
	send, receive := m.Send, m.Receive
	if m.Kind != match.Data || send.Mode != semantics.Standard || m.Bytes <= 0 || m.Bytes >= EagerLimit || send.Done == nil ||
		receive.Probe || receive.Open || send.Post.Row == receive.Post.Row {
		return Taken{}
	}
	back, posted := receive.ProgressStamp(), receive.Post.EnterStamp()
	if receive.Brief {
		back = posted // it stays inside MPI for long enough
	}
	if posted.After(send.Post.EnterStamp()) {
		if receive.Before == 0 || receive.Before > send.Post.Enter {
			return Taken{} // it was inside MPI in between
		}
	}
	if back.At <= max(send.Done.Begin, send.Post.Enter) {
		return Taken{}
	}
	class := 2 * bits.Len64(uint64(m.Bytes))
	if s.hosts[send.Post.Row] == s.hosts[receive.Post.Row] {
		class++
	}
	if back.At > send.Done.Exit {
		if back.After(send.Done.ExitStamp()) {
			s.vote(class, ballot{before: 1})
		}
		return Taken{}
	}
	return Taken{back, class}
}

// Waited reports whether a call waited for the return of a receiver. All its other dependencies
// were met at since. Evidence is required: the call ended soon after the return, compared with its
// wait and by more than rounding explains; the wait is no small part of the call; and other sends
// of its class agree.
func (s *SmallSends) Waited(done *match.Completion, taken Taken, since int64) bool {
	since = max(since, done.Begin)
	waited := taken.At - since
	if waited <= 4*(taken.Error+done.EnterError+done.ExitError) || 4*waited < done.Exit-done.Begin || !endedSoon(done, taken.At, since) {
		return false
	}
	s.vote(taken.Class, ballot{after: 1})
	return s.votes[taken.Class].won()
}

func (s *SmallSends) vote(class int, one ballot) {
	if s.within {
		s.fresh[class].add(one)
		s.voted = true
	} else {
		s.votes[class].add(one)
	}
}

// Section marks the beginning or end of a section of the run (match.Sectioner). Within a section
// the order of calls is arbitrary, so votes in it count only for later ones.
func (s *SmallSends) Section(within bool) {
	if s.within = within; within || !s.voted {
		return
	}
	s.voted = false
	for class := range s.fresh {
		s.votes[class].add(s.fresh[class])
	}
	clear(s.fresh[:])
}

// small is a Finder's state of unsettled calls with small sends.
type small struct {
	*SmallSends
	open map[*match.Completion]takenBy
}

type takenBy struct {
	Taken
	location int
	kind     Kind
}

func newSmall(t timeline.Trace) small {
	return small{NewSmallSends(t), map[*match.Completion]takenBy{}}
}

// see evaluates the next message.
func (s *small) see(m *match.Message) {
	taken := s.See(m)
	if done, location := m.Send.Done, m.Receive.Post.Location; taken.Class > 0 && s.open[done].before(taken.At, location) {
		kind := lateness(m.Send, m.Receive)
		if m.Receive.Brief {
			kind = LateReceiver
		}
		s.open[done] = takenBy{taken, location, kind}
	}
}

// before reports whether a receiver's return is later than the latest so far, or at the same time
// at a lower location.
func (t takenBy) before(at int64, location int) bool {
	return t.Class == 0 || at > t.At || at == t.At && location < t.location
}

// settle records the wait of a call for the receivers of its small messages.
func (s *small) settle(c *match.Completion) {
	if len(s.open) == 0 {
		return
	}
	taken, any := s.open[c]
	if !any {
		return
	}
	delete(s.open, c)
	since := c.Begin
	if c.Kind != uint8(None) {
		since = c.Until
	}
	if s.Waited(c, taken.Taken, since) {
		recordWait(c, taken.kind, taken.Stamp, taken.location, c.Exit)
	}
}
