package match

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// Passive target synchronization (MPI 4.0 §12.5.3). A trace does not record when a lock was
// granted. But of two epochs that exclude each other on a target, one must end before the other
// gets its lock. Therefore a call that takes a lock is assumed to have waited for the last excluded
// epoch whose MPI_Win_unlock was entered during the call. Implementations that take the lock
// lazily, with the first access or on unlock, wait in MPI_Win_unlock instead: for the last excluded
// epoch that left its MPI_Win_unlock during the call, and until that epoch's own wait there had
// ended.
//
// This is the only matching by time instead of order. It requires clocks (package clock) whose
// error is smaller than the time for which a lock is held.

// A lock is a passive target epoch of one rank.
type lock struct {
	end       *End // of its MPI_Win_unlock
	row       int32
	target    int32 // row; allTargets
	exclusive bool
	enter     Stamp // of MPI_Win_unlock
	exit      Stamp
	release   Stamp // when the lock became available to others
}

const allTargets = -1

func (l *lock) excludes(o *lock) bool {
	return l.row != o.row && (l.exclusive || o.exclusive) && (l.target == o.target || l.target == allTargets || o.target == allTargets)
}

// A lockWait is a call that may have waited for a lock. It is settled when all calls up to its exit
// are known.
type lockWait struct {
	lock *lock
	done *Completion
	last bool // MPI_Win_unlock
}

// A contention is the state of the locks on one window.
type contention struct {
	released []*lock    // recently released, ordered by entry into MPI_Win_unlock
	waits    []lockWait // not settled yet
}

// lock handles MPI_Win_lock, unlock and those for all targets.
func (m *Matcher) lock(p *plan, c *Call, row int) {
	o := m.object(p, c, row)
	g := (*group)(nil)
	if o != nil {
		g = m.group(o.comm)
	}
	if g == nil {
		return
	}
	target := int32(allTargets)
	if p.In[semantics.Target] >= 0 {
		if target = int32(g.peer(row, int(o.own), number(p.in(c.event, semantics.Target)))); target < 0 {
			return
		}
	}
	at := m.locks[o.number]
	if at == nil {
		at = new(contention)
		m.locks[o.number] = at
	}
	if p.action == acquireLock {
		l := &lock{row: int32(row), target: target, release: Stamp{At: math.MaxInt64}}
		l.exclusive = p.in(c.event, semantics.LockType).Text == "MPI_LOCK_EXCLUSIVE"
		o.locks = append(o.locks, l)
		m.mayWait(at, l, c, row, false)
		return
	}
	for i, l := range o.locks {
		if l.target == target {
			o.locks = append(o.locks[:i], o.locks[i+1:]...)
			e := m.end()
			e.Post.set(c, row)
			e.settled = true
			m.posted(e)
			l.end, l.enter, l.exit = e, e.Post.EnterStamp(), e.Post.ExitStamp()
			l.release = l.enter
			at.released = append(at.released, l)
			m.mayWait(at, l, c, row, true)
			return
		}
	}
}

// mayWait keeps a call open until it is known what it waited for.
func (m *Matcher) mayWait(at *contention, l *lock, c *Call, row int, last bool) {
	done := m.completion(c, row)
	done.open++
	at.waits = append(at.waits, lockWait{l, done, last})
	m.seal(done)
	if r := &m.ranks[row]; !slices.Contains(r.contended, at) {
		r.contended = append(r.contended, at)
	}
}

// settleContended settles the lock calls of a rank whose next call begins.
func (m *Matcher) settleContended(row int, now int64) {
	r := &m.ranks[row]
	list := r.contended
	r.contended = nil
	for _, at := range list {
		// calls that were entered earlier may still follow, by clock error
		m.grant(at, now-2*m.error)
		for i := range at.waits {
			if at.waits[i].done.Row == row { // too early, or the next call is nested in this one
				r.contended = append(r.contended, at)
				break
			}
		}
	}
}

// grant settles the calls that returned at or before now, in the order of their return.
func (m *Matcher) grant(at *contention, now int64) {
	for {
		next := -1
		for i := range at.waits {
			if exit := at.waits[i].done.Exit; exit <= now && (next < 0 || exit < at.waits[next].done.Exit) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		w := at.waits[next]
		at.waits = append(at.waits[:next], at.waits[next+1:]...)
		m.settleLock(at, w)
	}
	at.forget(now)
}

func (m *Matcher) settleLock(at *contention, w lockWait) {
	var holder *lock
	for _, l := range at.released {
		left := w.done.ExitStamp()
		if !l.excludes(w.lock) || l.release.At <= w.done.Enter || l.release.After(left) || w.last && l.exit.After(left) {
			continue
		}
		if holder == nil || l.release.At > holder.release.At {
			holder = l
		}
	}
	if holder != nil {
		m.message = Message{
			Kind: LockGiven, Send: holder.end, Receive: &End{Post: w.done.Point, Done: w.done, receive: true},
			Comm: -1, Bytes: -1, Until: holder.release,
		}
		m.handler.Message(&m.message)
	}
	if w.last {
		w.lock.release = w.lock.enter.Later(Stamp{w.done.Until, w.done.Error})
	}
	m.resolve(w.done)
}

// forget drops the locks that no call can wait for any more.
func (at *contention) forget(now int64) {
	oldest := now
	for i := range at.waits {
		oldest = min(oldest, at.waits[i].done.Enter)
	}
	kept := at.released[:0]
	for _, l := range at.released {
		if max(l.exit.At, l.release.At) >= oldest {
			kept = append(kept, l)
		}
	}
	clear(at.released[len(kept):])
	at.released = kept
}
