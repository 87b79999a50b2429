package path

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// Findings are the critical path.
type Findings struct {
	Path *Path `json:"critical_path"` // null if the times of single calls were not recorded
}

// Path is the critical path.
type Path struct {
	LengthSeconds float64     `json:"length_seconds"`
	ByRank        []RankShare `json:"by_rank"`     // by decreasing seconds; without ranks that are not on it
	ByFunction    []FuncShare `json:"by_function"` // "computation" outside of MPI
	ByCallSite    []SiteShare `json:"by_call_site"`
	ByNode        []NodeShare `json:"by_node"` // or host, outside Kubernetes
	// in order of the phases; "outside" is in none of them, such as the launch
	ByPhase        []PhaseShare `json:"by_phase"`
	Impact         Impact       `json:"impact"`          // the cost of its activities for all ranks
	NearCritical   []RankSlack  `json:"near_critical"`   // the ranks off the path with the least slack, at most 10
	Segments       []Segment    `json:"segments"`        // in order of time, without gaps
	MergedSegments int          `json:"merged_segments"` // number of short ones that were merged in Segments
	Stretches      int          `json:"stretches"`       // number of moves from one rank to another, plus one
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

// RankSlack is the maximum time by which a rank could be later without making the run longer: the
// mean over its time.
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

// Segment is a segment of the path. If it is merged from several ones, Merged is their number, and
// the other fields name the longest of them.
type Segment struct {
	Rank     int           `json:"rank"`
	StartNS  int64         `json:"start_ns"`
	EndNS    int64         `json:"end_ns"`
	Kind     accounts.Kind `json:"kind"`
	Function string        `json:"function"`
	CallSite string        `json:"call_site"`
	Merged   int           `json:"merged,omitempty"`
}

// Impact is the cost of the path's activities for all ranks: Scalasca's performance impact (Böhme,
// de Supinski, Geimer, Schulz and Wolf, "Scalable critical-path based performance analysis", IPDPS
// 2012). While the path is in an activity for CP(a), a rank r spends T_r(a) in it without waiting.
// The rank's idle time is the length of the path minus its own activities. The parts add up:
// Allocation = Activity + Within + Between + OffPath.
type Impact struct {
	Allocation float64          `json:"allocation_seconds"` // the path's activities times the number of ranks
	Activity   float64          `json:"activity_seconds"`   // sums over all activities
	Within     float64          `json:"within_seconds"`
	Between    float64          `json:"between_seconds"`
	OffPath    float64          `json:"off_path_seconds"`
	Activities []ActivityImpact `json:"activities"` // on the path, costliest first, at most 500
}

// ActivityImpact is the cost of one activity of the path for all ranks.
type ActivityImpact struct {
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Path     float64 `json:"path_seconds"`
	// Imbalance is the critical-path imbalance indicator: the excess of the path's time in the
	// activity over the mean of the ranks.
	Imbalance float64 `json:"imbalance_seconds"`
	// Activity is the time of all ranks in the activity, for each at most that of the path.
	Activity float64 `json:"activity_seconds"`
	// Within is the idle time caused by the activity of ranks that execute it too (intra-partition
	// imbalance). Between is that of ranks that never execute it (inter-partition imbalance). The
	// idle time of a rank is attributed in proportion to the path's excess over the rank in each
	// activity.
	Within  float64 `json:"within_seconds"`
	Between float64 `json:"between_seconds"`
	// OffPath is the time of ranks in the activity in excess of the path's. Shortening it does not
	// make the run shorter.
	OffPath float64 `json:"off_path_seconds"`
}

// Seconds returns the total cost of the activity: its own time, and the idle time that it causes.
func (i *ActivityImpact) Seconds() float64 { return i.Activity + i.Within + i.Between }
