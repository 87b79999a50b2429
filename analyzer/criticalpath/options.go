package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/phases"
)

// Options of the analysis; the zero value is what one wants.
type Options struct {
	// Segments is about how many segments of the path are listed: shorter ones are put together. 0: 1000.
	Segments int
	// Bins is how many parts of the run the strips of each rank show. 0: as many as a page can hold.
	Bins int
	// Clock is the run's clock map; nil: it is made.
	Clock *clock.Map
	// Share is given what other analyses of the same run would have to find again: the clock map, and the phases with how
	// each rank passed them. nil: nobody wants it.
	Share func(*clock.Map, *phases.Plan)
}

func (o Options) segments() int {
	if o.Segments > 0 {
		return o.Segments
	}
	return 1000
}

// bins keeps the strips of all locations together under some 100 kB each.
func (o Options) bins(locations int) int {
	if o.Bins > 0 {
		return o.Bins
	}
	return max(50, min(400, 100_000/max(1, locations)))
}
