// Package communication says what the messages of a run say, whatever their times: its topology, and where its ranks had
// better be.
//
// In goes the communication matrix of the part of the run that is looked at. The scenarios that tell what a better order is worth
// are played by the replay of package causes with its own, so that the calls are read only once.
package communication

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/topology"
)

// Topology is the shape in which ranks talk.
var Topology = pass.New("topology", func(ctx context.Context, r *pass.Run) (topology.Findings, error) {
	return topology.Analyze(ctx, matching.Part.Result(r), topology.Options{})
}, matching.Part)

// Order is a better order of the ranks on their nodes. A run that is too long to be played, or without the times of single
// calls, has no scenarios.
var Order = pass.New("better order", func(_ context.Context, r *pass.Run) (*placement.Advice, error) {
	t := matching.Part.Result(r)
	a, err := placement.Advise(t, placement.Options{Shape: Topology.Result(r).Shape})
	if err == nil && !clusters.CanBeTimed(t) {
		a.Scenarios = nil
	}
	return a, err
}, matching.Part, Topology)
