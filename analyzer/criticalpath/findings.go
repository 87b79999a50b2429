package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/detail"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// SchemaVersion is that of Findings: it grows when a key changes its meaning or goes.
const SchemaVersion = 2

// Findings are what the analysis found. Times are in seconds, or in nanoseconds since the run began. What the trace cannot
// tell is null: of one without the times of single calls (timing aggregated) there are sums only.
type Findings struct {
	SchemaVersion int               `json:"schema_version"`
	RunSeconds    float64           `json:"run_seconds"`      // T: first entry into MPI_Init to last exit from MPI_Finalize
	RunStartNS    int64             `json:"run_start_ns"`     // when that began, on the common clock: CLOCK_MONOTONIC of the first rank's node
	Window        *Window           `json:"window,omitempty"` // only this part was looked at; T and all the rest are of it
	Verdict       verdict.Verdict   `json:"verdict"`
	Stopped       *stopped.Findings `json:"stopped"`       // how the run ended if not all ranks came to MPI_Finalize; null if they did
	Path          *Path             `json:"critical_path"` // null where times of single calls were not kept
	Efficiency    Efficiency        `json:"efficiency"`
	CPUs          *CPUs             `json:"cpus"` // null where the operating system was not asked twice
	Ranks         []RankTime        `json:"ranks"`
	Functions     []FunctionTime    `json:"functions"`
	CallSites     []SiteTime        `json:"call_sites"`
	Computation   []RegionTime      `json:"computation"`
	WaitStates    []WaitTime        `json:"wait_states" schema:"nullable"` // null where times of single calls were not kept
	Waits         *WaitBreakdown    `json:"waits"`                         // likewise
	RootCauses    *RootCauses       `json:"root_causes"`                   // likewise
	WhatIf        []WhatIf          `json:"what_if" schema:"nullable"`     // the ideal network first, then what promises most; null likewise
	Strips        *Strips           `json:"strips"`                        // null likewise
	Clock         clock.Findings    `json:"clock"`
	Timing        TimingError       `json:"timing"`
	Phases        *phases.Findings  `json:"phases"`  // null where times of single calls were not kept
	Profile       *profile.Findings `json:"profile"` // likewise
	Notes         []string          `json:"notes"`   // what found no partner, what the trace lacks
	// Ledger is what the time of all ranks went to; null where it is not known.
	Ledger *verdict.Ledger `json:"ledger"`
	// Detail is a window of the run call by call; null where nobody waited, or times of single calls were not kept.
	Detail *detail.Detail `json:"detail"`
	// RankActivities are those of at most 64 ranks, the ones that the verdict names first; null where times of single calls
	// were not kept.
	RankActivities []RankActivities `json:"rank_activities" schema:"nullable"`
}

// Path is the critical path.
type Path struct {
	LengthSeconds  float64      `json:"length_seconds"`
	ByRank         []RankShare  `json:"by_rank"`     // sorted by seconds, ranks that are not on it left out
	ByFunction     []FuncShare  `json:"by_function"` // "computation" is what is outside MPI
	ByCallSite     []SiteShare  `json:"by_call_site"`
	ByNode         []NodeShare  `json:"by_node"`         // or host, outside Kubernetes
	ByPhase        []PhaseShare `json:"by_phase"`        // in the order of the phases; "outside" is what is in none, as the launch
	Impact         Impact       `json:"impact"`          // what its activities cost all ranks together
	NearCritical   []RankSlack  `json:"near_critical"`   // the ranks off the path with the least slack, at most 10
	Segments       []Segment    `json:"segments"`        // in order of time, without gaps
	MergedSegments int          `json:"merged_segments"` // how many short ones were put together in Segments
	Stretches      int          `json:"stretches"`       // how often the path goes from one rank to another, plus one
}

