package criticalpath

import (
	"context"
	"errors"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ledger"
	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/strips"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Options of the analyses. The zero value has the usual settings.
type Options struct {
	// Segments is the approximate maximum number of path segments that are listed; shorter ones are
	// merged. 0: 1000.
	Segments int
	// Clock is the run's clock map; nil: it is computed.
	Clock *clock.Map
}

// analyses are those around the critical path, in the order in which their findings are collected.
var analyses = []member{
	into(run.Analysis, func(f *Findings) *run.Findings { return &f.runFindings }),
	into(verdict.Analysis, func(f *Findings) *verdict.Findings { return &f.verdictFindings }),
	into(stopped.Analysis, func(f *Findings) *stopped.Findings { return &f.stoppedFindings }),
	into(path.Analysis, func(f *Findings) *path.Findings { return &f.pathFindings }),
	into(efficiency.Analysis, func(f *Findings) *efficiency.Findings { return &f.efficiencyFindings }),
	into(cpus.Analysis, func(f *Findings) *cpus.Findings { return &f.cpuFindings }),
	into(ranks.Analysis, func(f *Findings) *ranks.Findings { return &f.rankFindings }),
	into(waits.Analysis, func(f *Findings) *waits.Findings { return &f.waitFindings }),
	{rootcauses.Analysis, rootCauses},
	into(whatif.Analysis, func(f *Findings) *whatif.Findings { return &f.whatIfFindings }),
	into(strips.Analysis, func(f *Findings) *strips.Findings { return &f.stripFindings }),
	into(phases.Analysis, func(f *Findings) *phases.Findings { return &f.phaseFindings }),
	into(profile.Analysis, func(f *Findings) *profile.Findings { return &f.profileFindings }),
	into(ledger.Analysis, func(f *Findings) *ledger.Findings { return &f.ledgerFindings }),
	into(detail.Analysis, func(f *Findings) *detail.Findings { return &f.detailFindings }),
}

// A member is an analysis with its part of Findings.
type member struct {
	step pass.Step
	find func(ctx context.Context, r *pass.Run, f *Findings) error
}

// into makes a member of an analysis whose findings go to the part of Findings that part returns.
func into[T any](a *analysis.Analysis[T], part func(*Findings) *T) member {
	return member{a, func(ctx context.Context, r *pass.Run, f *Findings) (err error) {
		*part(f), err = a.Of(ctx, r)
		return err
	}}
}

// Analyze finds what all of them do of a trace.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	steps := make([]pass.Step, len(analyses))
	for i := range analyses {
		steps[i] = analyses[i].step
	}
	r := pass.Begin(ctx, t, steps...)
	if o.Clock != nil {
		pass.Give(r, matching.Given, o.Clock)
	}
	if o.Segments > 0 {
		pass.Give(r, accounts.Segments, o.Segments)
	}
	f, err := collect(ctx, r)
	return f, errors.Join(err, r.Close())
}

// collect finds what all of them do in a run that wants them.
func collect(ctx context.Context, r *pass.Run) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion}
	for _, a := range analyses {
		if err := a.find(ctx, r, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// rootCauses also collects the notes: the analysis of the run, which was before, has some, too.
func rootCauses(ctx context.Context, r *pass.Run, f *Findings) error {
	found, err := rootcauses.Analysis.Of(ctx, r)
	f.RootCauses, f.Notes = found.RootCauses, slices.Concat(f.runFindings.Notes, found.Notes)
	return err
}
