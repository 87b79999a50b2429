package criticalpath

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// input is what causes are looked for in.
type input struct {
	*allAccounts
	forward *forward          // nil where only sums are known, as all that follows
	profile *profile.Findings // how large messages are
	cpus    *cpus.CPUs        // nil: not known
}

// A search is one for causes, with what it has found on the way.
type search struct {
	input
	shared      bool       // ranks had to wait for a CPU so often that how long a computation took says little of it
	scatterGain float64    // of the run, that equal work each time saves
	solo        *aloneness // what ranks compute alone; nil: nobody has asked yet
	roleKeys    []string   // of the ranks, by row; nil: nobody has asked yet
}

// found are hypotheses and how long the run would take by the replay, with the causes among them.
type found struct {
	played
	causes []hypothesis // in order, at most three
	all    []hypothesis
	search *search
}

// alone is what ranks compute alone.
func (f *found) alone() *aloneness { return f.search.aloneness() }

// replayPass looks for causes and replays the run without each. Of sums nothing can be replayed.
var replayPass = pass.New("causes", searchCauses, accountsPass, matchingPass, planPass, profileAnalysis, cpusAnalysis)

func searchCauses(ctx context.Context, r *pass.Run) (*found, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	had, err := cpusAnalysis.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	s := &search{input: input{allAccounts: a, cpus: had.CPUs}}
	if a.sums {
		return &found{search: s}, nil
	}
	if s.forward, err = matchingPass.Of(ctx, r); err != nil {
		return nil, err
	}
	counted, err := profileAnalysis.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	plan, err := planPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	s.profile, s.shared = counted.Profile, s.cpus.AreShared()
	marks := make(predict.Marks, len(a.locations))
	for i := range marks {
		marks[i] = plan.Marks(i)
	}
	f := &found{search: s}
	if f.played, f.causes, f.all, err = s.judge(ctx, marks, nil); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return f, nil
}

// verdict is the verdict by the causes, of a run of that efficiency in those phases.
func (f *found) verdict(parallel, communication *float64, in *phases.Findings) verdict.Verdict {
	if f.search.sums {
		return f.search.decideBySums(parallel, communication)
	}
	return f.search.decide(parallel, inPhases(f.causes, in), f.all)
}
