package criticalpath

import (
	"context"
	"errors"

	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Options of the analyses; the zero value is what one wants.
type Options struct {
	// Segments is about how many segments of the path are listed: shorter ones are put together. 0: 1000.
	Segments int
	// Clock is the run's clock map; nil: it is made.
	Clock *clock.Map
}

// Analyses are those around the critical path, in the order in which their findings are collected.
var Analyses = []pass.Step{
	runAnalysis, verdictAnalysis, stoppedAnalysis, pathAnalysis, efficiencyAnalysis, cpusAnalysis, ranksAnalysis, waitsAnalysis,
	rootCausesAnalysis, whatIfAnalysis, stripsAnalysis, phasesAnalysis, profileAnalysis, ledgerAnalysis, detailAnalysis,
}

// Analyze finds what all of them do of a trace.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	r := pass.Begin(ctx, t, Analyses...)
	if o.Clock != nil {
		pass.Give(r, givenClock, o.Clock)
	}
	if o.Segments > 0 {
		pass.Give(r, segmentsPass, o.Segments)
	}
	f, err := Collect(ctx, r)
	return f, errors.Join(err, r.Close())
}

// Collect finds what all of them do in a run that wants them.
func Collect(ctx context.Context, r *pass.Run) (f Findings, err error) {
	f.SchemaVersion = SchemaVersion
	var causes rootcauses.Findings
	for _, find := range []func() error{
		func() (err error) { f.runFindings, err = runAnalysis.Of(ctx, r); return err },
		func() (err error) { f.verdictFindings, err = verdictAnalysis.Of(ctx, r); return err },
		func() (err error) { f.stoppedFindings, err = stoppedAnalysis.Of(ctx, r); return err },
		func() (err error) { f.pathFindings, err = pathAnalysis.Of(ctx, r); return err },
		func() (err error) { f.efficiencyFindings, err = efficiencyAnalysis.Of(ctx, r); return err },
		func() (err error) { f.cpuFindings, err = cpusAnalysis.Of(ctx, r); return err },
		func() (err error) { f.rankFindings, err = ranksAnalysis.Of(ctx, r); return err },
		func() (err error) { f.waitFindings, err = waitsAnalysis.Of(ctx, r); return err },
		func() (err error) { causes, err = rootCausesAnalysis.Of(ctx, r); return err },
		func() (err error) { f.whatIfFindings, err = whatIfAnalysis.Of(ctx, r); return err },
		func() (err error) { f.stripFindings, err = stripsAnalysis.Of(ctx, r); return err },
		func() (err error) { f.phaseFindings, err = phasesAnalysis.Of(ctx, r); return err },
		func() (err error) { f.profileFindings, err = profileAnalysis.Of(ctx, r); return err },
		func() (err error) { f.ledgerFindings, err = ledgerAnalysis.Of(ctx, r); return err },
		func() (err error) { f.detailFindings, err = detailAnalysis.Of(ctx, r); return err },
	} {
		if err := find(); err != nil {
			return f, err
		}
	}
	f.RootCauses, f.Notes = causes.RootCauses, append(f.runFindings.Notes, causes.Notes...)
	return f, nil
}
