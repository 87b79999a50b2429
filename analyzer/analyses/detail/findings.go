package detail

// Findings are what some ranks did.
type Findings struct {
	// Detail has the single calls in an interval of the run; null if nobody waited, or the times of
	// single calls were not recorded.
	Detail *Detail `json:"detail"`
	// RankActivities are the activities of at most 64 ranks, those first that the verdict names;
	// null if the times of single calls were not recorded.
	RankActivities []RankActivities `json:"rank_activities" jsonschema:"nullable"`
}

// RankActivities has the activities in which one rank spent its time: at most five longest
// computations, then at most five longest calls.
type RankActivities struct {
	Rank       int            `json:"rank"`
	Activities []RankActivity `json:"activities"`
}

// A RankActivity is a call or a computation of one rank, by location in the program.
type RankActivity struct {
	Function string  `json:"function"`  // "computation" outside of MPI
	CallSite string  `json:"call_site"` // of a computation: the calls before and after it
	Count    uint64  `json:"count"`
	Seconds  float64 `json:"seconds"`
	Mean     float64 `json:"mean_seconds"`    // of all ranks
	Waiting  float64 `json:"waiting_seconds"` // of Seconds
	Path     float64 `json:"path_seconds"`    // on the critical path
}
