package clusters

import (
	"fmt"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Online describes how the ranks were clustered while they ran, and what it cost and saved
// (trace.Clustering).
type Online struct {
	Votes        int    `json:"votes"`
	AllTracing   int    `json:"all_tracing"` // outcomes of the votes
	Clusterings  int    `json:"clusterings"`
	Lead         int    `json:"lead"`
	Ended        bool   `json:"ended"`    // not all ranks arrived at a marker, or they arrived at different ones
	Explicit     bool   `json:"explicit"` // markers of the last vote are MPI_Pcontrol(100)
	Leads        []int  `json:"leads"`    // lead ranks of all clusterings, ascending
	Extrapolated uint64 `json:"calls_extrapolated"`
	// Time spent on votes: mean per rank and vote, and total of all ranks.
	VoteNS int64   `json:"ns_per_vote"`
	Share  float64 `json:"vote_share"`
	// Phases are the clusterings.
	Phases []OnlinePhase `json:"phases"`
}

// An OnlinePhase is the time after a clustering.
type OnlinePhase struct {
	Marker uint64 `json:"marker"` // ordinal among markers of its kind
	Leads  []int  `json:"leads"`
	Votes  int    `json:"votes"` // votes that confirmed it
}

// WhileRunning returns nil for a trace without clustering at run time.
func WhileRunning(t timeline.Trace) *Online {
	c := t.Meta().Clustering
	if c == nil {
		return nil
	}
	o := &Online{Votes: len(c.Votes), Leads: []int{}, Phases: []OnlinePhase{}}
	led := map[int]bool{}
	for _, v := range c.Votes {
		o.Explicit = v.Explicit
		switch v.State {
		case trace.VoteAll:
			o.AllTracing++
		case trace.VoteClustered:
			o.Clusterings++
			o.Phases = append(o.Phases, OnlinePhase{Marker: v.Ordinal, Leads: v.Leads})
			for _, lead := range v.Leads {
				led[lead] = true
			}
		case trace.VoteLead:
			o.Lead++
			if n := len(o.Phases); n > 0 {
				o.Phases[n-1].Votes++
			}
		case trace.VoteEnded:
			o.Ended = true
		}
	}
	for _, rank := range t.Ranks().All() {
		if led[rank.Rank] {
			o.Leads = append(o.Leads, rank.Rank)
		}
	}
	o.costs(t)
	return o
}

func (o *Online) costs(t timeline.Trace) {
	var held, lasted, votes float64
	for i, thread := range t.Threads().All() {
		o.Extrapolated += thread.CallsExtrapolated()
		if len(thread.Overheads) == 0 || thread.EndTick <= thread.FirstTick {
			continue
		}
		begin, end := t.Span(i)
		held += float64(thread.OverheadTicks()) * float64(end-begin) / float64(thread.EndTick-thread.FirstTick)
		lasted += float64(end - begin)
		votes += float64(len(thread.CallsAtVotes))
	}
	if votes > 0 && lasted > 0 {
		o.VoteNS, o.Share = int64(held/votes), held/lasted
	}
}

// Kind describes the markers.
func (o *Online) Kind() string {
	if o.Explicit {
		return "MPI_Pcontrol(100)"
	}
	return "blocking collectives of all processes"
}

// Text returns a summary line, for a trace with the given number of calls.
func (o *Online) Text(calls uint64) string {
	if o.Votes == 0 {
		return "clustered; there was no marker, so every rank was recorded by itself: MPI_Pcontrol(100) sets markers"
	}
	text := fmt.Sprintf("clustered; %d votes at %s, each %s of a rank's time, %.1f%% in all; clusterings: %d",
		o.Votes, o.Kind(), time.Duration(o.VoteNS).Round(time.Microsecond), 100*o.Share, o.Clusterings)
	if calls > 0 {
		text += fmt.Sprintf("; %.1f%% of the calls have a lead's times", 100*float64(o.Extrapolated)/float64(calls))
	}
	return text
}
