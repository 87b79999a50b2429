package phases

import (
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Findings are the phases.
type Findings struct {
	Phases *phases.Findings `json:"phases"` // null where times of single calls were not kept
}
