package recorder

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// timingGrids say how the times of each function are rounded.
type timingGrids struct {
	settings   timing.Settings
	byFunction []*timing.Grid // nil elements, or no element: not at all
}

var finalizeID = mpi.ByName("MPI_Finalize").ID

// newTimingGrids reads the tracer's setting. With one that it cannot read, every time stamp is kept.
func newTimingGrids(text string) *timingGrids {
	settings, err := timing.ParseSettings(text)
	if err != nil {
		settings = timing.Settings{Mode: timing.Lossless}
	}
	g := &timingGrids{settings: settings}
	if settings.Mode != timing.Lossy {
		return g
	}
	for i := range mpi.Functions {
		grid, err := timing.GridOf(settings.ErrorOf(mpi.Functions[i].Name))
		if err != nil {
			return &timingGrids{settings: timing.Settings{Mode: timing.Lossless}}
		}
		g.byFunction = append(g.byFunction, grid)
	}
	return g
}

func (g *timingGrids) of(function uint16) *timing.Grid {
	if int(function) < len(g.byFunction) {
		return g.byFunction[function]
	}
	return nil
}
