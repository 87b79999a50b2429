package stopped

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings describe how the run ended.
type Findings struct {
	Stopped *Ending `json:"stopped"` // null if all ranks completed MPI_Finalize, and none ended in a later call
}

// An Ending describes how a run ended that did not complete MPI_Finalize, or in which a rank ended
// in a later call.
type Ending struct {
	// Kind is "hang", "crash", or "" if neither is known or all ranks exited without
	// MPI_Finalize. Form is a variant of the kind. With "", form "missing" is that ranks waited for
	// one that was outside MPI.
	Kind verdict.Kind `json:"kind"`
	Form verdict.Form `json:"form"`
	// Text is the first sentence of the report. Advice is what to do next.
	Text   string   `json:"text"`
	Advice []string `json:"advice"`
	// Seconds is the time from the start of the run to its end, or to the death of the first rank.
	// WaitedSeconds is for how long none of the named ranks (if Kind is "": no rank) had made
	// progress by then; 0 if unknown, or if calls went on until the end.
	Seconds       float64 `json:"seconds"`
	WaitedSeconds float64 `json:"waited_seconds"`
	// Named are the ranks that the sentence is about, like "0-3,7". If they wait for each other in
	// a cycle, Cycle has it in order: each rank waits for the next one. Otherwise Cycle is empty.
	Named string `json:"named"`
	Cycle []int  `json:"cycle"`
	// Ranks has the state of at most 4096 ranks, those of the sentence first.
	Ranks []Rank `json:"ranks"`
}

// A Rank is the state of a rank at its end.
type Rank struct {
	Rank int `json:"rank"`
	// State is "waiting" in a call, "polling", "outside MPI", or "finished" after MPI_Finalize.
	State string `json:"state"`
	// Activity is what it was seen to do outside MPI: "running" on a CPU or "blocked" in the
	// kernel; or that it was "suspended" by a signal there or in a call; "" if that is not known.
	Activity verdict.Activity `json:"activity"`
	// Function and CallSite are those of the call that the rank was in, otherwise of its last call.
	// Communicator is the name of the call's communicator, Root its root. Tag and Peer (in
	// MPI_COMM_WORLD) are those of the message. They are null or "" if the call has none, or
	// accepts any.
	Function     string `json:"function"`
	CallSite     string `json:"call_site"`
	Communicator string `json:"communicator"`
	Root         *int   `json:"root"`
	Peer         *int   `json:"peer"`
	Tag          *int64 `json:"tag"`
	// SinceSeconds is the time from the start of the run until the rank entered that call, or left
	// its last one. LastedSeconds is the time from then until the rank was last known to be alive.
	SinceSeconds  float64 `json:"since_seconds"`
	LastedSeconds float64 `json:"lasted_seconds"`
	// For are the ranks that it waited for, like "0-3". AnyOf reports whether one of them would
	// have been enough.
	For   string `json:"for"`
	AnyOf bool   `json:"any_of"`
	// Signal is the signal by which it crashed, ExitCode the argument of exit; null if unknown.
	Signal   *int `json:"signal"`
	ExitCode *int `json:"exit_code"`
}

// Explains reports whether the ending is why the run took as long as it did: it hung or a rank
// died, or no rank made progress for most of it.
func (e *Ending) Explains() bool { return e.Kind != "" || 2*e.WaitedSeconds > e.Seconds }

// Cause returns the ending as the cause of a verdict: the state of the first named rank, and how
// long it lasted. The cause has no gain.
func (e *Ending) Cause() verdict.Cause {
	c := verdict.Cause{Kind: e.Kind, Form: e.Form, Ranks: e.Named, EachSeconds: e.WaitedSeconds}
	if list := c.List(); len(list) > 0 {
		c.Rank = &list[0]
	}
	for i := range e.Ranks {
		if r := &e.Ranks[i]; c.Rank != nil && r.Rank == *c.Rank {
			c.Before = verdict.Call{Function: r.Function, CallSite: r.CallSite}
		}
	}
	return c
}
