package trace

// An Event is one call, decoded: what Cursor gives.
type Event struct {
	Rank, Thread int
	Index        uint64 // of the call on its thread, from 0
	Terminal     int32
	Function     *Function
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

	segments []Segment // of the trace, for Text and AppendJSON
	sites    []Site
}
