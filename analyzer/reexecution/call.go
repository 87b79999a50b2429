package reexecution

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Call is a call of the canonical form. It is valid until the next one is given.
type Call struct {
	Function  *mpi.Function
	Semantics *semantics.Function
	In, Out   []trace.Value // as in trace.Event, of Function
	Index     uint64        // of the recorded call that it comes from
	Compute   int64         // ns that the thread computed since the call before
	MayFail   bool          // it did when it was recorded
	NewComm   int           // as in trace.Event

	// Enter is when the recorded call was entered, ns of the rank's own clock, and EnterError by how much that may be off, if
	// Timed.
	Enter, EnterError int64
	Timed             bool

	After []After // what other threads of the rank have to have done before (Others)
}

// A form is a function in whose form calls are issued.
type form struct {
	function  *mpi.Function
	semantics *semantics.Function
}

func formOf(name string) form {
	f := mpi.ByName(name)
	return form{f, semantics.Of(f)}
}

var (
	waitForm    = formOf("MPI_Wait")
	waitAllForm = formOf("MPI_Waitall")
	probeForm   = formOf("MPI_Probe")
	mprobeForm  = formOf("MPI_Mprobe")
	winWaitForm = formOf("MPI_Win_wait")
	irecvForm   = formOf("MPI_Irecv")
	startForm   = formOf("MPI_Start")
)

// at is the value in a position, nil where there is none.
func at(values []trace.Value, position int8) *trace.Value {
	if position < 0 || int(position) >= len(values) {
		return nil
	}
	return &values[position]
}

// elements are those of a list, or of a scalar the one value.
func elements(v *trace.Value) []trace.Value {
	switch {
	case v == nil:
		return nil
	case v.Form == trace.List:
		return v.List
	}
	return []trace.Value{*v}
}

func number(v *trace.Value) int64 {
	if v == nil || v.Form != trace.Int {
		return -1
	}
	return v.Int
}

func isNamed(v *trace.Value, name string) bool {
	return v != nil && v.Form == trace.Name && v.Text == name
}

func named(name string) trace.Value { return trace.Value{Form: trace.Name, Text: name} }

func list(values ...trace.Value) trace.Value { return trace.Value{Form: trace.List, List: values} }

func integer(i int64) trace.Value { return trace.Value{Form: trace.Int, Int: i} }

// Parts of a status.
const (
	statusSource = iota
	statusTag
	statusError
	statusCancelled
	statusBytes
	statusParts
)

// tagRole is the role of the tag of what a function receives.
func tagRole(s *semantics.Function) semantics.Role {
	if s.In[semantics.ReceiveTag] >= 0 {
		return semantics.ReceiveTag
	}
	return semantics.Tag
}

// isWild reports whether a call that receives, or probes, leaves open what.
func isWild(s *semantics.Function, in []trace.Value) bool {
	return isNamed(at(in, s.In[semantics.Source]), "MPI_ANY_SOURCE") || isNamed(at(in, s.In[tagRole(s)]), "MPI_ANY_TAG")
}

// A matched is what a receive matched.
type matched struct {
	source, tag trace.Value
	known       bool
}

// matchedBy is what a status says of that; not known if the operation was cancelled.
func matchedBy(status *trace.Value) matched {
	if status == nil || status.Form != trace.Status || len(status.List) != statusParts || number(&status.List[statusCancelled]) > 0 {
		return matched{}
	}
	source, tag := status.List[statusSource], status.List[statusTag]
	if isNamed(&source, "MPI_ANY_SOURCE") || isNamed(&source, "MPI_UNDEFINED") || source.Form == trace.Absent {
		return matched{}
	}
	return matched{source, tag, true}
}

// narrow gives a copy of what a call was given, with what it matched in the place of wildcards. A receive from
// MPI_PROC_NULL keeps its tag: the status has MPI_ANY_TAG.
func narrow(s *semantics.Function, in []trace.Value, m matched) []trace.Value {
	in = append([]trace.Value(nil), in...)
	if !m.known {
		return in
	}
	if source := at(in, s.In[semantics.Source]); isNamed(source, "MPI_ANY_SOURCE") {
		*source = m.source
	}
	if tag := at(in, s.In[tagRole(s)]); isNamed(tag, "MPI_ANY_TAG") {
		*tag = m.tag
	}
	return in
}
