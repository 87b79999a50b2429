package topology

import "github.com/cairn-mpi/cairn/analyzer/topology"

// Findings are the shape in which ranks talk.
type Findings struct {
	Topology *topology.Findings `json:"topology"`
}
