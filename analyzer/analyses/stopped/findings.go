package stopped

// Findings are how the run ended.
type Findings struct {
	Stopped *Ending `json:"stopped"` // how the run ended if not all ranks came to MPI_Finalize; null if they did
}
