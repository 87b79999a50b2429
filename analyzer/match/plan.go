package match

import (
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// An action is what the matcher does with a call.
type action uint8

const (
	ignore action = iota
	send
	receive
	sendReceive
	matchedReceive
	probe
	matchedProbe
	start
	wait // and test: one request
	waitAny
	waitSome
	waitAll
	requestFree
	requestStatus
	collective
	createGroup // communicator creation by the new members only
	initialize
	finalize
	createObject // windows and files
	onObject     // a collective on one
	freeObject
	epochPost
	epochStart
	epochComplete
	epochWait
	acquireLock
	releaseLock
	makeGroup
	partitionReady
	partitionArrived
	disconnect
)

// A plan is the semantics of a function together with what the matcher does with its calls.
type plan struct {
	semantics.Function
	action action
	class  Class
	object semantics.Role // Window or File: what the call creates or is on; NoRole: neither
	graph  bool           // the call specifies the neighbors in a graph topology
	buffer volume.Buffer  // buffer of a collective
}

// Class is how the participants of a collective operation depend on each other.
type Class uint8

// Classes of collective operations.
const (
	Barrier Class = iota
	AllToAll
	OneToAll
	AllToOne
	Prefix
	Neighbor
	Startup  // MPI_Init: some implementations synchronize
	Shutdown // MPI_Finalize: likewise
	Fence    // MPI_Win_fence: at most a barrier
	Window   // creation and release of a window: likewise
	File     // collectives of files: likewise
)

// newPlan returns the plan of a function.
func newPlan(f *semantics.Function) plan {
	p := plan{Function: *f}
	p.action, p.class = actionOf(f)
	switch p.action {
	case createObject, onObject, freeObject, epochPost, epochStart, epochComplete, epochWait, acquireLock, releaseLock:
		p.object = semantics.Window
		if f.IsFileOperation() {
			p.object = semantics.File
		}
	case collective:
		p.buffer = volume.BufferOf(f)
		p.graph = f.Operation == semantics.CommunicatorCreate && (f.In[semantics.GraphSources] >= 0 || f.In[semantics.GraphIndex] >= 0)
	}
	return p
}

// actionOf returns the action for the calls of a function and, for a collective operation, its
// class.
func actionOf(f *semantics.Function) (action, Class) {
	switch f.Operation {
	case semantics.Send:
		return send, 0
	case semantics.Receive:
		return receive, 0
	case semantics.SendReceive:
		return sendReceive, 0
	case semantics.MatchedReceive:
		return matchedReceive, 0
	case semantics.Probe:
		return probe, 0
	case semantics.MatchedProbe:
		return matchedProbe, 0
	case semantics.Start:
		return start, 0
	case semantics.Wait:
		return wait, 0
	case semantics.WaitAny:
		return waitAny, 0
	case semantics.WaitSome:
		return waitSome, 0
	case semantics.WaitAll:
		return waitAll, 0
	case semantics.RequestFree:
		return requestFree, 0
	case semantics.RequestStatus:
		return requestStatus, 0
	case semantics.PartitionReady:
		return partitionReady, 0
	case semantics.PartitionArrived:
		return partitionArrived, 0
	case semantics.GroupCreate:
		return makeGroup, 0
	case semantics.Initialize:
		return initialize, Startup
	case semantics.Finalize:
		return finalize, Shutdown
	case semantics.Barrier:
		return collective, Barrier
	case semantics.AllToAll:
		return collective, AllToAll
	case semantics.OneToAll:
		return collective, OneToAll
	case semantics.AllToOne:
		return collective, AllToOne
	case semantics.Prefix:
		return collective, Prefix
	case semantics.Neighbor:
		return collective, Neighbor
	case semantics.CommunicatorCreate:
		return creation(f.Creation), AllToAll
	case semantics.CommunicatorFree:
		if f.Collective {
			return disconnect, 0
		}
	case semantics.WindowCreate:
		return createObject, Window
	case semantics.WindowFree:
		return freeObject, Window
	case semantics.WindowSynchronize:
		return synchronization(f.Synchronization)
	case semantics.FileOpen:
		return createObject, File
	case semantics.FileClose:
		return freeObject, File
	case semantics.FileAccess, semantics.FileChange:
		if f.Collective { // others concern no other rank
			return onObject, File
		}
	}
	return ignore, 0
}

// creation returns the action for calls that create a communicator. Those with processes of another
// world are ignored, because this trace does not have the other side.
func creation(how semantics.Creation) action {
	switch how {
	case semantics.FromParent, semantics.FromMerge:
		return collective
	case semantics.FromMembers, semantics.FromGroup, semantics.Intercommunicator:
		return createGroup
	}
	return ignore
}

func synchronization(how semantics.Synchronization) (action, Class) {
	switch how {
	case semantics.SyncFence:
		return onObject, Fence
	case semantics.SyncPost:
		return epochPost, 0
	case semantics.SyncStart:
		return epochStart, 0
	case semantics.SyncComplete:
		return epochComplete, 0
	case semantics.SyncWait, semantics.SyncTest:
		return epochWait, 0
	case semantics.SyncLock:
		return acquireLock, 0
	case semantics.SyncUnlock:
		return releaseLock, 0
	}
	return ignore, 0
}

// in returns the argument with a role before the call, the zero Value if there is none.
func (p *plan) in(e *trace.Event, role semantics.Role) *trace.Value {
	return argument(e.In, int(p.In[role]))
}

// out returns the argument with a role after the call.
func (p *plan) out(e *trace.Event, role semantics.Role) *trace.Value {
	return argument(e.Out, int(p.Out[role]))
}

// canFail reports whether a failed call of the function has had no effect.
func (p *plan) canFail() bool { return p.action <= matchedProbe || p.action >= createObject }

// missed reports whether a test or probe did not succeed.
func (p *plan) missed(e *trace.Event) bool {
	return p.Out[semantics.Flag] >= 0 && number(p.out(e, semantics.Flag)) <= 0
}

// begins reports whether the call begins an operation immediately: it does not create a persistent
// request.
func (p *plan) begins() bool {
	switch p.action {
	case send, receive, sendReceive, collective:
		return !p.IsPersistent()
	case start:
		return true
	}
	return false
}
