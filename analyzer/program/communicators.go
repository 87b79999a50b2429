package program

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A caller is the rank of a caller in the communicator of the call, and the size of the
// communicator. In a call without a communicator both refer to the world.
type caller struct {
	rank, size int
	known      bool
}

// caller returns the caller of a thread in some calls; it is unknown if it is not the same in all
// of them.
func (w *writer) caller(cycle []int32, thread int) caller {
	if thread < 0 {
		return caller{}
	}
	first := w.callerOf(cycle[0], thread)
	for _, terminal := range cycle[1:] {
		if w.callerOf(terminal, thread) != first {
			return caller{}
		}
	}
	return first
}

func (w *writer) callerOf(terminal int32, thread int) caller {
	s := &w.signatures[terminal]
	world := caller{w.rank(thread), w.trace.Meta().WorldSize, true}
	f := w.trace.Function(s.Function)
	if f == nil {
		return caller{}
	}
	k := 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		if p.Direction == trace.Out {
			continue
		}
		if p.Kind == "comm" && k < len(s.In) {
			return w.member(&s.In[k], thread, world)
		}
		k++
	}
	return world
}

func (w *writer) member(comm *trace.Value, thread int, world caller) caller {
	switch {
	case comm.Form == trace.Name && comm.Text == "MPI_COMM_WORLD":
		return world
	case comm.Form == trace.Name && comm.Text == "MPI_COMM_SELF":
		return caller{0, 1, true}
	case comm.Form == trace.Handle:
		members, known := w.members[thread]
		if !known {
			if w.members == nil {
				w.members = map[int]map[int64]caller{}
			}
			members = w.membersOf(thread)
			w.members[thread] = members
		}
		return members[comm.Int]
	}
	return caller{}
}

// membersOf returns, for the handles of communicators that a thread gets, its rank and their size.
// These are unknown if a handle refers to different communicators at different times and they are
// not equal in all.
func (w *writer) membersOf(thread int) map[int64]caller {
	members := map[int64]caller{}
	row := w.trace.Ranks().Find(w.rank(thread))
	if row < 0 {
		return members
	}
	own, t := w.trace.Ranks().CommunicatorsOwn()(row), w.trace.Threads().At(thread)
	all := w.trace.Communicators()
	for _, c := range w.creators() {
		ref, there := t.Stream(c.terminal, c.stream)
		if !there {
			continue
		}
		instances, known := w.instances[ref.Sequence]
		if !known {
			instances, _ = w.trace.Sequence(int(ref.Sequence)) // an unreadable sequence is unknown
			if instances = slices.Compact(instances); len(instances) > maxDistinct {
				instances = instances[:maxDistinct]
			}
			w.instances[ref.Sequence] = instances
		}
		for _, i := range instances {
			if i < 0 || i >= int64(len(own)) {
				continue
			}
			group := &all[own[i]].Members
			one := caller{group.Index(w.rank(thread)), group.Len(), true}
			if one.rank < 0 || all[own[i]].Remote.Len() > 0 {
				one = caller{} // peers in an intercommunicator are on the other side
			}
			if had, known := members[c.handle]; known && had != one {
				one = caller{}
			}
			members[c.handle] = one
		}
	}
	return members
}

// A creator is a signature that creates a communicator.
type creator struct {
	terminal, stream int32
	handle           int64
}

func (w *writer) creators() []creator {
	if w.instances != nil {
		return w.created
	}
	w.instances = map[int32][]int64{}
	for terminal := range w.signatures {
		s := &w.signatures[terminal]
		f := w.trace.Function(s.Function)
		if s.Communicator.Form != trace.Stream || f == nil {
			continue
		}
		k := 0
		for i := range f.Parameters {
			p := &f.Parameters[i]
			if p.Direction == trace.In {
				continue
			}
			if p.Kind == "comm" && k < len(s.Out) {
				w.created = append(w.created, creator{int32(terminal), int32(s.Communicator.Int), s.Out[k].Int})
				break
			}
			k++
		}
	}
	return w.created
}
