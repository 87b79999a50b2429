package compare

import "github.com/cairn-mpi/cairn/analyzer/verdict"

// SchemaVersion is the version of Findings. It is incremented when a key is removed or changes its
// meaning.
const SchemaVersion = 3

// Findings are the differences of two sides, B − A: positive is slower. Times are in seconds. With
// several runs per side they are means over the runs.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Text          string `json:"text"` // summary in a few sentences
	A             Side   `json:"a"`
	B             Side   `json:"b"`
	// DifferentPrograms: A and B are runs of different programs, and only run times are compared.
	DifferentPrograms bool `json:"different_programs"`
	// CallSitesMoved: the program was changed, and call sites are matched by function.
	CallSitesMoved bool    `json:"call_sites_moved"`
	Difference     float64 `json:"difference_seconds"`
	// PValue is Welch's, for the difference of the run times; null with one run per side.
	PValue *float64 `json:"p_value"`
	// Detectable is the smallest difference of the run times, in per cent of A's, that could be
	// detected with this number and variance of runs; null with one run per side.
	Detectable  *float64     `json:"detectable_percent"`
	Computation float64      `json:"computation_difference_seconds"` // mean over ranks
	MPI         float64      `json:"mpi_difference_seconds"`         // mean over ranks, including waiting
	Causes      []Cause      `json:"causes"`                         // largest difference first, at most 100
	Changes     []Change     `json:"changes"`                        // computation first, then by seconds; at most 100
	Omitted     int          `json:"changes_omitted"`
	Tests       int          `json:"tests"`      // number of tests of iterations
	Activities  []Activity   `json:"activities"` // including waiting; largest difference first, at most 100
	Notes       []string     `json:"notes"`
	Phases      []PhaseTimes `json:"phases"` // those of either side

	nodes    map[int]string // by rank, of B
	rounding float64        // error of the run times of both sides together
}

// A Side is the runs before or after the change. Means are over runs and, within them, ranks' main
// threads.
type Side struct {
	Runs       int     `json:"runs"`
	Executable string  `json:"executable"` // of the lowest rank, without directories
	Ranks      int     `json:"ranks"`      // of the first run
	Seconds    float64 `json:"run_seconds"`
	// standard deviation of run_seconds between the runs; null for one run
	Deviation   *float64 `json:"deviation_seconds"`
	Shortest    float64  `json:"shortest_run_seconds"`
	Longest     float64  `json:"longest_run_seconds"`
	Computation float64  `json:"mean_computation_seconds"`
	MPI         float64  `json:"mean_mpi_seconds"`
	Common      float64  `json:"common_percent"` // share of the first run's time at call sites that the other side has
	Phases      string   `json:"phases"`         // of the first run, in one sentence
	// Causes are those of the verdict on the run with the median time (package verdict): why it is
	// as slow as it is.
	Causes []verdict.Cause `json:"causes"`
}

// A Cause is a part of the critical path. The path never waits, so an increase on it makes the run
// longer. The parts of a side add up to its run time.
type Cause struct {
	Function   string  `json:"function"`  // of MPI, "computation", "launch", "untraced", or "other"
	CallSite   string  `json:"call_site"` // for computation: the call before or after it
	A          float64 `json:"a_seconds"`
	B          float64 `json:"b_seconds"`
	Difference float64 `json:"difference_seconds"`
	// Rank is the one rank that has at least half of the difference in its own time there, for
	// computation only; null if there is no such rank.
	Rank *int `json:"rank"`
}

// A Change is a difference of the iterations of one rank in one phase that is larger than chance
// and rounding explain: chance within the two runs, or, with several runs per side, between runs.
type Change struct {
	Phase    string  `json:"phase"`
	Rank     int     `json:"rank"`
	What     string  `json:"what"`                    // "computation" or "mpi"
	Relative bool    `json:"relative_to_other_ranks"` // compared with the median over ranks of the same run
	A        float64 `json:"a_seconds"`               // per iteration: the median of one run, the mean of several
	B        float64 `json:"b_seconds"`               //
	// per iteration: Hodges–Lehmann for one run per side, B − A for several
	Shift   float64 `json:"shift_seconds"`
	Percent float64 `json:"shift_percent"` // of A
	Seconds float64 `json:"total_seconds"` // the shift times the number of iterations of B
	PValue  float64 `json:"p_value"`       // multiplied by the number of tests
	// of A and B together: iterations, or runs if there are several per side
	Samples int    `json:"samples"`
	Per     uint64 `json:"iterations_per_sample"` // successive iterations are grouped in long loops; 0 for runs
}

// An Activity is a call, or the computation before a call, on both sides; times are means over
// ranks. What waits is rarely what is slow.
type Activity struct {
	Function   string  `json:"function"` // of the call
	CallSite   string  `json:"call_site"`
	What       string  `json:"what"` // "computation" before the call, or "mpi" in it
	A          float64 `json:"a_seconds"`
	B          float64 `json:"b_seconds"`
	Difference float64 `json:"difference_seconds"`
	// Rank is the one with the largest difference in the direction of Difference; RankDifference is
	// that difference.
	Rank           int     `json:"rank"`
	RankDifference float64 `json:"rank_difference_seconds"`
}

// PhaseTimes are the times of one phase on both sides, from its first rank's start to its last
// rank's end.
type PhaseTimes struct {
	Name        string  `json:"name"`
	A           float64 `json:"a_seconds"`
	B           float64 `json:"b_seconds"`
	AIterations float64 `json:"a_iterations"` // iterations of a loop on the rank with most of them
	BIterations float64 `json:"b_iterations"`
}
