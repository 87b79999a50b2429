package compare

// SchemaVersion is that of Findings: it grows when a key changes its meaning or goes.
const SchemaVersion = 1

// Findings are the differences of two runs, B − A: positive is slower. Times are in seconds.
type Findings struct {
	SchemaVersion int          `json:"schema_version"`
	Text          string       `json:"text"` // what one wants to know, in one sentence
	A             Run          `json:"a"`
	B             Run          `json:"b"`
	Difference    float64      `json:"difference_seconds"`
	Computation   float64      `json:"computation_difference_seconds"` // mean over ranks
	MPI           float64      `json:"mpi_difference_seconds"`         // mean over ranks
	Changes       []Change     `json:"changes"`                        // significant ones: computation first, then by seconds; at most 100
	Omitted       int          `json:"changes_omitted"`
	Tests         int          `json:"tests"`  // of significance that were made
	Places        []Place      `json:"places"` // largest difference first, at most 100
	Notes         []string     `json:"notes"`
	Phases        []PhaseTimes `json:"phases"` // those of either run
}

// A Run is one of the two. Means are over ranks' main threads.
type Run struct {
	Ranks       int     `json:"ranks"`
	Seconds     float64 `json:"run_seconds"`
	Computation float64 `json:"mean_computation_seconds"`
	MPI         float64 `json:"mean_mpi_seconds"`
	Phases      string  `json:"phases"` // in one sentence
}

// A Change is a significant difference of the iterations of one rank in one phase.
type Change struct {
	Phase   string  `json:"phase"`
	Rank    int     `json:"rank"`
	What    string  `json:"what"`                  // "computation" or "mpi"
	A       float64 `json:"a_median_seconds"`      // of an iteration
	B       float64 `json:"b_median_seconds"`      //
	Shift   float64 `json:"shift_seconds"`         // of an iteration: Hodges–Lehmann
	Percent float64 `json:"shift_percent"`         // of A's median
	Seconds float64 `json:"total_seconds"`         // the shift times the iterations of B
	PValue  float64 `json:"p_value"`               // times the number of tests
	Samples int     `json:"samples"`               // of A and B together
	Per     uint64  `json:"iterations_per_sample"` // neighbouring iterations are put together in long loops
}

// A Place is a call, or the computation before a call, in both runs; means over ranks.
type Place struct {
	Function   string  `json:"function"` // of the call
	CallSite   string  `json:"call_site"`
	What       string  `json:"what"` // "computation" before the call, or "mpi" in it
	A          float64 `json:"a_seconds"`
	B          float64 `json:"b_seconds"`
	Difference float64 `json:"difference_seconds"`
	// Rank is the one with the largest difference in the direction of Difference, RankDifference that difference.
	Rank           int     `json:"rank"`
	RankDifference float64 `json:"rank_difference_seconds"`
}

// PhaseTimes are the times of one phase in both runs, from its first rank's start to its last rank's end.
type PhaseTimes struct {
	Name string  `json:"name"`
	A    float64 `json:"a_seconds"`
	B    float64 `json:"b_seconds"`
}
