package messages

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"time"
)

// An Attempt is one start of the launcher, as the operator observed it. "cairn merge --job
// --attempts" takes a list of them.
type Attempt struct {
	Attempt      int       `json:"attempt"`
	PodUID       string    `json:"pod_uid"`
	RestartCount int       `json:"restart_count"`
	StartedAt    time.Time `json:"started_at"`
	FinishedAt   time.Time `json:"finished_at,omitzero"` // zero: not known
}

// RunID returns attempt/run, the name of a run below a job's storage.
func RunID(attempt, run int) string {
	return path.Join(strconv.Itoa(attempt), strconv.Itoa(run))
}

// A Run is one MPI_COMM_WORLD, in the message of the merge and, with the report's results, in that
// of the report.
type Run struct {
	ID           string `json:"id"` // RunID
	Attempt      int    `json:"attempt"`
	Run          int    `json:"run"`
	Ranks        int    `json:"ranks"` // of the world
	MissingRanks string `json:"missing_ranks,omitempty"`
	EndedEarly   string `json:"ended_early,omitempty"` // ranks that did not complete MPI_Finalize
	Calls        uint64 `json:"calls"`                 // in the trace
	// CallsLost were made but not recorded, because a limit was reached. LostWhy names the limit
	// and the ranks.
	CallsLost uint64 `json:"calls_lost,omitempty"`
	LostWhy   string `json:"lost_why,omitempty"`
	// CallsCoarse are calls that have only sums of times, because the spool approached its limit
	// or the compressor could not follow. CoarseRanks made them.
	CallsCoarse uint64 `json:"calls_coarse,omitempty"`
	CoarseRanks string `json:"coarse_ranks,omitempty"`
	TraceBytes  int64  `json:"trace_bytes"`
	// ParallelEfficiencyPercent is nil if it is not known.
	ParallelEfficiencyPercent *int `json:"parallel_efficiency_percent,omitempty"`
	// TraceURI and ReportURI are left out of a long message: they are TraceFile and ReportDirectory
	// below the run's ID.
	TraceURI  string `json:"trace_uri,omitempty"`
	ReportURI string `json:"report_uri,omitempty"`
	Clusters  int    `json:"clusters,omitempty"`
	Topology  string `json:"topology,omitempty"`
	// Failed is the reason why a run has no report, or an incomplete one.
	Failed string `json:"failed,omitempty"`
}

// worse orders runs by how much they need attention: first by what was lost, then what failed, then
// coarse times, then early ends, then low efficiency. Of equal runs the later one comes first.
func worse(a, b Run) int {
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	efficiency := func(r Run) int {
		if r.ParallelEfficiencyPercent == nil {
			return 101
		}
		return *r.ParallelEfficiencyPercent
	}
	return cmp.Or(
		cmp.Compare(flag(b.MissingRanks != "" || b.CallsLost > 0), flag(a.MissingRanks != "" || a.CallsLost > 0)),
		cmp.Compare(flag(b.Failed != ""), flag(a.Failed != "")),
		cmp.Compare(flag(b.CallsCoarse > 0), flag(a.CallsCoarse > 0)),
		cmp.Compare(flag(b.EndedEarly != ""), flag(a.EndedEarly != "")),
		cmp.Compare(efficiency(a), efficiency(b)),
		cmp.Compare(b.Attempt, a.Attempt), cmp.Compare(b.Run, a.Run))
}

// Worst returns the n worst of runs, in the order of their numbers.
func Worst(runs []Run, n int) []Run {
	chosen := slices.Clone(runs)
	if len(chosen) > n {
		slices.SortFunc(chosen, worse)
		chosen = chosen[:n]
	}
	slices.SortFunc(chosen, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Run, b.Run))
	})
	return chosen
}

// fitRuns shortens a list until its message fits: first texts, then fields that can be derived,
// then runs.
func fitRuns(runs []Run, fits func([]Run) bool) []Run {
	chosen := Worst(runs, MaxRuns)
	for i := range chosen {
		r := &chosen[i]
		for _, text := range []*string{&r.MissingRanks, &r.EndedEarly, &r.LostWhy, &r.CoarseRanks, &r.Topology, &r.Failed} {
			*text = Shorten(*text, maxRanks)
		}
	}
	if !fits(chosen) {
		for i := range chosen {
			chosen[i].TraceURI, chosen[i].ReportURI = "", ""
		}
	}
	for len(chosen) > 0 && !fits(chosen) {
		chosen = Worst(chosen, len(chosen)-1)
	}
	return chosen
}
