package recorder

import (
	"encoding/binary"
	"errors"
	"iter"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/key"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A Block is a piece of the data that grows with every call: the gaps and durations of
// timing.BlockCalls calls of a thread, or some KiB of runs of a value stream. A chapter of an
// irregular grammar is a block, too (chapters.go). A full block never changes:
//
//   - It stays in memory until the next checkpoint, which writes it to the process's block
//     log (block_log.go).
//   - From then on a checkpoint only has the number of values in full blocks. So neither the state
//     nor the memory of a process grows with the number of its calls.
//   - Blocks that a process wrote after its last checkpoint, before it was killed, do not count:
//     the recovery makes them again from the buffers.
type Block struct {
	Of     BlockOf
	First  uint64 // number of its first value among those of the column or stream
	N      uint64 // number of values; for times, of each of the two columns
	Before int64  // for times: sum of all gaps and durations in earlier blocks
	Coarse bool   // for times: some are sums spread over several calls (record.SummedFunction)
	Data   [2][]byte
}

// A BlockOf identifies a sequence of blocks: the times of a thread, its chapters,
// or a value stream.
type BlockOf struct {
	Thread   uint32
	Terminal int32 // −1: the thread's times; gaps and durations are data[0] and data[1]. −2: its chapters, in data[0]
	Stream   int32 // index among the terminal's streams; its runs are data[0]
}

// TimesOf identifies the times of a thread.
func TimesOf(thread uint32) BlockOf { return BlockOf{Thread: thread, Terminal: none} }

// IsTimes reports whether the blocks are of a thread's times.
func (of BlockOf) IsTimes() bool { return of.Terminal == none }

// IsChapter reports whether the blocks are chapters of a thread.
func (of BlockOf) IsChapter() bool { return of.Terminal == chapterTerminal }

// A blockHeader precedes the data of a block in the log.
type blockHeader struct {
	Sum      uint64 // xxhash of what follows
	Sizes    [2]uint32
	Of       BlockOf
	First, N uint64
	Before   int64
}

// BlockHeader is the size in bytes of the header before a block's data in the log.
const BlockHeader = 52

// coarseTimes replaces the stream, which times do not have, in the header of a coarse block.
const coarseTimes = 1

// ErrBlocks reports that blocks that a checkpoint counts are missing or damaged.
var ErrBlocks = errors.New("blocks of times or values are missing or damaged")

// Append appends the block in the format of the log.
func (b *Block) Append(to []byte) []byte {
	at := len(to)
	h := blockHeader{Of: b.Of, First: b.First, N: b.N, Before: b.Before}
	if b.Coarse {
		h.Of.Stream = coarseTimes
	}
	for i, data := range b.Data {
		h.Sizes[i] = uint32(len(data))
	}
	to, _ = binary.Append(to, binary.LittleEndian, &h) // fails only for types without a fixed size
	to = append(append(to, b.Data[0]...), b.Data[1]...)
	binary.LittleEndian.PutUint64(to[at:], xxhash.Sum64(to[at+8:]))
	return to
}

// ParseBlock reads the block at the front of text, as Append wrote it, and returns its size. Its
// data are parts of text.
func ParseBlock(text []byte) (b *Block, size int, ok bool) {
	var h blockHeader
	if _, err := binary.Decode(text, binary.LittleEndian, &h); err != nil {
		return nil, 0, false
	}
	first, second := int(h.Sizes[0]), int(h.Sizes[1])
	if size = BlockHeader + first + second; size > len(text) || h.Sum != xxhash.Sum64(text[8:size]) {
		return nil, 0, false
	}
	data := text[BlockHeader:size:size]
	b = &Block{Of: h.Of, First: h.First, N: h.N, Before: h.Before, Data: [2][]byte{data[:first:first], data[first:]}}
	if b.Of.IsTimes() && b.Of.Stream == coarseTimes {
		b.Of.Stream, b.Coarse = 0, true
	}
	return b, size, b.Of.Terminal >= chapterTerminal
}

// blocks are the full blocks of a process.
type blocks struct {
	full   []*Block    // not in a log yet
	spare  [][]byte    // memory of blocks that were written
	Blocks *BlockIndex // of the log, for other processes that read it
}

// encode writes the blocks into a checkpoint of a recorder that has no log.
func (k *blocks) encode(e *checkpoint.Encoder) {
	e.Uint(uint64(len(k.full)))
	for _, b := range k.full {
		e.Bytes(b.Append(nil))
	}
}

func (k *blocks) decode(d *checkpoint.Decoder) {
	for range d.Count() {
		text := d.Bytes()
		b, size, ok := ParseBlock(text)
		if !ok || size != len(text) {
			d.Fail()
			return
		}
		k.full = append(k.full, b)
	}
}

// blockRuns is the number of bytes of runs that a stream may keep at a checkpoint.
const blockRuns = 4 << 10

// EncodeRuns encodes the values of a stream in the format of a block.
func EncodeRuns(list []int64) []byte {
	var s values.Stream
	for _, v := range list {
		s.Push(v)
	}
	return s.Runs()
}

// CloseBlocks turns long columns, streams and grammars into blocks. It must not be called
// within a record.
func (r *Recorder) CloseBlocks() {
	r.limitMemory()
	runs := blockRuns
	if r.keys.Generality() > key.KeepsEverything { // many streams add up even if each is short
		runs = blockRuns / 64
	}
	for _, t := range r.threads {
		t.closeValues(runs)
	}
	grammar := min(r.Limits.Grammar, max(r.Limits.Memory/4/max(len(r.threads), 1), minGrammarBytes))
	for _, t := range r.threads {
		t.closeChapter(grammar)
	}
}

// closeValues turns value streams with at least minBytes of runs into blocks.
func (t *thread) closeValues(minBytes int) {
	for _, p := range t.streams.TakeLong(minBytes) {
		of := BlockOf{t.number, p.Of.Terminal, p.Of.Number}
		t.recorder.full = append(t.recorder.full, &Block{Of: of, First: p.First, N: p.N, Data: [2][]byte{p.Runs}})
	}
}

// TakeBlocks returns the full blocks. The caller must pass each either to Recycle or
// back to KeepBlocks.
func (k *blocks) TakeBlocks() []*Block {
	full := k.full
	k.full = nil
	return full
}

// KeepBlocks returns blocks to the recorder that could not be written.
func (k *blocks) KeepBlocks(full []*Block) { k.full = full }

// ClosedStreams returns all value streams, thread by thread, with the number of their values
// that are in blocks.
func (r *Recorder) ClosedStreams() iter.Seq2[BlockOf, uint64] {
	return func(yield func(BlockOf, uint64) bool) {
		for _, t := range r.threads.byNumber() {
			for of, s := range t.streams.All() {
				if !yield(BlockOf{t.number, of.Terminal, of.Number}, s.InBlocks()) {
					return
				}
			}
		}
	}
}
