package stopped

import "github.com/cairn-mpi/cairn/analyzer/verdict"

// An Ending says how a run ended that did not come to MPI_Finalize.
type Ending struct {
	// Kind is "hang", "crash", or "" for a run that was ended while it made progress, or that all ranks left without
	// MPI_Finalize. Form is that of the kind.
	Kind verdict.Kind `json:"kind"`
	Form verdict.Form `json:"form"`
	// Text is the first sentence of the report, and Advice is what to do next.
	Text   string   `json:"text"`
	Advice []string `json:"advice"`
	// Seconds is when the run ended, or when the first rank died, from the beginning of the run. WaitedSeconds is for how
	// long nobody of those named had gone on by then; 0 where that is not known.
	Seconds       float64 `json:"seconds"`
	WaitedSeconds float64 `json:"waited_seconds"`
	// Named are the ranks that the sentence is about, like "0-3,7": the cycle in its order is in Cycle, each of whom waits for
	// the next; empty where there is none.
	Named string `json:"named"`
	Cycle []int  `json:"cycle"`
	// Ranks is where each rank was, at most 4096 of them: those that are named first.
	Ranks []Rank `json:"ranks"`
}

// A Rank is where one was at its end.
type Rank struct {
	Rank int `json:"rank"`
	// State is "waiting" in a call, "polling", "computing", "finished" after MPI_Finalize, "missing" in the trace.
	State string `json:"state"`
	// Function and CallSite are the call that it was in, else its last one; Communicator its name, Root the root in it, Tag and
	// Peer (in MPI_COMM_WORLD) those of the message; null and "" where there are none, or any is meant.
	Function     string `json:"function"`
	CallSite     string `json:"call_site"`
	Communicator string `json:"communicator"`
	Root         *int   `json:"root"`
	Peer         *int   `json:"peer"`
	Tag          *int64 `json:"tag"`
	// SinceSeconds is when it entered that call, or left its last one, from the beginning of the run; LastedSeconds for how
	// long it was there, up to the last moment at which it is known to have lived.
	SinceSeconds  float64 `json:"since_seconds"`
	LastedSeconds float64 `json:"lasted_seconds"`
	// For are the ranks that it waited for, like "0-3"; AnyOf: one of them was enough.
	For   string `json:"for"`
	AnyOf bool   `json:"any_of"`
	// Signal is what it crashed by and ExitCode what it called exit with; null where that is not known.
	Signal   *int `json:"signal"`
	ExitCode *int `json:"exit_code"`
}

// Cause is how the run ended as the cause of a verdict: where the first of those named was, and for how long. It has no gain.
func (e *Ending) Cause() verdict.Cause {
	c := verdict.Cause{Kind: e.Kind, Form: e.Form, Ranks: e.Named, EachSeconds: e.WaitedSeconds}
	if list := c.List(); len(list) > 0 {
		c.Rank = &list[0]
	}
	for i := range e.Ranks {
		if r := &e.Ranks[i]; c.Rank != nil && r.Rank == *c.Rank {
			c.Before = verdict.Place{Function: r.Function, CallSite: r.CallSite}
		}
	}
	return c
}
