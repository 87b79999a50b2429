package waitstate

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// SmallSends finds out whether small standard sends wait until their receivers are inside MPI. Most transports end them at
// once. Some do when the receiver has taken the message: Open MPI through shared memory from some hundred bytes on. It shows
// where a receiver is outside MPI when a message is sent: the send ends before it comes back, or soon after. So the sends
// that had such a receiver vote, those of each class of size within hosts and between them apart.
type SmallSends struct {
	hosts  []int32 // by row
	votes  [2 * smallClasses]ballot
	fresh  [2 * smallClasses]ballot // of the present section: they count when it has ended
	within bool
	voted  bool // in the present section
}

// smallClasses is how many numbers of bits small messages may have.
const smallClasses = 13

// A ballot counts sends that ended soon after their receivers came back, and those that ended before.
type ballot struct{ after, before int }

// majority of the votes is this: times that are rounded make some sends seem to wait.
const (
	majority   = 4
	leastVotes = 3
)

func (b *ballot) add(other ballot) { b.after, b.before = b.after+other.after, b.before+other.before }

func (b *ballot) won() bool { return b.after >= leastVotes && b.after > majority*b.before }

// NewSmallSends makes one for a trace.
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

// A Taken is when a receiver was back that a small send may have waited for. Class 0: there was none.
type Taken struct {
	match.Stamp
	Class int
}

// See takes the next message.
func (s *SmallSends) See(m *match.Message) Taken {
	send, receive := m.Send, m.Receive
	if m.Kind != match.Data || send.Mode != semantics.Standard || m.Bytes <= 0 || m.Bytes >= EagerLimit || send.Done == nil ||
		receive.Probe || receive.Open || send.Post.Row == receive.Post.Row {
		return Taken{}
	}
	back, posted := receive.ProgressStamp(), receive.Post.EnterStamp()
	if receive.Brief {
		back = posted // it stays for long enough
	}
	if posted.After(send.Post.EnterStamp()) {
		if receive.Before == 0 || receive.Before > send.Post.Enter {
			return Taken{} // it was inside MPI meanwhile
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

// Waited reports whether a call waited until a receiver was back. All else that it needed was there at since. It takes
// evidence: the call ended soon after, compared with how long it had waited, by more than rounding explains; that is no small
// part of the call; and others of its class agree.
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

// Section tells that a section of the run begins or ends (match.Sectioner). Within one, calls come in no order that means
// anything: what its sends show counts for those after it.
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

// small is what a Finder knows of calls with small sends that have not been settled.
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

// see takes the next message.
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

// before reports whether a receiver was back later than the latest so far, or as late at a lower location.
func (t takenBy) before(at int64, location int) bool {
	return t.Class == 0 || at > t.At || at == t.At && location < t.location
}

// settle notes the wait of a call for the receivers of its small messages.
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
		hold(c, taken.kind, taken.Stamp, taken.location, c.Exit)
	}
}
