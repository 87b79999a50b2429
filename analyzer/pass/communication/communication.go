// Package communication evaluates the messages of a run without their times: the topology, and a
// better placement of the ranks.
//
// Its input is the communication matrix of the analyzed part of the run. The scenarios that
// evaluate a better placement are replayed by package causes together with its own, so that the
// calls are read only once.
package communication

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// Topology is the communication topology of the ranks.
var Topology = pass.New("topology", func(ctx context.Context, r *pass.Run) (topology.Findings, error) {
	return topology.Analyze(ctx, matching.Part.Result(r), topology.Options{})
}, matching.Part)

// Order is a better assignment of the ranks to their nodes. A run that is too long for a replay, or
// without the times of single calls, has no scenarios.
var Order = pass.New("better order", func(_ context.Context, r *pass.Run) (*placement.Advice, error) {
	t := matching.Part.Result(r)
	a, err := placement.Advise(t, placement.Options{Shape: Topology.Result(r).Shape})
	if err == nil && !clusters.CanBeTimed(t) {
		a.Scenarios = nil
	}
	return a, err
}, matching.Part, Topology)
