package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// blamePass is the verdict by the causes alone: without what they cost all ranks, and what stands above them.
var blamePass = pass.New("blame", func(ctx context.Context, r *pass.Run) (verdict.Verdict, error) {
	found, err := replayPass.Of(ctx, r)
	if err != nil {
		return verdict.Verdict{}, err
	}
	e, err := efficiencyAnalysis.Of(ctx, r)
	if err != nil {
		return verdict.Verdict{}, err
	}
	inPhases, err := phasesAnalysis.Of(ctx, r)
	if err != nil {
		return verdict.Verdict{}, err
	}
	return found.verdict(e.Efficiency.Parallel, e.Efficiency.Communication, inPhases.Phases), nil
}, replayPass, efficiencyAnalysis, phasesAnalysis)