// RankShare is a rank's part of the path.
type RankShare struct {
	Rank    int     `json:"rank"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// FuncShare is a function's part of the path.
type FuncShare struct {
	Function string  `json:"function"`
	Seconds  float64 `json:"seconds"`
	Share    float64 `json:"share"`
}

// NodeShare is a node's part of the path.
type NodeShare struct {
	Node    string  `json:"node"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// PhaseShare is a phase's part of the path.
type PhaseShare struct {
	Phase   string  `json:"phase"`
	Seconds float64 `json:"seconds"`
	Share   float64 `json:"share"`
}

// RankSlack is by how much a rank could be later without making the run longer, at most: the mean over its time.
type RankSlack struct {
	Rank    int     `json:"rank"`
	Seconds float64 `json:"seconds"`
}

// SiteShare is the part of the path of one call site, or of the computation between two.
type SiteShare struct {
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Seconds  float64 `json:"seconds"`
	Share    float64 `json:"share"`
}

// Segment is a piece of the path. One that stands for several says so in Merged, and names the longest of them.
type Segment struct {
	Rank     int    `json:"rank"`
	StartNS  int64  `json:"start_ns"`
	EndNS    int64  `json:"end_ns"`
	Kind     Kind   `json:"kind"`
	Function string `json:"function"`
	CallSite string `json:"call_site"`
	Merged   int    `json:"merged,omitempty"`
}

// Efficiency holds POP's efficiencies, from 0 to 1: Parallel = LoadBalance × Communication, and Communication =
// Serialization × Transfer. What is not known is null: all of it where no rank was traced, what divides by the computation
// where no rank computes, what takes a replay where times of single calls were not kept.
type Efficiency struct {
	Parallel      *float64 `json:"parallel"`      // mean(useful) / T
	LoadBalance   *float64 `json:"load_balance"`  // mean(useful) / max(useful)
	Communication *float64 `json:"communication"` // max(useful) / T
	Serialization *float64 `json:"serialization"` // max(useful) / T_ideal: what ranks lose waiting for each other in turn
	Transfer      *float64 `json:"transfer"`      // T_ideal / T: what is lost to the network and MPI itself
	IdealSeconds  *float64 `json:"ideal_seconds"` // T_ideal: the run on an ideal network, by replay
	MeanUseful    *float64 `json:"mean_useful_seconds"`
	MaxUseful     *float64 `json:"max_useful_seconds"`
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
	Slack          *float64 `json:"slack_seconds"`          // by how much it could be later without making the run longer, at most; the mean over its time outside waiting
	DelayCost      *float64 `json:"delay_cost_seconds"`     // waiting of others that its delays caused, directly and in the long run
	Initialization float64  `json:"initialization_seconds"` // inside MPI_Init
	Finalization   float64  `json:"finalization_seconds"`   // inside MPI_Finalize
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
	After       *Place   `json:"after"` // null where times of single calls were not kept
	Before      Place    `json:"before"`
	Count       uint64   `json:"count"`
	Seconds     float64  `json:"seconds"`      // of all ranks
	MeanSeconds float64  `json:"mean_seconds"` // over ranks
	MaxSeconds  float64  `json:"max_seconds"`
	MaxRank     int      `json:"max_rank"`
	Path        *float64 `json:"path_seconds"` // null likewise
	// Imbalance is Scalasca's indicator: how much longer the path is here than a balanced run would be. Null likewise.
	Imbalance *float64 `json:"imbalance_seconds"`
}

// Place is a call in the program.
type Place = verdict.Place

// WaitTime is how often and how long ranks waited in one pattern.
type WaitTime struct {
	Kind    string  `json:"kind"`
	PartOf  string  `json:"part_of,omitempty"` // the pattern that these are counted in as well
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
	// UncertainSeconds is how much of it rounded times may explain: of each wait what the two moments between which it lies
	// may be off, all of a wait that is shorter. 0 for lossless timing.
	UncertainSeconds float64 `json:"uncertain_seconds"`
}

// Uncertain reports whether rounded times may explain all of it.
func (w *WaitTime) Uncertain() bool { return w.UncertainSeconds > 0 && w.UncertainSeconds >= w.Seconds }

// WaitBreakdown has the wait states by who waited, where, and for whom; each list costliest first, at most 500 rows.
type WaitBreakdown struct {
	ByRank           []RankWait `json:"by_rank"`
	RanksOmitted     int        `json:"ranks_omitted"`
	ByCallSite       []SiteWait `json:"by_call_site"`
	CallSitesOmitted int        `json:"call_sites_omitted"`
	ByPair           []PairWait `json:"by_pair"`
	PairsOmitted     int        `json:"pairs_omitted"`
}

// RankWait is how one rank waited.
type RankWait struct {
	Rank    int     `json:"rank"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

// SiteWait is how ranks waited in a call.
type SiteWait struct {
	Kind     string  `json:"kind"`
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Count    int     `json:"count"`
	Seconds  float64 `json:"seconds"`
}

// PairWait is how one rank waited for another.
type PairWait struct {
	Rank    int     `json:"rank"`
	Cause   int     `json:"cause"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Seconds float64 `json:"seconds"`
}

// RootCauses say what all the waiting is put down to: delays, which are more time in an activity than those have who
// wait for it, and waiting that was itself waited for.
type RootCauses struct {
	WaitingSeconds     float64 `json:"waiting_seconds"`  // of all ranks
	DirectSeconds      float64 `json:"direct_seconds"`   // for delays of the rank that was waited for
	IndirectSeconds    float64 `json:"indirect_seconds"` // for its own waiting
	UnexplainedSeconds float64 `json:"unexplained_seconds"`
	Delays             []Delay `json:"delays"` // costliest first, at most 500
	DelaysOmitted      int     `json:"delays_omitted"`
}

// Delay is an activity in which a rank took longer than ranks that then waited for it.
type Delay struct {
	Rank      int     `json:"rank"`
	Kind      Kind    `json:"kind"`
	Function  string  `json:"function"`           // "computation" for what is outside MPI
	CallSite  string  `json:"call_site"`          // for computation, between which calls
	ShortTerm float64 `json:"short_term_seconds"` // waiting directly for it
	LongTerm  float64 `json:"long_term_seconds"`  // waiting for ranks that waited for it, and so on
}

// Strips show how ranks (as in Ranks) spent equal parts of the run: one byte each, 255 for all of it, in base64. Wait above
// MPI marks a part in which the rank was not there. Of many ranks, Tile neighbours share a strip: their mean.
type Strips struct {
	Bins int      `json:"bins"`
	Tile int      `json:"tile"`
	MPI  [][]byte `json:"mpi"`
	Wait [][]byte `json:"wait"`
}

// A Window is a part of the run.
type Window struct {
	From float64 `json:"from_seconds"` // since the run began
	To   float64 `json:"to_seconds"`
}
