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
var analyses = []pass.Step{
	run.Analysis, verdict.Analysis, stopped.Analysis, path.Analysis, efficiency.Analysis, cpus.Analysis, ranks.Analysis, waits.Analysis,
	rootcauses.Analysis, whatif.Analysis, strips.Analysis, phases.Analysis, profile.Analysis, ledger.Analysis, detail.Analysis,
}

// Analyze finds what all of them do of a trace.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	r := pass.Begin(ctx, t, analyses...)
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
func collect(ctx context.Context, r *pass.Run) (f Findings, err error) {
	f.SchemaVersion = SchemaVersion
	var causes rootcauses.Findings
	for _, find := range []func() error{
		func() (err error) { f.runFindings, err = run.Analysis.Of(ctx, r); return err },
		func() (err error) { f.verdictFindings, err = verdict.Analysis.Of(ctx, r); return err },
		func() (err error) { f.stoppedFindings, err = stopped.Analysis.Of(ctx, r); return err },
		func() (err error) { f.pathFindings, err = path.Analysis.Of(ctx, r); return err },
		func() (err error) { f.efficiencyFindings, err = efficiency.Analysis.Of(ctx, r); return err },
		func() (err error) { f.cpuFindings, err = cpus.Analysis.Of(ctx, r); return err },
		func() (err error) { f.rankFindings, err = ranks.Analysis.Of(ctx, r); return err },
		func() (err error) { f.waitFindings, err = waits.Analysis.Of(ctx, r); return err },
		func() (err error) { causes, err = rootcauses.Analysis.Of(ctx, r); return err },
		func() (err error) { f.whatIfFindings, err = whatif.Analysis.Of(ctx, r); return err },
		func() (err error) { f.stripFindings, err = strips.Analysis.Of(ctx, r); return err },
		func() (err error) { f.phaseFindings, err = phases.Analysis.Of(ctx, r); return err },
		func() (err error) { f.profileFindings, err = profile.Analysis.Of(ctx, r); return err },
		func() (err error) { f.ledgerFindings, err = ledger.Analysis.Of(ctx, r); return err },
		func() (err error) { f.detailFindings, err = detail.Analysis.Of(ctx, r); return err },
	} {
		if err := find(); err != nil {
			return f, err
		}
	}
	f.RootCauses, f.Notes = causes.RootCauses, slices.Concat(f.runFindings.Notes, causes.Notes)
	return f, nil
}
