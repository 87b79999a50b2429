package collect

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Result is what a merge achieved.
type Result struct {
	Levels   []int // parts of the levels that are to follow before there are runs
	Runs     []RunResult
	Lost     []string // ranks that sidecars could not upload
	Problems []string // what was damaged, late or odd
}

// A RunResult is one run in the termination message.
type RunResult struct {
	ID                        string `json:"id"`
	Attempt                   int    `json:"attempt"`
	Run                       int    `json:"run"`
	Ranks                     int    `json:"ranks"` // of the world
	MissingRanks              string `json:"missing_ranks"`
	EndedEarly                string `json:"ended_early,omitempty"` // ranks that did not get through MPI_Finalize
	Calls                     uint64 `json:"calls"`
	TraceBytes                int64  `json:"trace_bytes"`
	ParallelEfficiencyPercent *int   `json:"parallel_efficiency_percent,omitempty"` // nil: unknown
	TraceURI                  string `json:"trace_uri"`
}

// Termination is the termination message: at most 4096 bytes of JSON.
type Termination struct {
	Runs     []RunResult `json:"runs"`
	RunCount int         `json:"run_count"`
	Levels   []int       `json:"levels,omitempty"`
	Lost     string      `json:"lost"`
	Message  string      `json:"message"`
}

// Limits of a termination message.
const (
	TerminationBytes = 4096
	terminationRuns  = 16
	maxText          = 700 // of lost and message each
	maxMissing       = 120 // of one run's list of missing ranks
)

// Termination shortens the result until it fits: first the texts, then runs
// from the end. err is the error of Merge, if it gave one.
func (r *Result) Termination(err error) Termination {
	var t Termination
	t.Runs = []RunResult{}
	if r != nil {
		t.RunCount, t.Levels = len(r.Runs), r.Levels
		for _, run := range r.Runs[:min(len(r.Runs), terminationRuns)] {
			run.MissingRanks, run.EndedEarly = shorten(run.MissingRanks, maxMissing), shorten(run.EndedEarly, maxMissing)
			t.Runs = append(t.Runs, run)
		}
		t.Lost = shorten(strings.Join(r.Lost, "; "), maxText)
		t.Message = shorten(strings.Join(r.Problems, "; "), maxText)
	}
	if err != nil {
		t.Message = shorten(strings.TrimSuffix(err.Error()+"; "+t.Message, "; "), maxText)
	}
	for len(t.Runs) > 0 {
		raw, err := json.Marshal(t)
		if err == nil && len(raw) <= TerminationBytes {
			break
		}
		t.Runs = t.Runs[:len(t.Runs)-1]
	}
	return t
}

// shorten cuts a text at a rune and says how much is missing.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	suffix := fmt.Sprintf("… (%d bytes)", len(s))
	return strings.ToValidUTF8(s[:limit-len(suffix)], "") + suffix
}
