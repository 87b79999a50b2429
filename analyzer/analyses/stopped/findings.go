package stopped

import (
	"github.com/cairn-mpi/cairn/analyzer/stopped"
)

// Findings are how the run ended.
type Findings struct {
	Stopped *stopped.Findings `json:"stopped"` // how the run ended if not all ranks came to MPI_Finalize; null if they did
}
