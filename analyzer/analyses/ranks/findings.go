package ranks

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings are times of ranks, functions, call sites and computations.
type Findings struct {
	Ranks       []RankTime     `json:"ranks"`
	Functions   []FunctionTime `json:"functions"`
	CallSites   []SiteTime     `json:"call_sites"`
	Computation []RegionTime   `json:"computation"`
}

// RankTime is how one rank spent its time.
type RankTime struct {
	Rank        int     `json:"rank"`
	Pod         string  `json:"pod"`
	Node        string  `json:"node"`
	Host        string  `json:"host"`
	Calls       uint64  `json:"calls"`
	Computation float64 `json:"computation_seconds"`
	MPI         float64 `json:"mpi_seconds"` // waiting included
	// null, like the following ones, if the times of single calls were not recorded
	Waiting       *float64 `json:"waiting_seconds"`
	CausedWaiting *float64 `json:"caused_waiting_seconds"` // how long others waited directly for this rank
	Path          *float64 `json:"path_seconds"`
	PathShare     *float64 `json:"path_share"`
	// maximum time by which it could be later without making the run longer; mean over the time in
	// which it does not wait
	Slack *float64 `json:"slack_seconds"`
	// waiting of others that its delays caused, directly or indirectly
	DelayCost *float64 `json:"delay_cost_seconds"`
	// inside MPI_Init; like the next one, omitted if it is not in the trace
	Initialization float64 `json:"initialization_seconds,omitzero"`
	Finalization   float64 `json:"finalization_seconds,omitzero"` // inside MPI_Finalize
	EndedEarly     string  `json:"ended_early,omitempty"`
}

// FunctionTime is what all ranks together spent in a function.
type FunctionTime struct {
	Function string   `json:"function"`
	Calls    uint64   `json:"calls"`
	Seconds  float64  `json:"seconds"`
	Waiting  *float64 `json:"waiting_seconds"` // null, like Path, if the times of single calls were not recorded
	Path     *float64 `json:"path_seconds"`
}

// SiteTime is the same as FunctionTime for one call site.
type SiteTime struct {
	Function string   `json:"function"`
	CallSite string   `json:"call_site"`
	Calls    uint64   `json:"calls"`
	Seconds  float64  `json:"seconds"`
	Waiting  *float64 `json:"waiting_seconds"` // null, like Path, if the times of single calls were not recorded
	Path     *float64 `json:"path_seconds"`
}

// RegionTime is the computation between two consecutive calls.
type RegionTime struct {
	After       *verdict.Call `json:"after"` // null if the times of single calls were not recorded
	Before      verdict.Call  `json:"before"`
	Count       uint64        `json:"count"`
	Seconds     float64       `json:"seconds"`      // of all ranks
	MeanSeconds float64       `json:"mean_seconds"` // over ranks
	MaxSeconds  float64       `json:"max_seconds"`
	MaxRank     int           `json:"max_rank"`
	Path        *float64      `json:"path_seconds"` // null if After is
	// Imbalance is Scalasca's indicator: how much longer the path is here than that of a balanced
	// run. Null if After is.
	Imbalance *float64 `json:"imbalance_seconds"`
}
