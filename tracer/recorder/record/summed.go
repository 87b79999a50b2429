package record

import (
	"iter"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// SummedFunction is the function of a Record that is a summed record: many calls that repeat
// originals, with sums in the place of their times (Buffer.Calls). The process writes such while
// the compressor cannot follow, or the spool is nearly full.
const SummedFunction = rawlayout.SummedRecord

const (
	summedWords = rawlayout.SummedBytes / 8
	sumsWords   = rawlayout.SumsBytes / 8
	inWord      = 4 // offsets of originals

	originalBits = 64 / inWord
)

// A summed record has, in words, its rows of sums and the number of its calls.
func summedIn(words []uint64) (rows, calls int) {
	return int(Low(words[rawlayout.SummedRowsAt/8])), int(words[rawlayout.SummedProgressAt/8] & (1<<rawlayout.SummedCountBits - 1))
}

// summed returns the summed record at a word of the buffer. It is open if its thread may add calls.
func (s *Buffer) summed(at, limit int) (r Record, size int) {
	if limit-at < summedWords {
		return r, 0
	}
	words := s.Words[at:limit]
	length := int(Low(words[0])) / 8
	rows, calls := summedIn(words)
	// a thread publishes what makes it longer later
	if needs := summedWords + rows*sumsWords + (calls+inWord-1)/inWord; calls == 0 || needs > length || needs > len(words) {
		return r, 0
	}
	size = min(length, len(words))
	r = Record{Words: words[:size:size], Function: SummedFunction, Epoch: words[rawlayout.SummedEpochAt/8], Enter: words[rawlayout.SummedEnterAt/8]}
	r.Exit = max(r.Enter, r.Enter+words[rawlayout.SummedProgressAt/8]>>rawlayout.SummedCountBits)
	r.Open = !isCommitted(words[rawlayout.SummedRowsAt/8])
	return r, size
}

// A summedRow is the calls of a summed record that repeat one original.
type summedRow struct {
	words             []uint64 // of the original
	gap, duration     int64    // sums
	gaps, durations   int64    // how many intervals are in them: the gap before the first call is not
	nextGap, nextCall int64    // those that have got their share
}

// Calls returns the calls of the summed record r, which is at word at of the buffer. The sums of
// each original are spread evenly over its calls. Words is nil where there is no original.
func (s *Buffer) Calls(at int, r Record) iter.Seq[Record] {
	rows, calls := summedIn(r.Words)
	items := r.Words[summedWords+rows*sumsWords:]
	originals := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(items))), calls)
	table := s.summedRows(at, r, originals)
	return func(yield func(Record) bool) {
		clock := r.Enter
		// Sums may be a call ahead where the process was killed.
		pass := func(ticks int64) uint64 {
			clock += min(uint64(ticks), r.Exit-clock)
			return clock
		}
		for i, original := range originals {
			row := table[original]
			if row == nil {
				if !yield(Record{}) {
					return
				}
				continue
			}
			c := Record{Words: row.words, Original: int(original), Epoch: r.Epoch}
			c.first(row.words[LengthWord])
			if c.Enter = clock; i > 0 {
				c.Enter = pass(timing.Share(row.gap, row.gaps, row.nextGap))
				row.nextGap++
			}
			c.Exit = pass(timing.Share(row.duration, row.durations, row.nextCall))
			row.nextCall++
			if i == calls-1 {
				c.Exit = r.Exit
			}
			if !yield(c) {
				return
			}
		}
	}
}

// summedRows returns the rows of a summed record by original.
func (s *Buffer) summedRows(at int, r Record, originals []uint16) map[uint16]*summedRow {
	rows, _ := summedIn(r.Words)
	table := map[uint16]*summedRow{}
	for i, original := range originals {
		row, known := table[original]
		if !known {
			if words, _ := s.original(int(original), at); words != nil {
				row = &summedRow{words: words}
			}
			table[original] = row
		}
		if row == nil {
			continue
		}
		row.durations++
		if i > 0 {
			row.gaps++
		}
	}
	for sums := r.Words[summedWords : summedWords+rows*sumsWords]; len(sums) > 0; sums = sums[sumsWords:] {
		if row := table[uint16(sums[rawlayout.SumsGapAt/8])]; row != nil {
			row.gap += int64(sums[rawlayout.SumsGapAt/8] >> originalBits)
			row.duration += int64(sums[rawlayout.SumsDurationAt/8])
		}
	}
	return table
}
