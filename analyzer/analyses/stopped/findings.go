package stopped

// Findings describe how the run ended.
type Findings struct {
	Stopped *Ending `json:"stopped"` // null if all ranks completed MPI_Finalize
}
