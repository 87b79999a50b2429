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
	Rank           int      `json:"rank"`
	Pod            string   `json:"pod"`
	Node           string   `json:"node"`
	Host           string   `json:"host"`
	Calls          uint64   `json:"calls"`
	Computation    float64  `json:"computation_seconds"`
	MPI            float64  `json:"mpi_seconds"`            // waiting included
	Waiting        *float64 `json:"waiting_seconds"`        // null, as those that follow, where times of single calls were not kept
	CausedWaiting  *float64 `json:"caused_waiting_seconds"` // how long others waited for this rank, directly
	Path           *float64 `json:"path_seconds"`
	PathShare      *float64 `json:"path_share"`
	Slack          *float64 `json:"slack_seconds"`                   // by how much it could be later without making the run longer, at most; the mean over its time outside waiting
	DelayCost      *float64 `json:"delay_cost_seconds"`              // how long others waited because of its delays, directly or through other ranks
	Initialization float64  `json:"initialization_seconds,omitzero"` // inside MPI_Init; left out, as the next, where the rank was not seen in it
	Finalization   float64  `json:"finalization_seconds,omitzero"`   // inside MPI_Finalize
	EndedEarly     string   `json:"ended_early,omitempty"`
}

// FunctionTime is what all ranks together spent in a function.
type FunctionTime struct {
	Function string   `json:"function"`
	Calls    uint64   `json:"calls"`
	Seconds  float64  `json:"seconds"`
	Waiting  *float64 `json:"waiting_seconds"` // null, as Path, where times of single calls were not kept
	Path     *float64 `json:"path_seconds"`
}

// SiteTime is the same for a function at one call site.
type SiteTime struct {
	Function string   `json:"function"`
	CallSite string   `json:"call_site"`
	Calls    uint64   `json:"calls"`
	Seconds  float64  `json:"seconds"`
	Waiting  *float64 `json:"waiting_seconds"` // null, as Path, where times of single calls were not kept
	Path     *float64 `json:"path_seconds"`
}

// RegionTime is the computation between two calls that follow each other.
type RegionTime struct {
	After       *verdict.Place `json:"after"` // null where times of single calls were not kept
	Before      verdict.Place  `json:"before"`
	Count       uint64         `json:"count"`
	Seconds     float64        `json:"seconds"`      // of all ranks
	MeanSeconds float64        `json:"mean_seconds"` // over ranks
	MaxSeconds  float64        `json:"max_seconds"`
	MaxRank     int            `json:"max_rank"`
	Path        *float64       `json:"path_seconds"` // null likewise
	// Imbalance is Scalasca's indicator: how much longer the path is here than a balanced run would be. Null likewise.
	Imbalance *float64 `json:"imbalance_seconds"`
}
