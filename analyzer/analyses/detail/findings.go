package detail

// Findings are what some ranks did.
type Findings struct {
	// Detail is a window of the run call by call; null where nobody waited, or times of single calls were not kept.
	Detail *Detail `json:"detail"`
	// RankActivities are those of at most 64 ranks, the ones that the verdict names first; null where times of single calls
	// were not kept.
	RankActivities []RankActivities `json:"rank_activities" jsonschema:"nullable"`
}

// RankActivities are where one rank spent its time: the longest computations and the longest calls, in this order, each
// at most five.
type RankActivities struct {
	Rank       int            `json:"rank"`
	Activities []RankActivity `json:"activities"`
}

// A RankActivity is what one rank spent in one place of the program.
type RankActivity struct {
	Function string  `json:"function"`  // "computation" for what is outside MPI
	CallSite string  `json:"call_site"` // for computation, between which calls
	Count    uint64  `json:"count"`
	Seconds  float64 `json:"seconds"`
	Mean     float64 `json:"mean_seconds"`    // of all ranks
	Waiting  float64 `json:"waiting_seconds"` // of Seconds
	Path     float64 `json:"path_seconds"`    // on the critical path
}
