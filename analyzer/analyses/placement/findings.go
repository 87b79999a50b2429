package placement

import "github.com/cairn-mpi/cairn/analyzer/placement"

// Findings are where ranks run.
type Findings struct {
	Placement *placement.Findings `json:"placement"`
}
