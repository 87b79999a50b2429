package trace

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

func annotates(f *Function) bool { return f != nil && (f.Class == "pcontrol" || f.Class == "set name") }

// Annotations are all annotations, thread by thread in their order. Of a trace that has none nothing is expanded.
func (t *Reader) Annotations() ([]Annotation, error) {
	some := false
	for i := range t.shared.Functions {
		some = some || annotates(&t.shared.Functions[i])
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
			if e := c.Event(); annotates(e.Function) {
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
	for p := range e.arguments {
		switch {
		case p.before == nil:
		case p.parameter.Kind == "string":
			a.Name = p.before.Text
		case handleKinds[p.parameter.Kind]:
			a.Object, a.Handle = p.parameter.Kind, *p.before
			if a.Object == "comm" {
				a.Comm = e.Comm
			}
		case p.parameter.Name == "level":
			a.Level = int(p.before.Int)
		}
	}
	return a
}
