package scaling

// SchemaVersion is that of Findings: it grows when a key changes its meaning or goes.
const SchemaVersion = 2

// Findings say how the parts of a program grow with the number of ranks. Times are in seconds and, as calls and bytes are,
// means over ranks unless said otherwise. Of several runs of a size each value is the median.
type Findings struct {
	SchemaVersion int    `json:"schema_version"`
	Text          string `json:"text"`       // what one wants to know, in a few sentences
	Executable    string `json:"executable"` // of the first run, without folders
	Sizes         []Size `json:"sizes"`      // by rising number of ranks
	// Kind is "strong" scaling where the computation of all ranks together stays the same, "weak" where that of each rank
	// does, and "" where neither does.
	Kind    string `json:"scaling"`
	Targets []int  `json:"targets"` // numbers of ranks that are predicted, rising
	// HurtsFirst is the index of the region whose share of the run grows most up to the last target; null if none is seen to
	// grow, or there are no models of times.
	HurtsFirst *int     `json:"hurts_first"`
	Regions    []Region `json:"regions"` // the largest at the last target first, or, without models of times, in the largest run
	Notes      []string `json:"notes"`
}

// A Size is a number of ranks that was run.
type Size struct {
	Ranks   int     `json:"ranks"`
	Runs    int     `json:"runs"`
	Seconds float64 `json:"seconds"`        // a rank between MPI_Init and MPI_Finalize, but for what was not traced
	Spread  float64 `json:"spread_percent"` // from the shortest to the longest of the runs, of the median
	// StartAndEnd is the time inside MPI_Init and MPI_Finalize, which no share counts.
	StartAndEnd float64 `json:"start_and_end_seconds"`
	// WaitedForCPU is for which part of its time a rank's first thread was ready to run and had no CPU.
	WaitedForCPU float64 `json:"waited_for_cpu_percent"`
}

// A Region is a call at a call site, or the computation between two calls.
type Region struct {
	Name     string `json:"name"` // in words
	What     string `json:"what"` // "mpi" or "computation"
	Function string `json:"function"`
	CallSite string `json:"call_site"`
	// AfterFunction and AfterCallSite are the call before a computation; "" of a call, and where the times of single calls
	// were not kept.
	AfterFunction string     `json:"after_function"`
	AfterCallSite string     `json:"after_call_site"`
	Measured      []Measured `json:"measured"` // by size; none for sizes without it
	Seconds       Series     `json:"seconds"`
	MaxSeconds    Series     `json:"max_seconds"` // of the rank that takes longest
	Waiting       Series     `json:"waiting_seconds"`
	Calls         Series     `json:"calls"` // of a computation there are none
	Bytes         Series     `json:"bytes"` // what callers pass in; of MPI_Alltoall for all processes together
	// Predicted is what it is at each target. Time without a model is as long as in the largest run.
	Predicted []Prediction `json:"predicted"`
}

// Measured is what a region was at a size.
type Measured struct {
	Ranks      int      `json:"ranks"`
	Seconds    float64  `json:"seconds"`
	Share      float64  `json:"share_percent"` // of the size's seconds
	MaxSeconds float64  `json:"max_seconds"`
	Waiting    *float64 `json:"waiting_seconds"` // null where the times of single calls were not kept
	Calls      float64  `json:"calls"`
	Bytes      *float64 `json:"bytes"` // null where the size of some calls' data is not known
}

// A Series is the model of one measure.
type Series struct {
	Model *Model `json:"model"` // null: there is none, for the reason that NoModel says
	// NoModel is "" where there is a model.
	NoModel string `json:"no_model"`
}

// A Model is c0 + Σ c · p^i · log2(p)^j.
type Model struct {
	Formula  string        `json:"formula"` // for people
	Constant float64       `json:"constant"`
	Terms    []Coefficient `json:"terms"`
	Exact    bool          `json:"exact"`                 // it meets all sizes to the last digit
	Error    float64       `json:"leave_one_out_percent"` // mean symmetric relative error of each size predicted from the others
	Sizes    int           `json:"sizes"`                 // that it is from
	// Shape: the model holds for this times a square only (1: for squares); 0: for all numbers of ranks.
	Shape int `json:"shape"`

	choice *choice
}

// A Coefficient is a term with what it is multiplied with.
type Coefficient struct {
	Value float64 `json:"coefficient"`
	Term
}

// A Prediction is what a region is at a number of ranks.
type Prediction struct {
	Ranks   int     `json:"ranks"`
	Seconds float64 `json:"seconds"`
	// Low and High are between which the data do not refute it (interval.go); null where there is no model.
	Low   *float64 `json:"low_seconds"`
	High  *float64 `json:"high_seconds"`
	Share float64  `json:"share_percent"` // of all regions' predictions
	Calls *float64 `json:"calls"`         // null where there is no model
	Bytes *float64 `json:"bytes"`
}
