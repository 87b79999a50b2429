package criticalpath

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
)

// Options of the analysis; the zero value is what one wants.
type Options struct {
	// Segments is about how many segments of the path are listed: shorter ones are put together. 0: 1000.
	Segments int
	// Bins is how many parts of the run the strips of each rank show. 0: as many as a page can hold.
	Bins int
	// Clock is the run's clock map; nil: it is made.
	Clock *clock.Map
	// Also are what other analyses of the same run want to have replayed. They are played with what this one replays: the
	// calls are read only once.
	Also []predict.Scenario
	// Share is given what other analyses of the same run would have to find again. nil: nobody wants it.
	Share func(Shared)
}

// A Shared is what an analysis has found that others need.
type Shared struct {
	Clock  *clock.Map
	Phases *phases.Plan // with how each rank passed them
	Also   []int64      // lengths of Options.Also, as of predict.Play; nil: the run takes no time
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
