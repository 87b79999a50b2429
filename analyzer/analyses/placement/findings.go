package placement

import "github.com/cairn-mpi/cairn/analyzer/placement"

// Findings are the placement of ranks.
type Findings struct {
	Placement *placement.Findings `json:"placement"`
}
