package topology

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/communication"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// Findings are the topology in which ranks communicate.
type Findings struct {
	Topology *topology.Findings `json:"topology"`
}

// Analysis finds the topology in which ranks communicate.
var Analysis = analysis.New("topology", analysis.About{Title: "the topology of the communication", Version: 1, Sections: Sections}, find, communication.Topology)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	return Findings{Topology: new(communication.Topology.Result(r))}, nil
}
