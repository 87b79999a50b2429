package reexecution

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A Call is a call in canonical form. It is valid until the next one.
type Call struct {
	Function  *mpi.Function
	Semantics *semantics.Function
	In, Out   []trace.Value // as in trace.Event, of Function
	Index     uint64        // of the recorded call
	Compute   int64         // computation of the thread since the previous call, in ns
	MayFail   bool          // it failed when it was recorded
	NewComm   int           // like in trace.Event

	// Enter is the enter of the recorded call, in ns of the rank's own clock, and EnterError its
	// maximum error, if Timed.
	Enter, EnterError int64
	Timed             bool

	After []After // calls that other threads of the rank must have made before (Others)
}

// A form is a function that calls are converted to.
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

// at returns the value in a position, nil if there is none.
func at(values []trace.Value, position int8) *trace.Value {
	if position < 0 || int(position) >= len(values) {
		return nil
	}
	return &values[position]
}

// elements returns those of a list, or the value itself if it is a scalar.
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

// Indices of the parts of a status.
const (
	statusSource = iota
	statusTag
	statusError
	statusCancelled
	statusBytes
	statusParts
)

// tagRole returns the role of the tag of a receive.
func tagRole(s *semantics.Function) semantics.Role {
	if s.In[semantics.ReceiveTag] >= 0 {
		return semantics.ReceiveTag
	}
	return semantics.Tag
}

// isWild reports whether a call receives, or probes, with a wildcard.
func isWild(s *semantics.Function, in []trace.Value) bool {
	return isNamed(at(in, s.In[semantics.Source]), "MPI_ANY_SOURCE") || isNamed(at(in, s.In[tagRole(s)]), "MPI_ANY_TAG")
}

// A matched is what a receive matched.
type matched struct {
	source, tag trace.Value
	known       bool
}

// matchedBy returns that according to a status; unknown if the operation was canceled.
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

// narrow returns a copy of a call's inputs, with what it matched instead of wildcards. A receive
// from MPI_PROC_NULL keeps its tag: the status has MPI_ANY_TAG.
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
