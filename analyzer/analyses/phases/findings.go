package phases

import (
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Findings are the phases.
type Findings struct {
	Phases *phases.Findings `json:"phases"` // null if the times of single calls were not recorded
}
