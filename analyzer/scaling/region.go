package scaling

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// A place is a call, or the computation before a call and after another one.
type place struct {
	call        verdict.Call
	computation bool
	after       verdict.Call // for computation; empty if unknown
}

// words describes the place.
func (p place) words() string {
	if p.computation {
		return "computation " + verdict.Between(p.after, p.call)
	}
	return p.call.At()
}

// sums are the totals at a place.
type sums struct {
	seconds []float64 // by rank; of main threads
	waiting float64   // of all ranks; within seconds
	calls   uint64    // of all ranks and threads
	bytes   uint64
	unsized bool // some calls move data of unknown size
}

// A run is what is known of a run.
type run struct {
	name    string
	ranks   int // that were traced
	size    int // of MPI_COMM_WORLD
	seconds float64
	waits   bool // waiting is known
	places  map[place]*sums
	early   trace.RankList // ranks that did not reach MPI_Finalize, or were not traced until then
	outside float64        // in MPI_Init and MPI_Finalize: mean over ranks, in seconds
	// waitedForCPU is the share of its time that a rank's first thread was ready to run and had no
	// CPU, as a mean over ranks.
	waitedForCPU float64
}

func (r *run) at(p place) *sums {
	if r.places[p] == nil {
		r.places[p] = &sums{seconds: make([]float64, r.ranks)}
	}
	return r.places[p]
}
