package eventlog

import (
	"context"
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Log is what was recorded of a trace.
type Log struct {
	Locations []timeline.Location
	// Slabs is into how many slabs the calls are divided.
	Slabs int
	Calls uint64
	// Spool has room for what others find in the same pass.
	Spool *Spool

	functions  []*trace.Function     // by signature
	semantics  []*semantics.Function // by signature
	signatures []trace.Signature
	places     []int32 // of calls, by signature: indices into those of Places
	all        []Place
	sends      []bool // by signature: it is a send, and nothing else
	least      [][]Least
	handshakes [sizes]int // by message size: how many sends showed one, less those that showed none
	shapes     []*Shape
	logs       []log
}

// A Place is a function and where it is called.
type Place struct {
	Function uint16
	Site     uint32
}

// Places are those of all calls.
func (j *Log) Places() []Place { return j.all }

// log is what there is of one location.
type log struct {
	calls, completions, posts stream

	first uint64 // index of its first call: of a part of the run not 0
	begun bool
}

// A Shape is what collective operations have in common.
type Shape struct {
	Class    match.Class
	Movement semantics.Movement
	Size     int   // how many parts there are,
	Expected int   // and how many of them the trace has
	Root     int   // −1: none
	Absent   []int // of prefix operations: parts that the trace lacks
}

// Least is what calls of a class — one function and call site, messages of about one size — cost at least: Local when
// nothing kept them waiting, from their entry, and Transfer else, from what they had waited for. Unseen: no call has shown
// it.
type Least struct{ Local, Transfer int64 }

// Unseen stands for a cost that no call has shown.
const Unseen = 1<<63 - 1

// sizes are the classes of message sizes: bits of the number of bytes.
const sizes = 65

// MaxHeld is how many bytes a event log, and what others find in the same pass, hold in memory before they need a file. More
// would hardly save time: to compress and read back is 3% of an analysis.
var MaxHeld int64 = 16 << 20

func newJournal(t timeline.Trace) *Log {
	j := &Log{Locations: timeline.Locations(t), signatures: t.Signatures(), Spool: NewSpool(MaxHeld)}
	j.logs = make([]log, len(j.Locations))
	j.functions, j.semantics = make([]*trace.Function, len(j.signatures)), make([]*semantics.Function, len(j.signatures))
	j.places, j.sends = make([]int32, len(j.signatures)), make([]bool, len(j.signatures))
	numbers := map[Place]int32{}
	for i := range j.signatures {
		s := &j.signatures[i]
		p := Place{s.Function, s.Site}
		if _, known := numbers[p]; !known {
			numbers[p] = int32(len(numbers))
			j.all = append(j.all, p)
		}
		j.functions[i], j.semantics[i], j.places[i] = t.Function(s.Function), t.Semantics(s.Function), numbers[p]
		j.sends[i] = j.semantics[i] != nil && j.semantics[i].Operation == semantics.Send
	}
	j.least = make([][]Least, len(numbers))
	return j
}

// Record makes the event log of a trace in a pass of its own.
func Record(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (*Log, error) {
	r := NewRecorder(t)
	_, err := match.All(ctx, t, clocks, r, func(c *match.Call) {
		r.See(c)
	})
	if err != nil {
		r.log.Close()
		return nil, err
	}
	return r.Finish(), nil
}

// Close removes the event log's temporary file.
func (j *Log) Close() { j.Spool.Close() }

// Least is what calls that are of one class with this one cost at least.
func (j *Log) Least(terminal int32, bytes int64) Least {
	if all := j.least[j.places[terminal]]; all != nil {
		return all[bits.Len64(uint64(bytes))]
	}
	return Least{Unseen, Unseen}
}

// leastOf is for the Recorder to note what a call has shown.
func (j *Log) leastOf(terminal int32, bytes int64) *Least {
	all := &j.least[j.places[terminal]]
	if *all == nil {
		*all = make([]Least, sizes)
		for i := range *all {
			(*all)[i] = Least{Unseen, Unseen}
		}
	}
	return &(*all)[bits.Len64(uint64(bytes))]
}
