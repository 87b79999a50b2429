package match

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// knownCalls are the calls of one location whose arguments are the same each time, by terminal: those of signatures without
// streams, as most calls of most programs are. What matching needs of them is read once.
//
// A call is added by whoever decodes the location's calls, before any that refers to it is handed on, and stays as it is: who
// matches them meanwhile may look at it.
type knownCalls struct{ calls []*knownCall }

// A knownCall is what is the same in all calls of a terminal on a location.
type knownCall struct {
	packed    packed
	comm, own int // of its event
	requests  []completed
}

// maxKnown is up to how many signatures of a trace there are tables by terminal for each location.
const maxKnown = 1 << 12

// of is the known call that an event is like, nil if there is none.
func (k *knownCalls) of(e *trace.Event) *knownCall {
	if int(e.Terminal) >= len(k.calls) {
		return nil
	}
	if known := k.calls[e.Terminal]; known != nil && known.comm == e.Comm && known.own == e.OwnRank {
		return known
	}
	return nil
}

// add notes a call, packed, with its requests, of so many terminals. Of those of a terminal it is the first.
func (k *knownCalls) add(e *trace.Event, p *packed, requests []completed, terminals int) {
	if k.calls == nil {
		k.calls = make([]*knownCall, terminals)
	}
	if int(e.Terminal) >= len(k.calls) || k.calls[e.Terminal] != nil {
		return
	}
	known := &knownCall{packed: *p, comm: e.Comm, own: e.OwnRank}
	if p.flags&packedRequest == 0 {
		known.requests = append(known.requests, requests...)
	}
	known.packed.flags = p.flags&^packedOutside | packedKnown
	k.calls[e.Terminal] = known
}

// take makes the packed form of another such call. False: this one is to be read by itself.
func (k *knownCall) take(made *timeline.Call, r *reader, to *packed) bool {
	index := made.Index - r.begin
	if uint64(made.EnterError|made.ExitError)|index > math.MaxUint32 || made.Held != 0 || made.Apart {
		return false
	}
	*to = k.packed
	to.exit, to.enterError, to.exitError, to.index = made.Exit, uint32(made.EnterError), uint32(made.ExitError), uint32(index)
	to.poll = r.gaps[made.Location].See(made.Event)
	if made.Outside {
		to.flags |= packedOutside
	}
	return true
}
