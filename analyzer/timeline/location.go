package timeline

import (
	"sort"

	"github.com/cairn-mpi/cairn/trace"
)

// A Location is one thread of one rank: the place where calls follow each other. Locations are numbered as
// Trace.Threads.
type Location struct {
	Rank   int // in MPI_COMM_WORLD
	Thread int
	Row    int // index into Trace.Ranks
	Main   int // the location of the rank's first thread
}

// Locations lists the threads of a trace.
func Locations(t Trace) []Location {
	threads, ranks := t.Threads(), t.Ranks()
	locations := make([]Location, len(threads))
	for i, thread := range threads {
		row := sort.Search(len(ranks), func(k int) bool { return ranks[k].Rank >= thread.Rank })
		locations[i] = Location{Rank: thread.Rank, Thread: thread.Thread, Row: row, Main: i}
		if i > 0 && locations[i-1].Rank == thread.Rank {
			locations[i].Main = locations[i-1].Main
		}
	}
	return locations
}

// Row gives the index into ranks of a world rank, −1 if the trace lacks it.
func Row(ranks []trace.Rank, rank int) int32 {
	i := sort.Search(len(ranks), func(k int) bool { return ranks[k].Rank >= rank })
	if i == len(ranks) || ranks[i].Rank != rank {
		return -1
	}
	return int32(i)
}
