package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A neededLock is the lock that a call on a window waited for when its rank ended. Implementations
// that take locks lazily wait for them in an access, a flush or MPI_Win_unlock.
type neededLock struct {
	window *object
	lock
}

// neededLock returns the lock that a call needs, nil if it needs none. MPI_Win_lock asks for it,
// and for other calls the rank has asked before.
func (m *Matcher) neededLock(p *plan, c *Call, row int) *neededLock {
	v := p.in(c.event, semantics.Window)
	if v.Form != trace.Handle {
		return nil
	}
	o := m.ranks[row].objects[objectKey{semantics.Window, v.Int}]
	if o == nil || m.group(o.comm) == nil {
		return nil
	}
	target := int32(allTargets)
	if p.In[semantics.Target] >= 0 {
		if target = int32(m.group(o.comm).peer(row, int(o.own), number(p.in(c.event, semantics.Target)))); target < 0 {
			return nil
		}
	}
	if p.action == acquireLock {
		exclusive := p.in(c.event, semantics.LockType).Text == "MPI_LOCK_EXCLUSIVE"
		return &neededLock{o, lock{row: int32(row), target: target, exclusive: exclusive}}
	}
	for _, l := range o.locks {
		if l.target == target || l.target == allTargets || target == allTargets {
			return &neededLock{o, *l}
		}
	}
	return nil
}

// waitForLock returns the wait for a lock: for the ranks that have asked for a lock of the same
// window that excludes it, and are in no call that waits for a lock of that window, too.
func (m *Matcher) waitForLock(s *stop) Wait {
	need := s.lock
	w := Wait{Post: s.Point, Comm: int(need.window.comm), Peer: -1, Tag: -1, Lock: true, AnyOf: true}
	if need.target >= 0 && need.target != need.row {
		w.Peer = m.rankOf(int(need.target))
	}
	for row := range m.ranks {
		waits := slices.ContainsFunc(m.stopped, func(o *stop) bool {
			return o.Row == row && o.lock != nil && o.lock.window.number == need.window.number
		})
		for key, o := range m.ranks[row].objects {
			if waits || key.kind != semantics.Window || o.number != need.window.number {
				continue
			}
			if slices.ContainsFunc(o.locks, func(l *lock) bool { return need.excludes(l) }) {
				w.For = append(w.For, m.rankOf(row))
			}
		}
	}
	return w
}
