package timeline

// A Location is one thread of one rank. Locations are numbered like Trace.Threads.
type Location struct {
	Rank   int // in MPI_COMM_WORLD
	Thread int
	Row    int // index into Trace.Ranks
	Main   int // location of the rank's main thread
}

// Locations lists the threads of a trace.
func Locations(t Trace) []Location {
	threads, row := t.Threads(), 0
	locations := make([]Location, threads.Len())
	ranks := t.Ranks().Numbers().Lookup()
	for i, thread := range threads.All() {
		for ranks(row) < int64(thread.Rank) { // both are sorted
			row++
		}
		locations[i] = Location{Rank: thread.Rank, Thread: thread.Thread, Row: row, Main: i}
		if i > 0 && locations[i-1].Rank == thread.Rank {
			locations[i].Main = locations[i-1].Main
		}
	}
	return locations
}
