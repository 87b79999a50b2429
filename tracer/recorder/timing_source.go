package recorder

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// The times of a thread are read block by block when they are needed, so a trace that is made of a
// process has at most one block of them in memory.

// A CallRange is the calls of a thread from number From up to To, exclusive.
type CallRange struct{ From, To uint64 }

// threadTimes are the times of a thread as a trace.SummedSource.
type threadTimes struct {
	log          *BlockIndex
	logged       []LoggedBlock
	memory       [][2][]byte // the times after the blocks
	extrapolated []CallRange // calls whose times are extrapolated from the lead's
	coarse       []CallRange // calls of blocks that have sums in the place of some times
}

// SumsOf implements trace.SummedSource. The sums of a summed record are over fewer calls than a
// block has, but not over the same ones as any stretch of it.
func (s *threadTimes) SumsOf(block uint64) uint64 {
	in := CallRange{block * timing.BlockCalls, (block + 1) * timing.BlockCalls}
	for _, c := range s.coarse {
		if c.From < in.To && c.To > in.From {
			return timing.LongSums
		}
	}
	return 0
}

// addCoarse notes that a block is coarse.
func (s *threadTimes) addCoarse(coarse bool, first, n uint64) {
	if coarse {
		s.coarse = append(s.coarse, CallRange{first, first + n})
	}
}

// times adds the thread's times to its row in the trace of; none if times of single
// calls are not kept.
func (t *thread) times(to *trace.Thread, of *trace.Content) error {
	r := t.recorder
	var coded []trace.PartBlock
	if r.Blocks != nil && t.tally == nil {
		coded = r.Blocks.Coded[int(t.number)]
		coded = coded[:min(uint64(len(coded)), t.blockTimes/timing.BlockCalls)]
	}
	from := uint64(len(coded)) * timing.BlockCalls
	logged, full, err := r.blocksOf(TimesOf(t.number), from, t.blockTimes)
	if err != nil {
		return err
	}
	rest := &threadTimes{log: r.Blocks, logged: logged}
	for _, b := range logged {
		rest.addCoarse(b.Coarse, b.First, b.N)
	}
	for _, b := range full {
		rest.memory = append(rest.memory, b.Data)
		rest.addCoarse(b.Coarse, b.First, b.N)
	}
	rest.addCoarse(t.coarse, t.blockTimes, t.gaps.n)
	columns := [][2]*column{{&t.gaps, &t.durations}}
	if y := t.tally; y != nil {
		for _, w := range []*waiting{&y.closed, &y.now} {
			columns = append(columns, [2]*column{&w.gaps, &w.durations})
		}
		for from, to := range y.Extrapolated() {
			rest.extrapolated = append(rest.extrapolated, CallRange{from, to})
		}
	}
	for _, c := range columns {
		if c[0].n > 0 {
			rest.memory = append(rest.memory, [2][]byte{slices.Clip(c[0].b), slices.Clip(c[1].b)})
		}
	}
	if len(rest.logged)+len(rest.memory)+len(rest.extrapolated) > 0 {
		to.Timing = rest
	}
	if len(coded) > 0 {
		ticks := t.blockTicks
		switch {
		case len(logged) > 0:
			ticks = logged[0].Before
		case len(full) > 0:
			ticks = full[0].Before
		}
		to.Timing = &trace.CodedTimes{Of: of, Root: to.Root, Blocks: coded, Ticks: ticks, Rest: to.Timing}
	}
	return nil
}

// OpenTiming begins to read at the first call.
func (s *threadTimes) OpenTiming() (trace.TimingReader, error) { return &timesReader{from: *s}, nil }

type timesReader struct {
	from threadTimes // what remains to be read
	data [2][]byte   // the current block
	call uint64
}

func (r *timesReader) ReadTiming(gaps, durations []int64) (int, error) {
	for i := range gaps {
		led := &r.from.extrapolated
		for len(*led) > 0 && r.call >= (*led)[0].To {
			*led = (*led)[1:]
		}
		if len(*led) > 0 && r.call >= (*led)[0].From {
			gaps[i], durations[i] = 0, 0
			r.call++
			continue
		}
		if len(r.data[0]) == 0 && len(r.data[1]) == 0 {
			if more, err := r.block(); !more {
				return i, err
			}
		}
		for k, to := range [2][]int64{gaps, durations} {
			v, n := binary.Varint(r.data[k])
			if n <= 0 {
				return i, ErrBlocks
			}
			to[i], r.data[k] = v, r.data[k][n:]
		}
		r.call++
	}
	return len(gaps), nil
}

// block advances to the next block; false at the end.
func (r *timesReader) block() (bool, error) {
	s := &r.from
	switch {
	case len(s.logged) > 0:
		b, err := s.log.Open(&s.logged[0])
		if err != nil {
			return false, err
		}
		r.data, s.logged = b.Data, s.logged[1:]
	case len(s.memory) > 0:
		r.data, s.memory = s.memory[0], s.memory[1:]
	default:
		return false, nil
	}
	return true, nil
}
