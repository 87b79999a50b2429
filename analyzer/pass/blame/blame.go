package blame

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Pass is the verdict from the causes alone, without their cost for all ranks and without the
// summary above them.
var Pass = pass.New("blame", func(_ context.Context, r *pass.Run) (verdict.Verdict, error) {
	e := efficiency.Analysis.Result(r).Efficiency
	return causes.Pass.Result(r).Verdict(e.Parallel, e.Communication, phases.Analysis.Result(r).Phases), nil
}, causes.Pass, efficiency.Analysis, phases.Analysis)
