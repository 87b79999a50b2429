package scaling

// SchemaVersion is the version of Findings. It is incremented when a key is removed or changes its
// meaning.
const SchemaVersion = 2

// Findings describe how the parts of a program grow with the number of ranks. Times are in seconds.
// Times, calls and bytes are means over ranks unless said otherwise. For several runs of a size
// each value is the median.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Text          string `json:"text"`       // summary in a few sentences
	Executable    string `json:"executable"` // of the first run, without directories
	Sizes         []Size `json:"sizes"`      // by increasing number of ranks
	// Kind is "strong" scaling if the total computation of all ranks is constant, "weak" if that of
	// each rank is, and "" otherwise.
	Kind    string `json:"scaling"`
	Targets []int  `json:"targets"` // numbers of ranks that are predicted, increasing
	// HurtsFirst is the index of the region whose share of the run grows most up to the last
	// target; null if no region grows, or there are no models of times.
	HurtsFirst *int `json:"hurts_first"`
	// the largest at the last target first, or, without models of times, in the largest run
	Regions []Region `json:"regions"`
	Notes   []string `json:"notes"`
}

// A Size is a number of ranks with runs.
type Size struct {
	Ranks int `json:"ranks"`
	Runs  int `json:"runs"`
	// time of a rank between MPI_Init and MPI_Finalize, without time that was not traced
	Seconds float64 `json:"seconds"`
	Spread  float64 `json:"spread_percent"` // from the shortest to the longest run, relative to the median
	// StartAndEnd is the time inside MPI_Init and MPI_Finalize, which is not part of any share.
	StartAndEnd float64 `json:"start_and_end_seconds"`
	// WaitedForCPU is the share of its time that a rank's first thread was ready to run and had no
	// CPU.
	WaitedForCPU float64 `json:"waited_for_cpu_percent"`
}

// A Region is a call at a call site, or the computation between two calls.
type Region struct {
	Name     string `json:"name"` // in words
	What     string `json:"what"` // "mpi" or "computation"
	Function string `json:"function"`
	CallSite string `json:"call_site"`
	// AfterFunction and AfterCallSite are the call before a computation; "" for a call, and if
	// single calls have no times.
	AfterFunction string     `json:"after_function"`
	AfterCallSite string     `json:"after_call_site"`
	Measured      []Measured `json:"measured"` // by size; none for sizes without it
	Seconds       Series     `json:"seconds"`
	MaxSeconds    Series     `json:"max_seconds"` // of the rank with the longest time
	Waiting       Series     `json:"waiting_seconds"`
	Calls         Series     `json:"calls"` // not for computations
	Bytes         Series     `json:"bytes"` // passed in by callers; for MPI_Alltoall, to all processes together
	// Predicted has the prediction for each target. A time without a model is that of the largest
	// run.
	Predicted []Prediction `json:"predicted"`
}

// Measured is a region at a size.
type Measured struct {
	Ranks      int      `json:"ranks"`
	Seconds    float64  `json:"seconds"`
	Share      float64  `json:"share_percent"` // of the size's seconds
	MaxSeconds float64  `json:"max_seconds"`
	Waiting    *float64 `json:"waiting_seconds"` // null if single calls have no times
	Calls      float64  `json:"calls"`
	Bytes      *float64 `json:"bytes"` // null if the data of some calls has an unknown size
}

// A Series is the model of one measure.
type Series struct {
	Model *Model `json:"model"` // null: see NoModel
	// NoModel is the reason for not having a model; "" if there is one.
	NoModel string `json:"no_model"`
}

// A Model is c0 + Σ c · p^i · log2(p)^j.
type Model struct {
	Formula  string        `json:"formula"` // in the usual notation
	Constant float64       `json:"constant"`
	Terms    []Coefficient `json:"terms"`
	Exact    bool          `json:"exact"` // it matches all sizes exactly
	// mean symmetric relative error of each size predicted from the others
	Error float64 `json:"leave_one_out_percent"`
	Sizes int     `json:"sizes"` // number of sizes that it was fitted to
	// Shape: the model is valid only for Shape times a square number of ranks (1: for squares); 0:
	// for all numbers.
	Shape int `json:"shape"`

	choice *choice
}

// A Coefficient is a term with its coefficient.
type Coefficient struct {
	Value float64 `json:"coefficient"`
	Term
}

// A Prediction is a region at a number of ranks.
type Prediction struct {
	Ranks   int     `json:"ranks"`
	Seconds float64 `json:"seconds"`
	// Low and High are the range that the data do not refute (interval.go); null if there is no
	// model.
	Low   *float64 `json:"low_seconds"`
	High  *float64 `json:"high_seconds"`
	Share float64  `json:"share_percent"` // of all regions' predictions
	Calls *float64 `json:"calls"`         // null if there is no model
	Bytes *float64 `json:"bytes"`
}
