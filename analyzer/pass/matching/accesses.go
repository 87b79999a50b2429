package matching

import (
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// accesses follows the accesses of a location to files and to the memory of other ranks from the
// call that begins them to the call that completes them. Package match does not have them: no other
// rank takes part. An access that another thread completes is not counted.
type accesses struct {
	communicators []trace.Communicator
	sites         map[eventlog.CallSite]*Completed
	requests      map[int64]Completed           // by request
	split         map[int64]Completed           // by file: split collectives
	epochs        map[int64]map[int64]Completed // by window and target
}

func newAccesses(communicators []trace.Communicator) accesses {
	return accesses{
		communicators: communicators, sites: map[eventlog.CallSite]*Completed{},
		requests: map[int64]Completed{}, split: map[int64]Completed{}, epochs: map[int64]map[int64]Completed{},
	}
}

// see records what a call begins, and what it completes.
func (a *accesses) see(c *timeline.Call) {
	f := c.Semantics
	switch f.Operation {
	case semantics.RemoteAccess, semantics.FileAccess:
		a.access(c)
	case semantics.WindowSynchronize:
		if len(a.epochs) > 0 && !c.Event.Unfinished() {
			a.synchronize(c)
		}
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		if len(a.requests) > 0 {
			match.EachCompleted(f, c.Event, func(id int64) {
				if begun, is := a.requests[id]; is {
					a.complete(c, begun)
					delete(a.requests, id)
				}
			})
		}
	}
}

// access records an access that its call does not complete. All others complete their own.
func (a *accesses) access(c *timeline.Call) {
	f := c.Semantics
	switch request := argument(c.Event.Out, f.Out[semantics.Request]); {
	case request != nil:
		if request.Form == trace.Handle {
			a.requests[request.Int] = a.begin(c)
		}
	case f.Operation == semantics.RemoteAccess:
		window, target := handle(c, semantics.Window), handle(c, semantics.Target)
		if a.epochs[window] == nil {
			a.epochs[window] = map[int64]Completed{}
		}
		epoch := a.epochs[window][target]
		epoch.add(a.begin(c))
		a.epochs[window][target] = epoch
	case f.Completion == semantics.SplitBegin:
		a.split[handle(c, semantics.File)] = a.begin(c)
	case f.Completion == semantics.SplitEnd:
		a.complete(c, a.split[handle(c, semantics.File)])
		delete(a.split, handle(c, semantics.File))
	}
}

// begin returns the access that a call begins. Until it is completed, Ahead is minus the time of
// its return.
func (a *accesses) begin(c *timeline.Call) Completed {
	begun := Completed{Started: 1, Ahead: -c.Exit, Starts: []eventlog.CallSite{{Function: c.Function.ID, Site: c.Signature.Site}}}
	if c.Semantics.Operation == semantics.FileAccess {
		begun.Files = 1
	} else {
		begun.Messages = 1
	}
	if bytes, known := a.bytes(c); known {
		begun.Sized, begun.Bytes = 1, bytes
	}
	return begun
}

// bytes returns how much data an access moves.
func (a *accesses) bytes(c *timeline.Call) (bytes uint64, known bool) {
	f := c.Semantics
	if f.Access == semantics.FetchAndOp || f.Access == semantics.CompareAndSwap { // one element
		if datatype := argument(c.Event.In, f.In[semantics.Datatype]); datatype != nil && datatype.Form == trace.Name {
			size, known := datatypes.Size(datatype.Text)
			return uint64(size), known
		}
		return 0, false
	}
	size := volume.PayloadOf(f).Of(c.Event, a.communicators)
	return size.Bytes, size.Known
}

// synchronize completes accesses of a window: those to one target, or all.
func (a *accesses) synchronize(c *timeline.Call) {
	switch c.Semantics.Synchronization {
	case semantics.SyncFence, semantics.SyncComplete, semantics.SyncUnlock, semantics.SyncFlush, semantics.SyncFlushLocal:
	default:
		return
	}
	window, all := handle(c, semantics.Window), c.Semantics.In[semantics.Target] < 0
	target := handle(c, semantics.Target)
	for to, epoch := range a.epochs[window] {
		if all || to == target {
			a.complete(c, epoch)
			delete(a.epochs[window], to)
		}
	}
}

// complete adds accesses to what the calls of a call site complete.
func (a *accesses) complete(c *timeline.Call, begun Completed) {
	if c.Outside || begun.Started == 0 {
		return
	}
	begun.Ahead = max(0, begun.Ahead+int64(begun.Started)*c.Enter)
	site := eventlog.CallSite{Function: c.Function.ID, Site: c.Signature.Site}
	if a.sites[site] == nil {
		a.sites[site] = new(Completed)
	}
	a.sites[site].add(begun)
}

// handle returns an argument that is a handle or a rank, −1 if there is none.
func handle(c *timeline.Call, role semantics.Role) int64 {
	if v := argument(c.Event.In, c.Semantics.In[role]); v != nil && (v.Form == trace.Handle || v.Form == trace.Int) {
		return v.Int
	}
	return -1
}

// argument returns an argument by its position, nil if there is none.
func argument(values []trace.Value, at int8) *trace.Value {
	if at < 0 || int(at) >= len(values) {
		return nil
	}
	return &values[at]
}
