package recorder

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// timingGrids say how the times of each function are rounded.
type timingGrids struct {
	settings   trace.TimingSettings
	byFunction []*trace.TimingGrid // nil elements, or no element: not at all
}

var finalizeID = mpi.ByName("MPI_Finalize").ID

// newTimingGrids reads the tracer's setting. With one that it cannot read, every time stamp is kept.
func newTimingGrids(text string) *timingGrids {
	settings, err := trace.ParseTimingSettings(text)
	if err != nil {
		settings = trace.TimingSettings{Mode: trace.TimingLossless}
	}
	g := &timingGrids{settings: settings}
	if settings.Mode != trace.TimingLossy {
		return g
	}
	for i := range mpi.Functions {
		grid, err := trace.GridOf(settings.ErrorOf(mpi.Functions[i].Name))
		if err != nil {
			return &timingGrids{settings: trace.TimingSettings{Mode: trace.TimingLossless}}
		}
		g.byFunction = append(g.byFunction, grid)
	}
	return g
}

func (g *timingGrids) of(function uint16) *trace.TimingGrid {
	if int(function) < len(g.byFunction) {
		return g.byFunction[function]
	}
	return nil
}
