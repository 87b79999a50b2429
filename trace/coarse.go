package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// sumsOf is over how many calls the sums in a block of this kind go; 0: it has none.
func sumsOf(kind codec.Kind) uint64 {
	switch kind {
	case blockShortSums:
		return timing.ShortSums
	case blockLongSums:
		return timing.LongSums
	}
	return 0
}

func sumsKind(per uint64) codec.Kind {
	if per == timing.ShortSums {
		return blockShortSums
	}
	return blockLongSums
}

// A SummedSource is a TimingSource that may have sums in place of the times of some calls. What it reads are the sums
// spread evenly over the calls of each signature.
type SummedSource interface {
	TimingSource
	// SumsOf is over how many calls the sums of a block go, ShortSums or LongSums; 0: it has times.
	SumsOf(block uint64) uint64
}

// sumsIn is SumsOf for any source.
func sumsIn(s TimingSource, block uint64) uint64 {
	if summed, is := s.(SummedSource); is {
		return summed.SumsOf(block)
	}
	return 0
}

// Coarse says that of some calls of a thread only sums of times are there.
type Coarse struct {
	Rank, Thread int
	From, To     uint64 // the first call, and the one after the last
	Per          uint64 // calls that a sum goes over
}

// coarseOf lists the calls of a thread of which there are sums.
func coarseOf(rank, thread int, calls uint64, per func(block uint64) uint64) (list []Coarse) {
	for block := range (calls + timing.BlockCalls - 1) / timing.BlockCalls {
		n := per(block)
		if n == 0 {
			continue
		}
		from, to := block*timing.BlockCalls, min(calls, (block+1)*timing.BlockCalls)
		if last := len(list) - 1; last >= 0 && list[last].To == from && list[last].Per == n {
			list[last].To = to
			continue
		}
		list = append(list, Coarse{rank, thread, from, to, n})
	}
	return list
}

// Coarse lists the calls of which there are only sums of times, by rank and thread.
func (t *Reader) Coarse() (list []Coarse) {
	if !t.summed {
		return nil
	}
	for i, where := range t.shared.Threads.All() {
		if t.timed.At(i) == timingOfCalls {
			list = append(list, coarseOf(where.Rank, where.Thread, where.Calls, func(block uint64) uint64 { return t.sumsOf(i, block) })...)
		}
	}
	return list
}

// Coarse lists the calls of which there are only sums of times, by rank and thread.
func (c *Content) Coarse() (list []Coarse) {
	for _, t := range c.Threads.All() {
		s, is := t.Timing.(SummedSource)
		if stored, of := s.(*storedTiming); is && !(of && !stored.file.summed) {
			list = append(list, coarseOf(t.Rank, t.Thread, t.Calls, s.SumsOf)...)
		}
	}
	return list
}

// CoarseCalls is how many calls these are, and of which ranks.
func CoarseCalls(list []Coarse) (calls uint64, ranks RankList) {
	var of []int
	for _, c := range list {
		calls += c.To - c.From
		if n := len(of); n == 0 || of[n-1] != c.Rank {
			of = append(of, c.Rank)
		}
	}
	return calls, NewRankList(of)
}

// sumsOf is over how many calls the sums of a thread's block go; 0: it has times.
func (t *Reader) sumsOf(thread int, block uint64) uint64 {
	if !t.summed {
		return 0
	}
	e, err := t.timingEntry(thread, block*timing.BlockCalls)
	if err != nil {
		return 0 // found when the block is read
	}
	return sumsOf(e.Kind)
}

// SumsOf implements SummedSource.
func (s *storedTiming) SumsOf(block uint64) uint64 { return s.file.sumsOf(s.thread, block) }

// SumsOf implements SummedSource.
func (s *CodedTimes) SumsOf(block uint64) uint64 {
	if n := uint64(len(s.Blocks)); block >= n {
		if s.Rest == nil {
			return 0
		}
		return sumsIn(s.Rest, block)
	}
	return s.Blocks[block].SumsOf()
}

// SumsOf is over how many calls the sums in the block go; 0: it has times.
func (b PartBlock) SumsOf() uint64 { return sumsOf(b.entry().Kind) }
