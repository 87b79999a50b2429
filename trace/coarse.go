package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// sumsOf returns the number of calls per sum in a block of this kind; 0: it has no sums.
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

// A SummedSource is a TimingSource that may have sums in place of the times of some calls. It reads
// these as the sums, spread evenly over the calls of each signature.
type SummedSource interface {
	TimingSource
	// SumsOf returns the number of calls per sum in a block, ShortSums or LongSums; 0: the block
	// has times.
	SumsOf(block uint64) uint64
}

// sumsIn is SumsOf for any source.
func sumsIn(s TimingSource, block uint64) uint64 {
	if summed, is := s.(SummedSource); is {
		return summed.SumsOf(block)
	}
	return 0
}

// Coarse is a range of calls of a thread for which only sums of times are known.
type Coarse struct {
	Rank, Thread int
	From, To     uint64 // the first call, and the one after the last
	Per          uint64 // calls per sum
}

// coarseOf lists the ranges of a thread's calls with sums.
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

// Coarse lists the calls for which only sums of times are known, by rank and thread.
func (t *Reader) Coarse() (list []Coarse) {
	if !t.summed {
		return nil
	}
	for i, where := range t.shared.Threads.All() {
		if t.hasTimes(i) {
			list = append(list, coarseOf(where.Rank, where.Thread, where.Calls, func(block uint64) uint64 { return t.sumsOf(i, block) })...)
		}
	}
	return list
}

// Coarse lists the calls for which only sums of times are known, by rank and thread.
func (c *Content) Coarse() (list []Coarse) {
	for _, t := range c.Threads.All() {
		s, is := t.Timing.(SummedSource)
		if stored, of := s.(*storedTiming); is && !(of && !stored.file.summed) {
			list = append(list, coarseOf(t.Rank, t.Thread, t.Calls, s.SumsOf)...)
		}
	}
	return list
}

// CoarseCalls returns the number of these calls and their ranks.
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

// sumsOf returns the number of calls per sum in a block of a thread; 0: the block has times.
func (t *Reader) sumsOf(thread int, block uint64) uint64 {
	if !t.summed {
		return 0
	}
	e, err := t.timingEntry(thread, block*timing.BlockCalls)
	if err != nil {
		return 0 // the error is reported when the block is read
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

// SumsOf returns the number of calls per sum in the block; 0: it has times.
func (b PartBlock) SumsOf() uint64 { return sumsOf(b.entry().Kind) }
