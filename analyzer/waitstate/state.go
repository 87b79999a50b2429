package waitstate

import "github.com/cairn-mpi/cairn/analyzer/match"

// A Kind is a pattern of waiting.
type Kind uint8

// Patterns; Names has their names.
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
	NumKinds // number of kinds
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

// A State is one wait: the location waited inside the call Call from Begin until End for an event
// of the location Cause.
type State struct {
	Kind       Kind
	Begin, End int64
	Came       int64 // time of that event on the clock of Cause: End, or later within the rounding error
	Error      int64 // maximum rounding error of the duration
	Cause      int   // location
	Call       *match.Completion
}

// Waited returns the duration of the wait in ns.
func (s *State) Waited() int64 { return s.End - s.Begin }
