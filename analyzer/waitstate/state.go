package waitstate

import "github.com/cairn-mpi/cairn/analyzer/match"

// A Kind is a pattern of waiting.
type Kind uint8

// The patterns, named in Names.
const (
	None Kind = iota
	LateSender
	LateReceiver
	WaitAtNxN
	WaitAtBarrier
	LateBroadcast
	EarlyReduce
	EarlyScan
	WaitAtInit
	WaitAtFinalize
	LateProgress
	WaitAtFence
	WaitAtWindow
	WaitAtFile
	WaitAtNeighbors
	LatePost
	EarlyWait
	LockContention
	NumKinds // how many there are
)

// Names are the patterns' names in reports.
var Names = [NumKinds]string{
	None:            "none",
	LateSender:      "late sender",
	LateReceiver:    "late receiver",
	WaitAtNxN:       "wait at NxN",
	WaitAtBarrier:   "wait at barrier",
	LateBroadcast:   "late broadcast",
	EarlyReduce:     "early reduce",
	EarlyScan:       "early scan",
	WaitAtInit:      "wait at init",
	WaitAtFinalize:  "wait at finalize",
	LateProgress:    "late progress",
	WaitAtFence:     "wait at fence",
	WaitAtWindow:    "wait at window",
	WaitAtFile:      "wait at collective file access",
	WaitAtNeighbors: "wait at neighborhood collective",
	LatePost:        "late post",
	EarlyWait:       "early wait",
	LockContention:  "lock contention",
}

func (k Kind) String() string { return Names[k] }

// A State is one stretch of waiting: Location waited inside the call Call from Begin until End, for what Cause did
// meanwhile.
type State struct {
	Kind       Kind
	Begin, End int64
	Came       int64 // when Cause came, on its own clock: End, or later by what rounding explains
	Error      int64 // by how much it may be shorter or longer because times are rounded
	Cause      int   // location
	Call       *match.Completion
}

// Waited is how long it took.
func (s *State) Waited() int64 { return s.End - s.Begin }
