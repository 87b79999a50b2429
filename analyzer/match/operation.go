package match

import (
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Point is where and when a call was made.
type Point struct {
	Location    int
	Row         int // index of the rank into Trace.Ranks
	Enter, Exit int64
	// EnterError and ExitError are by how much Enter and Exit may be off because times are rounded: see Stamp.
	EnterError, ExitError int64
	Function              uint16
	Site                  uint32
}

// A Completion is a call in which operations of the caller were completed, and in which it may have waited for
// others: a blocking send, receive or collective, or a call that waits for requests.
type Completion struct {
	Point
	// Begin is since when the caller waited: Enter, or the first of the polls that ended with this one. A poll that
	// succeeded at once (Polled) did not wait.
	Begin  int64
	Polled bool

	// Until to Source are for the Handler to note what it learns before the call is settled: the time until
	// which the caller waited, and because of which location.
	Until   int64
	Error   int64 // by how much Until may be off
	Came    int64 // when what it waited for came: Until, or later by what rounding explains, if the call seems to end before
	Known   int64 // when all of that was known, in the run
	Cause   int
	Kind    uint8
	Message Stamp // when the message was sent that it waited for, 0 for other causes
	Oldest  Stamp // when the first of its messages was sent, 0 for none
	Source  int   // and from which location

	Tag any // for the Handler: see Watcher

	open int         // operations whose partners are not known yet
	next *Completion // of its location
}

// An End is one end of a message: a send or a receive.
type End struct {
	Post  Point          // the call that made it active
	Done  *Completion    // the call that completed it; nil: none did (freed requests, ranks that ended early)
	Mode  semantics.Mode // of a send
	Probe bool           // of a receive: MPI_Probe, which leaves the message where it is
	// Open: rounding leaves open whether this side left MPI before both sides were posted, at Left. Progress is when it came
	// back, as if it had.
	Open bool
	// Brief: this side's rank was inside MPI when both sides were posted, and left at Left without completing this one.
	// Progress is when it came back: what takes longer than it had stayed had to wait for that.
	Brief bool

	settled   bool // completed, or known never to be
	awaiting  bool // progress of its rank
	dead      bool // cancelled
	receive   bool
	wildcard  bool  // its envelope is not known yet
	unmatched bool  // no message: MPI_PROC_NULL and cancelled ones
	place     int32 // in progress.staying

	// Progress is when this side was first inside MPI with both sides posted: not before then could an implementation
	// without progress of its own do anything for the message. See progress.go.
	Progress      int64
	ProgressError int64 // by how much it may be off
	Left          int64
	// Before is when the rank of a receive had left MPI before it was posted. 0: unknown.
	Before int64
	// Posted and Progressed are for a Watcher to note the calls in which it was told so.
	Posted, Progressed Mark
	// PostedAt is for a Watcher with times of its own to note when the call of Posted was.
	PostedAt Interval

	partner *End
	bytes   int64
	channel channelKey
	next    *End        // that waits behind it
	parts   *partitions // nil but for partitioned messages
	looks   *looks      // nil but for messages that were seen before their receive ended
}

// An Interval is when a call was made.
type Interval struct{ Enter, Exit int64 }

// A Mark is a call as a Watcher numbers those of a location, from 1; 0: none.
type Mark struct {
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
	Until         Stamp // of LockGiven: when the lock was free
}

// A MessageKind says what one rank told another.
type MessageKind uint8

// Kinds of messages. All but the first are no data: they say that one rank could not go on before another.
const (
	Data           MessageKind = iota
	Partition                  // of a partitioned message: Send is MPI_Pready, Receive.Done MPI_Parrived
	ExposedToStart             // Send is MPI_Win_post, Receive.Done MPI_Win_start, which need not wait for it
	Exposed                    // the same for MPI_Win_complete, which cannot end before
	Accessed                   // Send is MPI_Win_complete, Receive.Done MPI_Win_wait
	LockGiven                  // Send is MPI_Win_unlock, Receive.Done the call of another rank that waited for the lock
)

// A Collective is one collective operation of one communicator.
type Collective struct {
	Number uint64 // of the operation, in order of first entries
	Comm   int
	Class  Class
	// Movement is how it moves data, as its last participant said.
	Movement semantics.Movement
	Parts    []Part // by rank in the communicator; an intercommunicator's second group follows its first
	Root     int    // index into Parts, −1 where there is none
	First    int    // the part that entered first, and Last the one that entered last
	Last     int
	Other    int // of AllToOne: the part that entered last apart from the root, −1 if there is none
	Tag      any // for the Handler; one of an earlier collective may still be there

	expected int // participants that the trace has
	arrived  int
	waiting  int // parts that are not yet completed
	whole    bool
	key      collectiveKey
	upTo     []int32 // of a prefix operation: for each part, the one of parts 0 … i that entered last
	topology *group
}

// A Part is one rank's share in a collective operation.
type Part struct {
	Post    Point // the call that made it active; Post.Location is −1 for a rank that the trace lacks
	Done    *Completion
	Bytes   int64 // of the largest buffer that the call describes (volume.Buffer)
	Entered Mark  // for a Watcher to note the call
	settled bool
}

// Present reports whether the rank was seen to take part.
func (p *Part) Present() bool { return p.Post.Location >= 0 }

// A Handler learns what was matched. Everything that it is given is valid until it returns.
type Handler interface {
	// Message comes once for each message, when both its ends are completed, and once for each probe of it.
	Message(*Message)
	// Collective comes once for each completed part of an operation, when all participants have entered it.
	Collective(c *Collective, part int)
	// Settled comes for each Completion in program order of its location, after all its messages and collectives.
	Settled(*Completion)
}

// A Watcher is a Handler that is also told of beginnings, all during Matcher.Call for the call in question. What it
// notes in an End or in a Completion's Tag is there when the Handler's methods are called for the same thing.
type Watcher interface {
	Handler
	// Posted comes when a send or receive becomes active, and again for each partition that a send has ready.
	Posted(*End)
	// Progressed comes for an end whose rank was outside MPI when both had been posted, in its next call (End.Progress).
	Progressed(*End)
	// Entered comes when a participant enters a collective.
	Entered(c *Collective, part int)
	// Retired comes when all participants have left one, and the Handler has been told.
	Retired(*Collective)
	// Opened comes for a call in which operations may be completed; Settled follows.
	Opened(*Completion)
}

// A Sectioner is a Handler that is told where sections of the run begin and end: see InSections.
type Sectioner interface {
	Handler
	Section(within bool)
}

// Expected is how many participants the trace has.
func (c *Collective) Expected() int { return c.expected }

// Complete reports whether all participants that the trace has took part.
func (c *Collective) Complete() bool { return c.arrived >= c.expected }

// A Stamp is a moment in a run, and by how much it may be off because times are rounded (trace.Event.EnterError). All
// comparisons of moments of different threads that decide whether something happened go by it.
type Stamp struct{ At, Error int64 }

// After reports whether s is clearly later than o: by more than rounding explains.
func (s Stamp) After(o Stamp) bool { return s.At-o.At > s.Error+o.Error }

// Later is the later one of two, s where they are equal.
func (s Stamp) Later(o Stamp) Stamp {
	if o.At > s.At {
		return o
	}
	return s
}

// EnterStamp is when the call was entered.
func (p *Point) EnterStamp() Stamp { return Stamp{p.Enter, p.EnterError} }

// ExitStamp is when the call was left.
func (p *Point) ExitStamp() Stamp { return Stamp{p.Exit, p.ExitError} }

// ProgressStamp is Progress.
func (e *End) ProgressStamp() Stamp { return Stamp{e.Progress, e.ProgressError} }
