package merger

import (
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// processes are ranks with their threads, in order of arrival.
type processes struct {
	ranks trace.RankTable // CommunicatorsOwn and the call sites of Evidence are interned
	// threads, rank by rank: Shape is interned, InShape is the row in its columns, and aggregates
	// have its terminals
	threads trace.ThreadTable
	first   codec.Numbers // row of the first thread of each rank
}

// threadsOf returns the range [from, to) of the rows of a process's threads.
func (p *processes) threadsOf(i int) (from, to int) {
	from, to = int(p.first.At(i)), p.threads.Len()
	if i+1 < p.first.Len() {
		to = int(p.first.At(i + 1))
	}
	return from, to
}

// calls is the number of calls on all threads.
func (p *processes) calls(i int) uint64 {
	var n uint64
	from, to := p.threadsOf(i)
	for row := from; row < to; row++ {
		n += p.threads.At(row).Calls
	}
	return n
}

// allThreads visits the threads of processes in an order; alone reports that the process has no
// other thread.
func (p *processes) allThreads(order []int32, do func(t trace.Thread, alone bool)) {
	at, first := p.threads.Lookup(), p.first.Lookup()
	for _, i := range order {
		from, to := int(first(int(i))), p.threads.Len()
		if int(i)+1 < p.first.Len() {
			to = int(first(int(i) + 1))
		}
		for row := from; row < to; row++ {
			do(at(row), to == from+1)
		}
	}
}
