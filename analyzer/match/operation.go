package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Point is the location and time of a call.
type Point struct {
	Location    int
	Row         int // index of the rank into Trace.Ranks
	Enter, Exit int64
	// EnterError and ExitError are the maximum errors of Enter and Exit due to rounding; see Stamp.
	EnterError, ExitError int64
	Function              uint16
	Site                  uint32
}

// A Completion is a call that completes operations of the caller and in which it may have waited
// for others: a blocking send, receive or collective, or a call that waits for requests.
type Completion struct {
	Point
	// Begin is the start of the wait: Enter, or the first of the polls that ended with this call. A
	// poll that succeeded at once (Polled) did not wait.
	Begin  int64
	Polled bool

	// Until to Source are for the Handler, to record its results before the call is settled. Until
	// is the end of the wait, Cause the location that the caller waited for.
	Until int64
	Error int64 // maximum error of Until
	// when the awaited event occurred: Until, or later within the rounding error, if the call
	// seems to end before
	Came    int64
	Known   int64 // time in the run at which all of that was known
	Cause   int
	Kind    uint8
	Message Stamp // send time of the message that it waited for, 0 for other causes
	Oldest  Stamp // send time of the first of its messages, 0 for none
	Source  int   // location that sent that message

	Tag any // for the Handler; see Watcher

	open int         // operations whose partners are not known yet, plus 1 until sealed
	next *Completion // of the same location
}

// An End is one end of a message: a send or a receive.
type End struct {
	Post  Point          // the call that activated it
	Done  *Completion    // the call that completed it; nil if none did (freed requests, ranks that ended early)
	Mode  semantics.Mode // of a send
	Probe bool           // MPI_Probe: a receive that leaves the message in the channel
	// Open: because of rounding it is undecided whether this side left MPI, at Left, before both
	// sides were posted. Progress is the time of its return to MPI if it did.
	Open bool
	// Brief: this side's rank was inside MPI when both sides were posted, and left MPI at Left
	// without completing this end. Progress is the time of its return to MPI. A transfer longer
	// than the rest of its stay had to wait until then.
	Brief bool

	settled   bool // completed, or known never to be
	awaiting  bool // in progress.waiting or progress.staying
	dead      bool // cancelled
	receive   bool
	wildcard  bool  // its envelope is not known yet
	unmatched bool  // no message: MPI_PROC_NULL and cancelled ones
	index     int32 // index into progress.staying

	// Progress is the time at which this side was first inside MPI with both sides posted. An
	// implementation without asynchronous progress cannot transfer the message earlier. See
	// progress.go.
	Progress      int64
	ProgressError int64 // maximum error of Progress
	Left          int64
	// Before is the time at which the rank of a receive had left its previous MPI call, 0 if
	// unknown.
	Before int64
	// Posted and Progressed are for a Watcher, to record the calls in which it received these
	// events.
	Posted, Progressed EventID
	// PostedAt is for a Watcher with a clock of its own, to record the time of Posted.
	PostedAt Interval

	partner *End
	bytes   int64
	channel channelKey
	next    *End        // next in the same queue
	parts   *partitions // nil except for partitioned messages
	queries *queries    // nil but for messages that were seen before their receive ended
}

// An Interval is the time of a call.
type Interval struct{ Enter, Exit int64 }

// An EventID identifies a call by its location and its number among those that a Watcher counts
// there, from 1; 0: none.
type EventID struct {
	Location int32
	Ordinal  uint32
}

// A Message is a send and its receive (or a probe that saw it).
type Message struct {
	Send, Receive *End
	Comm          int
	Tag           int64
	Bytes         int64 // −1: unknown
	Kind          MessageKind
	Until         Stamp // for LockGiven: when the lock became free
}

// A MessageKind is the kind of dependency between the two ranks.
type MessageKind uint8

// Kinds of messages. All kinds but Data carry no data: they are orderings, in which one rank could
// not continue before another.
const (
	Data           MessageKind = iota
	Partition                  // of a partitioned message: Send is MPI_Pready, Receive.Done MPI_Parrived
	ExposedToStart             // Send is MPI_Win_post, Receive.Done MPI_Win_start, which need not wait for it
	Exposed                    // the same for MPI_Win_complete, which cannot end before it
	Accessed                   // Send is MPI_Win_complete, Receive.Done MPI_Win_wait
	LockGiven                  // Send is MPI_Win_unlock, Receive.Done the call of another rank that waited for the lock
)

