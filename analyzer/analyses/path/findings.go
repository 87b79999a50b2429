package path

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// Findings are the critical path.
type Findings struct {
	Path *Path `json:"critical_path"` // null where times of single calls were not kept
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
	Rank     int           `json:"rank"`
	StartNS  int64         `json:"start_ns"`
	EndNS    int64         `json:"end_ns"`
	Kind     accounts.Kind `json:"kind"`
	Function string        `json:"function"`
	CallSite string        `json:"call_site"`
	Merged   int           `json:"merged,omitempty"`
}

// Impact is what the activities of the path cost all ranks together: Scalasca's performance impact (Böhme, de Supinski,
// Geimer, Schulz and Wolf, "Scalable critical-path based performance analysis", IPDPS 2012). While the path goes through
// an activity for CP(a), a rank r spends T_r(a) in it without waiting, and is idle for what its activities leave of the
// path's length. All of it adds up: Allocation = Activity + Within + Between + OffPath.
type Impact struct {
	Allocation float64          `json:"allocation_seconds"` // the path's activities times the number of ranks
	Activity   float64          `json:"activity_seconds"`   // sums over all activities
	Within     float64          `json:"within_seconds"`
	Between    float64          `json:"between_seconds"`
	OffPath    float64          `json:"off_path_seconds"`
	Activities []ActivityImpact `json:"activities"` // on the path, costliest first, at most 500
}

// ActivityImpact is what one activity of the path costs all ranks together.
type ActivityImpact struct {
	Function string  `json:"function"`
	CallSite string  `json:"call_site"`
	Path     float64 `json:"path_seconds"`
	// Imbalance is the critical-path imbalance indicator: what the path has of it beyond the mean of the ranks.
	Imbalance float64 `json:"imbalance_seconds"`
	// Activity is what ranks spend in it, of each no more than the path does.
	Activity float64 `json:"activity_seconds"`
	// Within is how long ranks that do the same are idle on its account (intra-partition imbalance), Between how long
	// ranks are that never do it (inter-partition imbalance): a rank's idle time is put down to what the path has more of
	// than the rank does, in proportion.
	Within  float64 `json:"within_seconds"`
	Between float64 `json:"between_seconds"`
	// OffPath is what ranks spend in it beyond what the path does: to make that shorter does not make the run shorter.
	OffPath float64 `json:"off_path_seconds"`
}

// Seconds is what the activity costs in all: its own time, and that of those who are idle meanwhile.
func (i *ActivityImpact) Seconds() float64 { return i.Activity + i.Within + i.Between }
