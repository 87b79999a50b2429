package topology

import "github.com/cairn-mpi/cairn/analyzer/topology"

// Findings are the topology in which ranks communicate.
type Findings struct {
	Topology *topology.Findings `json:"topology"`
}
