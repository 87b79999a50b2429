package recorder

import (
	"encoding/binary"

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
	blocks       []StoredBlock
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

// codedTimes returns the blocks of the thread's times that are in parts.
func (t *thread) codedTimes() []trace.PartBlock {
	coded := t.recorder.Blocks.Coded[int(t.number)]
	return coded[:min(uint64(len(coded)), t.blockTimes/timing.BlockCalls)] // the rest is later than the checkpoint
}

// times adds the thread's times to its row in the trace of; none if times of single
// calls are not kept.
func (t *thread) times(to *trace.Thread, of *trace.Content) error {
	r := t.recorder
	var coded []trace.PartBlock
	if t.tally == nil {
		coded = t.codedTimes()
	}
	from := uint64(len(coded)) * timing.BlockCalls
	last := t.block()
	blocks, err := r.blocksOf(last.Of, from, last)
	if err != nil {
		return err
	}
	rest := &threadTimes{log: r.Blocks, blocks: blocks}
	ticks := t.blockTicks
	if len(blocks) > 0 {
		ticks = blocks[0].Before
	}
	for i := range blocks {
		if b := &blocks[i]; b.Coarse {
			rest.coarse = append(rest.coarse, CallRange{b.First, b.First + b.N})
		}
	}
	if y := t.tally; y != nil {
		for _, w := range []*columns{&y.closed, &y.now} {
			if w.gaps.n > 0 {
				rest.blocks = append(rest.blocks, StoredBlock{Block: Block{Data: w.data()}})
			}
		}
		for from, to := range y.Extrapolated() {
			rest.extrapolated = append(rest.extrapolated, CallRange{from, to})
		}
	}
	if len(rest.blocks)+len(rest.extrapolated) > 0 {
		to.Timing = rest
	}
	if len(coded) > 0 {
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
			if len(r.from.blocks) == 0 {
				return i, nil
			}
			b, err := r.from.log.Open(&r.from.blocks[0])
			if err != nil {
				return i, err
			}
			r.data, r.from.blocks = b.Data, r.from.blocks[1:]
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
