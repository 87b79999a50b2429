package topology

import "github.com/cairn-mpi/cairn/analyzer/topology"

// Findings are the topology of the communication.
type Findings struct {
	Topology *topology.Findings `json:"topology"`
}
