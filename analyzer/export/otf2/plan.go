package otf2

import (
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A plan is how the calls of a function are written.
type plan struct {
	*semantics.Function
	region     uint32
	collective *collective // nil: OTF2 has none like it
}

// planOf returns the plan of a call.
func (e *export) planOf(call *trace.Event) *plan {
	p := e.plans[call.Function.ID]
	if p == nil {
		p = &plan{Function: call.Semantics}
		p.region = e.region(Region{
			Name: e.strings.of(call.Function.Name), File: Undefined, Role: roleOf(call.Semantics), Paradigm: ParadigmMPI,
		})
		p.collective = collectiveOf(call.Function.Name, call.Semantics)
		e.plans[call.Function.ID] = p
	}
	return p
}

// region defines a region.
func (e *export) region(r Region) uint32 {
	e.defined.Regions = append(e.defined.Regions, r)
	return uint32(len(e.defined.Regions) - 1)
}

// roleOf returns the role of the region of an MPI function.
func roleOf(f *semantics.Function) Role {
	switch f.Operation {
	case semantics.Send, semantics.Receive, semantics.SendReceive, semantics.MatchedReceive, semantics.Probe, semantics.MatchedProbe,
		semantics.Start, semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll, semantics.RequestStatus,
		semantics.RequestFree, semantics.Cancel, semantics.PartitionReady, semantics.PartitionArrived, semantics.SendBuffers:
		return RolePoint
	case semantics.Barrier:
		return RoleBarrier
	case semantics.OneToAll:
		return RoleOneToAll
	case semantics.AllToOne:
		return RoleAllToOne
	case semantics.AllToAll:
		return RoleAllToAll
	case semantics.Prefix, semantics.Neighbor, semantics.CommunicatorCreate:
		return RoleCollective
	case semantics.RemoteAccess, semantics.WindowSynchronize, semantics.WindowCreate, semantics.WindowFree, semantics.WindowMemory:
		return RoleRMA
	case semantics.FileAccess:
		return RoleFile
	case semantics.FileOpen, semantics.FileClose, semantics.FileChange:
		return RoleFileMeta
	case semantics.MemoryAlloc:
		return RoleAllocate
	case semantics.MemoryFree:
		return RoleDeallocate
	}
	return RoleFunction
}

// effects writes the effects of a call, besides enter and leave. State is tracked outside of the
// time range, too.
func (p *process) effects(l *line, plan *plan) error {
	e := l.event
	p.datatypes.See(e)
	if e.Unfinished() {
		return nil // its effects are unknown
	}
	switch plan.Operation {
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll:
		return p.complete(l, plan)
	case semantics.MatchedReceive:
		return p.matchedReceive(l, plan)
	}
	// As in package match: a call that failed has no effect, and calls recorded while tracing was
	// off may lack their other side.
	if !e.Succeeded() || e.Signature.Untraced && plan.Completion != semantics.Persistent {
		return nil
	}
	switch plan.Operation {
	case semantics.Send, semantics.Receive, semantics.SendReceive:
		return p.message(l, plan)
	case semantics.MatchedProbe:
		p.matchedProbe(l)
	case semantics.Start:
		return p.start(l)
	case semantics.RequestFree:
		p.free(l)
	case semantics.Barrier, semantics.OneToAll, semantics.AllToOne, semantics.AllToAll, semantics.Prefix, semantics.Neighbor:
		return p.collect(l, plan)
	case semantics.CommunicatorCreate:
		return p.createCommunicator(l, plan)
	case semantics.CommunicatorFree:
		return p.freeCommunicator(l)
	case semantics.WindowCreate:
		return p.createWindow(l)
	case semantics.WindowFree:
		return p.freeWindow(l, plan)
	case semantics.WindowSynchronize:
		return p.synchronize(l, plan)
	case semantics.RemoteAccess:
		return p.access(l, plan)
	case semantics.SetName:
		p.nameWindow(l)
	case semantics.FileOpen:
		p.openFile(l)
	case semantics.FileClose:
		p.closeFile(l)
	case semantics.FileAccess:
		return p.accessFile(l, plan)
	case semantics.FileChange:
		return p.changeFile(l, plan)
	}
	return nil
}

// size returns the size of some elements of a datatype in bytes; 0 if unknown.
func (p *process) size(count, datatype *trace.Value) uint64 {
	switch count.Form {
	case trace.Int:
		return p.sizeOf(count.Int, datatype)
	case trace.List:
		sum := uint64(0)
		for i := range count.List {
			of := datatype
			if datatype.Form == trace.List {
				if i >= len(datatype.List) {
					break
				}
				of = &datatype.List[i]
			}
			sum += p.sizeOf(count.List[i].Int, of)
		}
		return sum
	}
	return 0
}

func (p *process) sizeOf(count int64, datatype *trace.Value) uint64 {
	if count <= 0 {
		return 0
	}
	if datatype.Form == trace.Name {
		size, _ := datatypes.Size(datatype.Text)
		return uint64(count * size)
	}
	d, _ := p.datatypes.Of(datatype)
	return uint64(count * d.Size)
}
