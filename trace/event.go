package trace

import "github.com/cairn-mpi/cairn/mpi/semantics"

// An Event is one call, decoded: what Cursor gives.
type Event struct {
	Rank, Thread int
	Index        uint64 // of the call on its thread, from 0
	Terminal     int32
	Function     *Function
	Semantics    *semantics.Function // what calls of it mean
	Signature    *Signature
	Site         *Site // where it was called from, nil where unknown
	// In, Out and Return are the signature's, with streams and relative ranks replaced by what this call had: Int or
	// Float (where the parameter is a double), List, Status, a List of Status, or Absent for a status that the call
	// did not give. They are valid until the next call of Next.
	In, Out []Value
	Return  Value
	// Comm is the communicator of the call (its first comm parameter, or for a call on requests −1), an index into
	// Content.Communicators; −1 where there is none or it is not in the table. OwnRank is the caller's rank in it, −1
	// where there is none.
	Comm    int
	OwnRank int
	// NewComm is the communicator instance that the call created, −1 for most.
	NewComm int
	// EnterTicks and ExitTicks are the rank's clock; Enter and Exit the same in nanoseconds of the node's
	// CLOCK_MONOTONIC, which ranks of one boot id share.
	EnterTicks, ExitTicks int64
	Enter, Exit           int64
	// EnterError and ExitError are by how many nanoseconds Enter and Exit may be off because times are rounded: by no more
	// than MomentTicks, 0 for lossless timing. Times that are another rank's (TimesOf) may be off by more.
	EnterError, ExitError int64
	// Held is for how many nanoseconds (HeldTicks: ticks) the tracer held the thread after its previous call, at a vote of
	// the ranks; 0 for most. The program computed for the rest of the time between the two calls.
	HeldTicks, Held int64
	// Timed reports whether the times are known: those of single calls are not kept where timing is aggregated, and are 0
	// then.
	Timed bool
	// TimesOf is the rank that the times come from: Rank; where the ranks were clustered while they ran, the lead of
	// Rank's cluster, or −1 where that is missing in the trace and the calls of an interval are spread evenly.
	TimesOf int

	segments []Segment // of the trace, for Text and AppendJSON
	sites    []Site
}

// Succeeded tells whether the call returned no error code: one that has a name of its own, or a number.
func (e *Event) Succeeded() bool {
	return e.Function.Return != "int" || e.Return.Form == Int && e.Return.Int == 0
}

// Unfinished reports whether the call never returned: the process ended in it. What it would have given is absent; Exit is
// the latest moment at which the process is known to have lived.
func (e *Event) Unfinished() bool { return e.Return.Form == Absent }

// Input is the argument of a role before the call, nil if there is none.
func (e *Event) Input(role semantics.Role) *Value { return argumentAt(e.In, e.Semantics.In[role]) }

// Output is the argument of a role after the call, nil if there is none.
func (e *Event) Output(role semantics.Role) *Value { return argumentAt(e.Out, e.Semantics.Out[role]) }

// argumentAt is the argument at a position that semantics gave, nil where there is none.
func argumentAt(values []Value, at int8) *Value {
	if at < 0 || int(at) >= len(values) {
		return nil
	}
	return &values[at]
}
