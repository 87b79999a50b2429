package criticalpath

import (
	"context"
	"fmt"

	ofstop "github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
)

// stoppedAnalysis says how the run ended. Of a part of it nobody asks.
var stoppedAnalysis = analysis.New("stopped", analysis.About{Title: "how the run ended", Version: 1}, findStop, clockPass)

func findStop(ctx context.Context, r *pass.Run) (ofstop.Findings, error) {
	m, err := clockPass.Of(ctx, r)
	if err != nil || m.Clocks != nil && m.Clocks.Window != nil {
		return ofstop.Findings{}, err
	}
	found, err := stopped.Find(ctx, r.Trace(), m.Clocks)
	if err != nil {
		return ofstop.Findings{}, fmt.Errorf("how the run ended: %w", err)
	}
	return ofstop.Findings{Stopped: found}, nil
}
