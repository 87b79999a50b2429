package recorder

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

// What grows with every call is its times, and the values of calls that differ. They are kept in blocks: of a thread's
// times the gaps and durations of timing.BlockCalls calls, of a value stream some KiB of runs; and a chapter of an
// irregular grammar is one (chapters.go). A block that is full never changes:
//
//   - It waits in memory for the next checkpoint, which writes it to the process's block log (block_log.go).
//   - From then on a checkpoint has only how many values are in full blocks. So neither the state nor the memory of a
//     process grows with the number of its calls.
//   - What a process wrote to the log before it was killed, but after its last checkpoint, does not count: the recovery
//     makes it again from the buffers.
type Block struct {
	Of     BlockOf
	First  uint64 // number of its first value among those of the column or stream
	N      uint64 // how many values these are: of times, of each of the two columns
	Before int64  // of times: the sum of all gaps and durations in the blocks before
	Data   [2][]byte
}

// A BlockOf names what blocks follow on each other.
type BlockOf struct {
	Thread   uint32
	Terminal int32 // −1: the thread's times; gaps and durations are data[0] and data[1]. −2: its chapters, in data[0]
	Stream   int32 // of the terminal; its runs are data[0]
}

// TimesOf names the times of a thread.
func TimesOf(thread uint32) BlockOf { return BlockOf{Thread: thread, Terminal: none} }

// IsTimes reports whether the blocks are of a thread's times.
func (of BlockOf) IsTimes() bool { return of.Terminal == none }

// IsChapter reports whether the blocks are chapters of a thread.
func (of BlockOf) IsChapter() bool { return of.Terminal == chapterTerminal }

// A block in the log is a header and its data.
const BlockHeader = 52

// ErrBlocks says that blocks that a checkpoint counts are not there.
var ErrBlocks = errors.New("blocks of times or values are missing or damaged")

// Append appends the block as it stands in the log.
func (b *Block) Append(to []byte) []byte {
	at := len(to)
	to = binary.LittleEndian.AppendUint64(to, 0) // of the checksum
	to = binary.LittleEndian.AppendUint32(to, uint32(len(b.Data[0])))
	to = binary.LittleEndian.AppendUint32(to, uint32(len(b.Data[1])))
	to = binary.LittleEndian.AppendUint32(to, b.Of.Thread)
	to = binary.LittleEndian.AppendUint32(to, uint32(b.Of.Terminal))
	to = binary.LittleEndian.AppendUint32(to, uint32(b.Of.Stream))
	to = binary.LittleEndian.AppendUint64(to, b.First)
	to = binary.LittleEndian.AppendUint64(to, b.N)
	to = binary.LittleEndian.AppendUint64(to, uint64(b.Before))
	to = append(append(to, b.Data[0]...), b.Data[1]...)
	binary.LittleEndian.PutUint64(to[at:], xxhash.Sum64(to[at+8:]))
	return to
}

// ParseBlock reads the block at the front of text, as append wrote it, and says how long it is. Its data are parts of text.
func ParseBlock(text []byte) (b *Block, size int, ok bool) {
	if len(text) < BlockHeader {
		return nil, 0, false
	}
	word, long := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	first, second := int(word(text[8:])), int(word(text[12:]))
	if size = BlockHeader + first + second; size > len(text) || long(text) != xxhash.Sum64(text[8:size]) {
		return nil, 0, false
	}
	data := text[BlockHeader:size:size]
	b = &Block{
		Of:    BlockOf{Thread: word(text[16:]), Terminal: int32(word(text[20:])), Stream: int32(word(text[24:]))},
		First: long(text[28:]), N: long(text[36:]), Before: int64(long(text[44:])),
		Data: [2][]byte{data[:first:first], data[first:]},
	}
	return b, size, b.Of.Terminal >= chapterTerminal
}

// encode writes the block into a checkpoint: of a recorder that has no log.
func (b *Block) encode(e *checkpoint.Encoder) { e.Bytes(b.Append(nil)) }

func decodeBlock(d *checkpoint.Decoder) *Block {
	text := d.Bytes()
	b, size, ok := ParseBlock(text)
	if !ok || size != len(text) {
		d.Fail()
		return &Block{}
	}
	return b
}

// CloseBlocks makes blocks of what has become long. It must not be called within a record.
func (r *Recorder) CloseBlocks() {
	r.limitMemory()
	r.closeValues()
	r.closeChapters()
}

// TakeBlocks hands over the blocks that are full. Of each, either recycle or keepBlocks follows.
func (r *Recorder) TakeBlocks() []*Block {
	full := r.full
	r.full = nil
	return full
}

// KeepBlocks takes blocks back that could not be written.
func (r *Recorder) KeepBlocks(full []*Block) { r.full = full }
