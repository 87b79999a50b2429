package trace

import "github.com/cairn-mpi/cairn/mpi/semantics"

// An Annotation is what the program said about itself: the name of an object (MPI_Comm_set_name, MPI_Type_set_name,
// MPI_Win_set_name) or a level of MPI_Pcontrol (0 tracing off, 1 on, 2 flush, others are marks of the program's own).
type Annotation struct {
	Rank, Thread int
	Index        uint64 // of the call on its thread
	Enter        int64  // nanoseconds of the node's CLOCK_MONOTONIC
	Object       string // kind of what is named: "comm", "datatype", "win"; "" for MPI_Pcontrol
	Handle       Value  // of it: a name or a handle
	Comm         int    // communicator that is named, an index into Content.Communicators; −1 for other things
	Name         string
	Level        int // of MPI_Pcontrol
}

// annotates reports whether calls of a function are annotations.
func annotates(f *semantics.Function) bool {
	return f.Operation == semantics.Control || f.Operation == semantics.SetName
}

// Annotations are all annotations, thread by thread in their order. Of a trace that has none nothing is expanded.
func (t *Reader) Annotations() ([]Annotation, error) {
	some := false
	for i := range t.means {
		some = some || annotates(t.means[i])
	}
	if !some {
		return nil, nil
	}
	var all []Annotation
	for _, thread := range t.shared.Threads.All() {
		c, err := t.Cursor(thread.Rank, thread.Thread)
		if err != nil {
			return nil, err
		}
		for c.Next() {
			if e := c.Event(); annotates(e.Semantics) {
				all = append(all, e.annotation())
			}
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (e *Event) annotation() Annotation {
	a := Annotation{Rank: e.Rank, Thread: e.Thread, Index: e.Index, Enter: e.Enter, Comm: -1}
	if name := e.input(semantics.Name); name != nil {
		a.Name = name.Text
	}
	if level := e.input(semantics.Level); level != nil {
		a.Level = int(level.Int)
	}
	for role, object := range namedObjects {
		if v := e.input(role); v != nil {
			a.Object, a.Handle = object, *v
		}
	}
	if a.Object == "comm" {
		a.Comm = e.Comm
	}
	return a
}

// namedObjects has what can be given a name.
var namedObjects = map[semantics.Role]string{
	semantics.Communicator: "comm", semantics.Datatype: "datatype", semantics.Window: "win",
}
