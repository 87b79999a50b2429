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
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// input is what causes are looked for in.
type input struct {
	*accounts.Accounts
	matched *matching.Result  // nil where only sums are known, as all that follows
	profile *profile.Findings // how large messages are
	cpus    *cpus.CPUs        // nil: not known
}

// A search is one for causes, with what it has found on the way.
type search struct {
	input
	shared      bool       // ranks had to wait for a CPU so often that how long a computation took says little of it
	scatterGain float64    // of the run, that equal work each time saves
	solo        *Aloneness // what ranks compute alone; nil: nobody has asked yet
	roleKeys    []string   // of the ranks, by row; nil: nobody has asked yet
}

// Found are hypotheses and how long the run would take by the replay, with the causes among them.
type Found struct {
	played
	causes []Hypothesis // in order, at most three
	All    []Hypothesis
	search *search
}

// Alone is what ranks compute alone.
func (f *Found) Alone() *Aloneness { return f.search.aloneness() }

// Pass looks for causes and replays the run without each. Of sums nothing can be replayed.
var Pass = pass.New("causes", searchCauses, accounts.Pass, matching.Pass, accounts.Plan, ofprofile.Analysis, cpus.Analysis).
	Uses(communication.Order)

func searchCauses(ctx context.Context, r *pass.Run) (*Found, error) {
	a := accounts.Pass.Result(r)
	s := &search{input: input{Accounts: a, cpus: cpus.Analysis.Result(r).CPUs}}
	if a.Sums {
		return &Found{search: s}, nil
	}
	s.matched, s.profile, s.shared = matching.Pass.Result(r), ofprofile.Analysis.Result(r).Profile, s.cpus.AreShared()
	plan := accounts.Plan.Result(r)
	marks := make(predict.Marks, len(a.Locations))
	for i := range marks {
		marks[i] = plan.Marks(i)
	}
	f := &Found{search: s}
	var err error
	if f.played, f.causes, f.All, err = s.judge(ctx, marks, also(ctx, r, a)); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return f, nil
}

// also are the scenarios of a better placement, which are played along where one is looked for; of a part of the run they have
// other messages.
func also(ctx context.Context, r *pass.Run, a *accounts.Accounts) []predict.Scenario {
	if a.Window == nil && r.Wants(communication.Order) {
		if found, err := communication.Order.Of(ctx, r); err == nil {
			return found.Scenarios
		}
	}
	return nil // an error is that of the placement
}

// Verdict is the verdict by the causes, of a run of that efficiency in those phases.
func (f *Found) Verdict(parallel, communication *float64, in *phases.Findings) verdict.Verdict {
	if f.search.Sums {
		return f.search.decideBySums(parallel, communication)
	}
	return f.search.decide(parallel, inPhases(f.causes, in), f.All)
}
