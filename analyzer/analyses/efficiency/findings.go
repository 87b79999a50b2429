package efficiency

// Findings are the efficiencies of the run.
type Findings struct {
	Efficiency Efficiency `json:"efficiency"`
}

// Divide splits the communication efficiency into serialization and transfer, given the duration of
// the run on an ideal network and its actual duration.
func (e *Efficiency) Divide(ideal, run float64) {
	if ideal <= 0 || run <= 0 || e.MaxUseful == nil {
		return
	}
	e.IdealSeconds = &ideal
	e.Serialization, e.Transfer = Quotient(*e.MaxUseful, ideal), Quotient(ideal, run)
}

// Quotient returns part/whole, or nil if whole is 0.
func Quotient(part, whole float64) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(part / whole)
}

// Efficiency has POP's efficiencies, from 0 to 1: Parallel = LoadBalance × Communication, and
// Communication = Serialization × Transfer. Unknown values are null. If no rank was traced, all are
// unknown; if no rank computes, quotients by the computation time; if the times of single calls
// were not recorded, values that need a replay.
type Efficiency struct {
	Parallel      *float64 `json:"parallel"`      // mean(useful) / T
	LoadBalance   *float64 `json:"load_balance"`  // mean(useful) / max(useful)
	Communication *float64 `json:"communication"` // max(useful) / T
	// max(useful) / T_ideal: the loss is time in which ranks wait for each other in turn
	Serialization *float64 `json:"serialization"`
	Transfer      *float64 `json:"transfer"`      // T_ideal / T: the loss is time in the network and MPI itself
	IdealSeconds  *float64 `json:"ideal_seconds"` // T_ideal: duration on an ideal network, by replay
	MeanUseful    *float64 `json:"mean_useful_seconds"`
	MaxUseful     *float64 `json:"max_useful_seconds"`
	// Of ranks with several threads that compute: the fraction of the threads' time outside MPI in
	// which they have a CPU. Parallel is then the efficiency of the processes, by their first
	// threads, and Hybrid = Parallel × Thread (POP's multiplicative model). Null if no rank has
	// such threads, or if it is unknown.
	Thread  *float64 `json:"thread"`
	Hybrid  *float64 `json:"hybrid"`
	Threads *float64 `json:"threads"` // mean number of threads of a rank that compute; null if Thread is
	// MainLoop is the loop of the program in which ranks spend most time, without start and end;
	// null if there is none.
	MainLoop *MainLoop `json:"main_loop"`
}

// MainLoop has the efficiencies of the loop in which ranks spend most time.
type MainLoop struct {
	Phase         string  `json:"phase"`
	Seconds       float64 `json:"seconds"` // from its start on the first rank to its end on the last one
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
}