// A Collective is one collective operation of one communicator.
type Collective struct {
	Number uint64 // number of the operation, ordered by first entry
	Comm   int
	Class  Class
	// Movement is its pattern of data movement, from the call of its last participant.
	Movement semantics.Movement
	Parts    []Part // by rank in the communicator, then those of an intercommunicator's remote group
	Root     int    // index into Parts, −1 if there is none
	First    int    // the part that entered first, and Last the one that entered last
	Last     int
	Other    int // for AllToOne: the part apart from the root that entered last, −1 if there is none
	Tag      any // for the Handler; may still have the value of a recycled Collective

	expected int // number of participants in the trace
	arrived  int
	waiting  int // parts that are not completed yet
	whole    bool
	key      collectiveKey
	upTo     []int32 // for a prefix operation: for each part i the one of parts 0 … i that entered last
	topology *group
}

// A Part is one rank's share in a collective operation.
type Part struct {
	Post    Point // the call that activated it; Post.Location is −1 for a rank that is not in the trace
	Done    *Completion
	Bytes   int64   // of the largest buffer that the call describes (volume.Buffer)
	Entered EventID // for a Watcher, to record the call
	settled bool
}

// Present reports whether the trace has the participation of the rank.
func (p *Part) Present() bool { return p.Post.Location >= 0 }

// A Handler receives the results of matching. Arguments are valid until the method returns.
type Handler interface {
	// Message is called once for each message, when both its ends are completed, and once for each
	// probe of it.
	Message(*Message)
	// Collective is called once for each completed part of an operation, when all participants have
	// entered it.
	Collective(c *Collective, part int)
	// Settled is called for each Completion after all its messages and collectives, in program
	// order of its location.
	Settled(*Completion)
}

// A Watcher is a Handler that also receives the beginnings of operations, during the Matcher.Call
// of the call in question. What it stores in an End or in a Completion's Tag is available to the
// Handler's methods for the same object.
type Watcher interface {
	Handler
	// Posted is called when a send or receive becomes active, and again for each partition that a
	// send marks ready.
	Posted(*End)
	// Progressed is called for an end whose rank was outside MPI when both ends had been posted,
	// during the rank's next call (End.Progress).
	Progressed(*End)
	// Entered is called when a participant enters a collective.
	Entered(c *Collective, part int)
	// Retired is called when all participants have left a collective, after the Handler's methods.
	Retired(*Collective)
	// Opened is called for a call that may complete operations; Settled follows.
	Opened(*Completion)
}

// A Sectioner is a Handler that is notified of the beginning (within is true) and the end of each
// section of the run; see InSections.
type Sectioner interface {
	Handler
	Section(within bool)
}

// Expected returns the number of participants that are in the trace.
func (c *Collective) Expected() int { return c.expected }

// Complete reports whether all participants that are in the trace took part.
func (c *Collective) Complete() bool { return c.arrived >= c.expected }

// A Stamp is a time in a run with its maximum error due to rounding (trace.Event.EnterError).
// Decisions that compare times of different threads use it.
type Stamp struct{ At, Error int64 }

// After reports whether s is later than o by more than the rounding errors.
func (s Stamp) After(o Stamp) bool { return s.At-o.At > s.Error+o.Error }

// Later returns the later one of two, s if they are equal.
func (s Stamp) Later(o Stamp) Stamp {
	if o.At > s.At {
		return o
	}
	return s
}

// EnterStamp returns the time of entry into the call.
func (p *Point) EnterStamp() Stamp { return Stamp{p.Enter, p.EnterError} }

// ExitStamp returns the time of exit from the call.
func (p *Point) ExitStamp() Stamp { return Stamp{p.Exit, p.ExitError} }

// ProgressStamp returns Progress with its error.
func (e *End) ProgressStamp() Stamp { return Stamp{e.Progress, e.ProgressError} }
