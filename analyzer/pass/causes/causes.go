package causes

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	ofprofile "github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/communication"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/owntime"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Found is the hypotheses with the predicted durations of the run, and the causes among them.
type Found struct {
	played
	causes   []Hypothesis // in order, at most three
	All      []Hypothesis
	evidence *evidence
}

// Alone returns the computation that ranks do alone.
func (f *Found) Alone() *Aloneness { return f.evidence.alone() }

// Pass searches causes and replays the run without each of them. If only sums are known there is no
// replay.
var Pass = pass.New("causes", searchCauses, accounts.Pass, matching.Pass, accounts.Plan, ofprofile.Analysis, owntime.Pass, cpus.Analysis).
	Uses(communication.Order)

func searchCauses(ctx context.Context, r *pass.Run) (*Found, error) {
	a := accounts.Pass.Result(r)
	e := newEvidence(a, cpus.Analysis.Result(r).CPUs)
	if a.Sums {
		return &Found{evidence: e}, nil
	}
	e.matched, e.profile, e.shared = matching.Pass.Result(r), ofprofile.Analysis.Result(r).Profile, e.cpus.AreShared()
	e.lacks = owntime.Pass.Result(r)
	plan := accounts.Plan.Result(r)
	marks := make(predict.Marks, len(a.Locations))
	for i := range marks {
		marks[i] = plan.Marks(i)
	}
	f := &Found{evidence: e}
	var err error
	if f.played, f.causes, f.All, err = judge(ctx, e, marks, also(ctx, r, a)); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return f, nil
}

// also returns the scenarios of a better placement, which are replayed together with the hypotheses
// if the run wants them. A window has other messages, so it has none.
func also(ctx context.Context, r *pass.Run, a *accounts.Accounts) []predict.Scenario {
	if a.Window == nil && r.Wants(communication.Order) {
		if found, err := communication.Order.Of(ctx, r); err == nil {
			return found.Scenarios
		}
	}
	return nil // the placement analysis reports the error
}

// Verdict returns the verdict from the causes, for a run with these efficiencies and phases.
func (f *Found) Verdict(parallel, communication *float64, in *phases.Findings) verdict.Verdict {
	if f.evidence.Sums {
		return decideBySums(f.evidence, parallel, communication)
	}
	return decide(f.evidence, parallel, inPhases(f.causes, in), f.All)
}
