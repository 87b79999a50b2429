package stopped

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
)

// Analysis determines how the run ended. It is skipped if only a part of the run is analyzed.
var Analysis = analysis.New("stopped", analysis.About{Title: "how the run ended", Version: 1, Sections: Sections}, find, matching.Clock)

func find(ctx context.Context, r *pass.Run) (Findings, error) {
	m := matching.Clock.Result(r)
	if m.Clocks != nil && m.Clocks.Window != nil {
		return Findings{}, nil
	}
	found, err := findEnding(ctx, r.Trace(), m.Clocks)
	if err != nil {
		return Findings{}, fmt.Errorf("how the run ended: %w", err)
	}
	return Findings{Stopped: found}, nil
}
