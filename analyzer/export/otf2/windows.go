package otf2

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A creation identifies a window or a file: the n-th one that all members of a communicator have
// created.
type creation struct {
	comm int
	file bool
	nth  int
}

// A window is a window of a process.
type window struct {
	ref     uint32
	pending []pendingAccess
}

// A pendingAccess is an access to another rank that is not known to be complete there.
type pendingAccess struct {
	target uint32
	id     uint64
}

// createWindow writes the creation of a window.
func (p *process) createWindow(l *line) error {
	e, h := l.event, l.out(semantics.Window)
	if e.Comm < 0 || h.Form != trace.Handle {
		return nil
	}
	at := creation{comm: e.Comm}
	at.nth = p.created[at]
	p.created[creation{comm: e.Comm}]++
	ref, known := p.export.windows[at]
	if !known {
		ref = uint32(len(p.defined.Windows))
		p.defined.Windows = append(p.defined.Windows, Window{Name: p.strings.of(""), Comm: p.comms[e.Comm]})
		p.export.windows[at] = ref
	}
	if !l.shown {
		p.defined.Windows[ref].Before = true
	}
	p.windows[h.Int] = &window{ref: ref}
	l.endWith(Event{Kind: RmaWinCreate, Object: ref})
	return p.together(l, ref, CollectiveCreateAllocate, SyncProcess|SyncMemory)
}

// together writes a collective call on a window.
func (p *process) together(l *line, ref uint32, op uint8, level uint32) error {
	l.endWith(Event{Kind: RmaCollectiveEnd, Object: ref, Op: op, Level: level, Peer: Undefined})
	return p.begin(l, Event{Kind: RmaCollectiveBegin})
}

func (p *process) window(l *line) *window { return p.windows[l.in(semantics.Window).Int] }

func (p *process) freeWindow(l *line, _ *plan) error {
	w := p.window(l)
	if w == nil {
		return nil
	}
	delete(p.windows, l.in(semantics.Window).Int)
	p.settle(l, w, RmaOpCompleteRemote, Undefined)
	l.endWith(Event{Kind: RmaWinDestroy, Object: w.ref})
	return p.together(l, w.ref, CollectiveDestroyDeallocate, SyncProcess)
}

// nameWindow records the name of a window.
func (p *process) nameWindow(l *line) {
	if w := p.window(l); w != nil && l.event.Semantics.In[semantics.Window] >= 0 {
		p.defined.Windows[w.ref].Name = p.strings.of(l.in(semantics.Name).Text)
	}
}

// synchronize writes a call that begins or ends epochs of a window. General active target
// synchronization (MPI_Win_post to MPI_Win_wait) is between groups of processes, which are not
// tracked here: only the completions of these calls are written.
func (p *process) synchronize(l *line, plan *plan) error {
	w := p.window(l)
	if w == nil {
		return nil
	}
	target := uint32(Undefined) // all
	if v := l.in(semantics.Target); v.Form == trace.Int {
		target = uint32(v.Int)
	}
	lock := Event{Kind: RmaRequestLock, Object: w.ref, Peer: target, Op: LockShared}
	if target != Undefined {
		lock.ID = uint64(target)
	}
	if v := l.in(semantics.LockType); v.Text == "MPI_LOCK_EXCLUSIVE" {
		lock.Op = LockExclusive
	}
	switch plan.Synchronization {
	case semantics.SyncFence:
		p.settle(l, w, RmaOpCompleteRemote, Undefined)
		return p.together(l, w.ref, CollectiveBarrier, SyncProcess|SyncMemory)
	case semantics.SyncComplete:
		p.settle(l, w, RmaOpCompleteNonBlocking, Undefined)
	case semantics.SyncLock:
		if err := p.begin(l, lock); err != nil {
			return err
		}
		lock.Kind = RmaAcquireLock
		l.endWith(lock)
	case semantics.SyncUnlock:
		p.settle(l, w, RmaOpCompleteRemote, target)
		lock.Kind = RmaReleaseLock
		l.endWith(lock)
	case semantics.SyncFlush:
		p.settle(l, w, RmaOpCompleteRemote, target)
	case semantics.SyncFlushLocal:
		for _, a := range w.pending {
			if target == Undefined || a.target == target {
				l.endWith(Event{Kind: RmaOpCompleteNonBlocking, Object: w.ref, ID: a.id})
			}
		}
	case semantics.SyncMemory:
		l.endWith(Event{Kind: RmaSync, Object: w.ref, Peer: uint32(max(0, l.event.OwnRank)), Op: SyncTypeMemory})
	}
	return nil
}

// settle writes the completion of accesses to a target, or to all if it is Undefined.
func (p *process) settle(l *line, w *window, kind Kind, target uint32) {
	rest := w.pending[:0]
	for _, a := range w.pending {
		if target != Undefined && a.target != target {
			rest = append(rest, a)
			continue
		}
		l.endWith(Event{Kind: kind, Object: w.ref, ID: a.id})
	}
	w.pending = rest
}

// access writes a call that reads or writes memory of another process.
func (p *process) access(l *line, plan *plan) error {
	w, target := p.window(l), l.in(semantics.Target)
	if w == nil || target.Form != trace.Int {
		return nil // MPI_PROC_NULL
	}
	e := Event{Object: w.ref, Peer: uint32(target.Int), ID: p.id()}
	sent := p.size(l.in(semantics.Count), l.in(semantics.Datatype))
	received := p.size(l.in(semantics.ReceiveCount), l.in(semantics.ReceiveDatatype))
	switch plan.Access {
	case semantics.Put:
		e.Kind, e.Sent = RmaPut, sent
	case semantics.Get:
		e.Kind, e.Received = RmaGet, sent // a get has one buffer, the origin's
	case semantics.Accumulate:
		e.Kind, e.Op, e.Sent = RmaAtomic, AtomicAccumulate, sent
	case semantics.GetAccumulate:
		e.Kind, e.Op, e.Sent, e.Received = RmaAtomic, AtomicFetchAndAccumulate, sent, received
	case semantics.FetchAndOp, semantics.CompareAndSwap: // a single element
		one := p.sizeOf(1, l.in(semantics.Datatype))
		e.Kind, e.Op, e.Sent, e.Received = RmaAtomic, AtomicFetchAndAccumulate, one, one
		if plan.Access == semantics.CompareAndSwap {
			e.Op = AtomicCompareAndSwap
		}
	default:
		return fmt.Errorf("%s is no access to memory that is known", l.event.Function.Name)
	}
	if !l.shown {
		return nil // nor is its completion
	}
	w.pending = append(w.pending, pendingAccess{e.Peer, e.ID})
	p.summary.Accesses++
	if plan.Completion == semantics.Nonblocking {
		r := p.request(l, plan)
		r.active, r.written, r.done = true, true, Event{Kind: RmaOpCompleteNonBlocking, Object: w.ref, ID: e.ID}
	}
	return p.begin(l, e)
}
