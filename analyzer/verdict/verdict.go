package verdict

// A Verdict is the explanation of why a run takes as long as it does.
type Verdict struct {
	Text string `json:"text"` // first sentence of a report, with its additions
	// Blames is the kind of the first cause: "nobody" if there is none, "unknown" if no causes were
	// searched.
	Blames Kind `json:"blames"`
	// Rank is the rank to look at, null if none stands out. Ranks are all ranks that the first
	// cause is about.
	Rank  *int   `json:"rank"`
	Ranks string `json:"ranks"`
	// Causes are in order: the gain of each is given that those before are removed. At most three.
	Causes []Cause `json:"causes"`
	// GainSeconds is the gain of the first cause: how much shorter the run would be without it; 0
	// if there is none, null if the times of single calls were not recorded.
	GainSeconds *float64 `json:"gain_seconds"`
}

// Facts are data of the run for the sentence.
type Facts struct {
	RunSeconds  float64
	Ranks       int  // number of ranks in the trace
	Ended       int  // number of ranks that ran to their end
	OneHost     bool // all ranks are on one host
	Least, Most float64
	Parallel    *float64 // parallel efficiency, null if it is not known
	StartEnd    float64  // seconds of the run in MPI_Init and MPI_Finalize
	SumsOnly    bool     // the times of single calls were not recorded
	// Costliest is the call with the largest total over all ranks, CostliestShare its fraction of
	// their time, CostliestWaits the fraction of the call's time in which it waits for other ranks.
	Costliest       *Call
	CostliestShare  float64
	CostliestWaits  *float64
	Harmless        *Cause  // ranks that compute longer than the others, at hardly any cost for the run
	Yielding        *Cause  // ranks that may wait for something outside MPI and yield the CPU meanwhile
	UntracedSeconds float64 // sum over all ranks
	// Delayed and Blocked are the fractions of all ranks' time for which they wait for a CPU, and
	// are blocked in the kernel, between calls.
	Delayed, Blocked float64
	// OwnThreads is the fraction of all ranks' time for which their first threads wait while
	// other threads of their process run, InCalls that for which these make MPI calls meanwhile.
	OwnThreads, InCalls float64
}

// Of returns the verdict on a run.
func Of(causes []Cause, f Facts) Verdict {
	v := Verdict{Blames: Nobody, Causes: causes, GainSeconds: new(0.0)}
	if v.Causes == nil {
		v.Causes = []Cause{}
	}
	if len(causes) > 0 {
		first := &causes[0]
		first.oneHost = f.OneHost
		v.Blames, v.Rank, v.Ranks, v.GainSeconds = first.Kind, first.Rank, first.Ranks, first.GainSeconds
	}
	v.Text = text(causes, f)
	return v
}

// Good is the parallel efficiency from which on a run needs no explanation: POP calls 80 %
// acceptable.
const Good = 0.8
