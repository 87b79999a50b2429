package efficiency

// Findings are the efficiencies of the run.
type Findings struct {
	Efficiency Efficiency `json:"efficiency"`
}

// Divide splits the communication efficiency by the run's length on an ideal network.
func (e *Efficiency) Divide(ideal, run float64) {
	if ideal <= 0 || run <= 0 || e.MaxUseful == nil {
		return
	}
	e.IdealSeconds = &ideal
	e.Serialization, e.Transfer = Quotient(*e.MaxUseful, ideal), Quotient(ideal, run)
}

// Quotient is nil where there is nothing to divide by.
func Quotient(part, whole float64) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(part / whole)
}

// Efficiency holds POP's efficiencies, from 0 to 1: Parallel = LoadBalance × Communication, and Communication =
// Serialization × Transfer. What is not known is null: all of it where no rank was traced, what divides by the computation
// where no rank computes, what takes a replay where times of single calls were not kept.
type Efficiency struct {
	Parallel      *float64 `json:"parallel"`      // mean(useful) / T
	LoadBalance   *float64 `json:"load_balance"`  // mean(useful) / max(useful)
	Communication *float64 `json:"communication"` // max(useful) / T
	Serialization *float64 `json:"serialization"` // max(useful) / T_ideal: what ranks lose waiting for each other in turn
	Transfer      *float64 `json:"transfer"`      // T_ideal / T: what is lost to the network and MPI itself
	IdealSeconds  *float64 `json:"ideal_seconds"` // T_ideal: the run on an ideal network, by replay
	MeanUseful    *float64 `json:"mean_useful_seconds"`
	MaxUseful     *float64 `json:"max_useful_seconds"`
}
