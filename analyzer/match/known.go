package match

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// knownCalls caches the calls of one location whose arguments are always the same, by terminal:
// those of signatures without value streams, which are most calls of most programs. Their arguments
// are read once.
//
// The goroutine that decodes the location adds a call before it passes on any call that refers to
// it. Added calls never change, so the matching goroutine may read them concurrently.
type knownCalls struct{ calls []*knownCall }

// A knownCall is the common part of all calls of a terminal on a location.
type knownCall struct {
	packed    packed
	comm, own int // of the event
	requests  []completed
}

// maxKnown is the number of signatures up to which every location has a table by terminal.
const maxKnown = 1 << 12

// of returns the known call that equals the event, nil if there is none.
func (k *knownCalls) of(e *trace.Event) *knownCall {
	if int(e.Terminal) >= len(k.calls) {
		return nil
	}
	if known := k.calls[e.Terminal]; known != nil && known.comm == e.Comm && known.own == e.OwnRank {
		return known
	}
	return nil
}

// add records the first call of a terminal, packed, with its requests. terminals is the number of
// terminals of the trace.
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

// take writes the packed form of another such call to to. It reports false if the call must be read
// individually.
func (k *knownCall) take(made *timeline.Call, r *reader, to *packed) bool {
	index := made.Index - r.begin
	if uint64(made.EnterError|made.ExitError)|index > math.MaxUint32 || made.Overhead != 0 || made.Apart {
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
