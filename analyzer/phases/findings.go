package phases

// SchemaVersion is the version of Findings. It is incremented when a key is removed or changes its
// meaning.
const SchemaVersion = 1

// Findings are the phases of a run, in order, and the run by time. Seconds are wall-clock time on
// the common clock.
type Findings struct {
	SchemaVersion int      `json:"schema_version"`
	Text          string   `json:"text"` // the phases in one sentence
	Phases        []Phase  `json:"phases"`
	Windows       []Window `json:"windows"` // equal parts of the run
}

// A Phase is a loop, or the part before, between or after loops. Times are of main threads only.
type Phase struct {
	Name               string     `json:"name"`
	Loop               bool       `json:"loop"`
	CallSites          []string   `json:"call_sites"` // of a loop, at most 40
	Anchor             string     `json:"anchor"`     // the call that ends an iteration; "" if there is none
	Iterations         uint64     `json:"iterations"` // of the rank with the most iterations
	CallsPerIteration  float64    `json:"calls_per_iteration"`
	Ranks              int        `json:"ranks"` // number of ranks that take part
	Calls              uint64     `json:"calls"` // of all ranks
	StartSeconds       float64    `json:"start_seconds"`
	EndSeconds         float64    `json:"end_seconds"`         // from the first rank's start to the last rank's end
	Computation        float64    `json:"computation_seconds"` // sum over all ranks
	MPI                float64    `json:"mpi_seconds"`         // waiting included
	Waiting            float64    `json:"waiting_seconds"`
	Path               float64    `json:"path_seconds"` // on the critical path
	Efficiency         Efficiency `json:"efficiency"`
	MedianIteration    float64    `json:"median_iteration_seconds"` // over ranks and iterations
	Drifts             []Drift    `json:"drifts"`                   // strongest first, at most 20
	DriftsOmitted      int        `json:"drifts_omitted"`
	Outliers           []Outlier  `json:"outliers"` // longest first, at most 20
	OutliersOmitted    int        `json:"outliers_omitted"`
	SlowestRank        int        `json:"slowest_rank"` // rank that computes longest
	SlowestComputation float64    `json:"slowest_rank_computation_seconds"`
}

// Efficiency contains POP's efficiencies of a part of the run, from 0 to 1: Parallel = LoadBalance
// × Communication, and Communication = Serialization × Transfer. The latter two are 0 if there was
// no replay.
type Efficiency struct {
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Serialization float64 `json:"serialization"` // max(useful) / ideal time
	Transfer      float64 `json:"transfer"`      // ideal time / time
	IdealSeconds  float64 `json:"ideal_seconds"` // of the slowest rank's part on an ideal network
}

// A Drift is a rank whose computation per iteration changes over the loop.
type Drift struct {
	Rank          int     `json:"rank"`
	SlopeSeconds  float64 `json:"slope_seconds_per_iteration"`
	ChangePercent float64 `json:"change_percent"` // from the first to the last iteration, of the median; > 0: slower
	PValue        float64 `json:"p_value"`        // of no trend, two-sided (Mann–Kendall)
	Text          string  `json:"text"`
}

// An Outlier is an iteration in which a rank computed much longer than usual.
type Outlier struct {
	Rank      int     `json:"rank"`
	Iteration uint64  `json:"iteration"` // from 1
	Seconds   float64 `json:"computation_seconds"`
	Median    float64 `json:"median_seconds"`
}

// A Window is an equal part of the run.
type Window struct {
	StartSeconds float64    `json:"start_seconds"` // since the start of the run
	EndSeconds   float64    `json:"end_seconds"`
	Efficiency   Efficiency `json:"efficiency"`
}
