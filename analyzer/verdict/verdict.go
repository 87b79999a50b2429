package verdict

// A Verdict says why a run takes as long as it does.
type Verdict struct {
	Text string `json:"text"` // the first sentence of a report, and what belongs to it
	// Blames is the kind of the first cause: "nobody" if there is none, "unknown" if none was
	// looked for.
	Blames Kind `json:"blames"`
	// Rank is the one to look at, null when none stands out; Ranks are all that the first cause is about.
	Rank  *int   `json:"rank"`
	Ranks string `json:"ranks"`
	// Causes are in order: each one's gain is given that those before are gone. At most three.
	Causes []Cause `json:"causes"`
	// GainSeconds is that of the first cause: by how much the run would be shorter without it; 0 if there is none, null where
	// the times of single calls were not kept.
	GainSeconds *float64 `json:"gain_seconds"`
}

// Facts are what the sentence says of the run itself.
type Facts struct {
	RunSeconds  float64
	Ranks       int // of the trace
	Ended       int // how many of them ran to their end
	Least, Most float64
	Parallel    *float64 // parallel efficiency, null where it is not known
	StartEnd    float64  // seconds of the run in MPI_Init and MPI_Finalize
	SumsOnly    bool     // the times of single calls were not kept
	// Costliest is the call that costs all ranks together most, CostliestShare its part of their time, CostliestWaits the part
	// of that in which it waits for other ranks.
	Costliest       *Place
	CostliestShare  float64
	CostliestWaits  *float64
	Harmless        *Cause  // ranks that compute longer than the others, which costs the run next to nothing
	UntracedSeconds float64 // of all ranks
}

// Of is the verdict on a run.
func Of(causes []Cause, f Facts) Verdict {
	v := Verdict{Blames: Nobody, Causes: causes, GainSeconds: new(0.0)}
	if v.Causes == nil {
		v.Causes = []Cause{}
	}
	if len(causes) > 0 {
		first := &causes[0]
		v.Blames, v.Rank, v.Ranks, v.GainSeconds = first.Kind, first.Rank, first.Ranks, first.GainSeconds
	}
	v.Text = text(causes, f)
	return v
}

// Good is the parallel efficiency from which on a run needs no explanation: POP calls 80 % acceptable.
const Good = 0.8
