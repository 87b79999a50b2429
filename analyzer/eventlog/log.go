package eventlog

import (
	"context"
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Log is the event log of a trace.
type Log struct {
	Locations []timeline.Location
	// Slabs is the number of slabs that the calls are divided into.
	Slabs int
	Calls uint64
	// Spool also stores the data of other parts of the same pass.
	Spool *Spool

	functions  []*trace.Function     // by signature
	semantics  []*semantics.Function // by signature
	signatures []trace.Signature
	callSites  []int32 // call sites of calls by signature: indices into all
	all        []CallSite
	sends      []bool // by signature: it is only a send
	least      [][]Least
	handshakes [sizes]int // by class of message size: sends with a handshake minus sends without
	shapes     []*Shape
	logs       []log
}

// A CallSite is a call site together with the function that is called there.
type CallSite struct {
	Function uint16
	Site     uint32
}

// CallSites returns the call sites of all calls.
func (j *Log) CallSites() []CallSite { return j.all }

// log is the streams of one location.
type log struct {
	calls, completions, posts stream

	first uint64 // index of its first call, not 0 for a window
	begun bool
}

// A Shape is the common data of collective operations.
type Shape struct {
	Class    match.Class
	Movement semantics.Movement
	Size     int   // number of parts
	Expected int   // number of parts that are in the trace
	Root     int   // −1: none
	Absent   []int // for prefix operations: parts that are not in the trace
}

// Least is the minimum cost of calls of a class: one function and call site, messages of about one
// size. Local is that of a call that did not wait, from its entry. Transfer is that of a call that
// waited, from the event that it waited for. Both are Unseen if no call has shown them.
type Least struct{ Local, Transfer int64 }

// Unseen is the cost of a class without measurement.
const Unseen = 1<<63 - 1

// sizes is the number of classes of message sizes: bit lengths of the number of bytes.
const sizes = 65

// MaxInMemory is the number of bytes that an event log, including the data of others in its spool,
// keeps in memory before it uses a file. More would hardly save time: compressing and reading back
// takes 3% of an analysis.
var MaxInMemory int64 = 16 << 20

func newLog(t timeline.Trace) *Log {
	j := &Log{Locations: timeline.Locations(t), signatures: t.Signatures(), Spool: NewSpool(MaxInMemory)}
	j.logs = make([]log, len(j.Locations))
	j.functions, j.semantics = make([]*trace.Function, len(j.signatures)), make([]*semantics.Function, len(j.signatures))
	j.callSites, j.sends = make([]int32, len(j.signatures)), make([]bool, len(j.signatures))
	numbers := map[CallSite]int32{}
	for i := range j.signatures {
		s := &j.signatures[i]
		p := CallSite{s.Function, s.Site}
		if _, known := numbers[p]; !known {
			numbers[p] = int32(len(numbers))
			j.all = append(j.all, p)
		}
		j.functions[i], j.semantics[i], j.callSites[i] = t.Function(s.Function), t.Semantics(s.Function), numbers[p]
		j.sends[i] = j.semantics[i] != nil && j.semantics[i].Operation == semantics.Send
	}
	j.least = make([][]Least, len(numbers))
	return j
}

// Record makes the event log of a trace in a separate pass.
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

// Least returns the minimum cost of the class of a call with the terminal and a message of the
// given size.
func (j *Log) Least(terminal int32, bytes int64) Least {
	if all := j.least[j.callSites[terminal]]; all != nil {
		return all[bits.Len64(uint64(bytes))]
	}
	return Least{Unseen, Unseen}
}

// leastOf returns the entry for the Recorder to update.
func (j *Log) leastOf(terminal int32, bytes int64) *Least {
	all := &j.least[j.callSites[terminal]]
	if *all == nil {
		*all = make([]Least, sizes)
		for i := range *all {
			(*all)[i] = Least{Unseen, Unseen}
		}
	}
	return &(*all)[bits.Len64(uint64(bytes))]
}
