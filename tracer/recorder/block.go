package recorder

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
)

// What grows with every call is its times, and the values of calls that differ. They are kept in blocks: of a thread's
// times the gaps and durations of timing.BlockCalls calls, of a value stream some KiB of runs; and a chapter of an
// irregular grammar is one (chapter.go). A block that is full never changes:
//
//   - It waits in memory for the next checkpoint, which writes it to the process's block log (blocklog.go).
//   - From then on a checkpoint has only how many values are in full blocks. So neither the state nor the memory of a
//     process grows with the number of its calls.
//   - What a process wrote to the log before it was killed, but after its last checkpoint, does not count: the recovery
//     makes it again from the segments.
type block struct {
	of     blockOf
	first  uint64 // number of its first value among those of the column or stream
	n      uint64 // how many values these are: of times, of each of the two columns
	before int64  // of times: the sum of all gaps and durations in the blocks before
	data   [2][]byte
}

// A blockOf names what blocks follow on each other.
type blockOf struct {
	thread   uint32
	terminal int32 // −1: the thread's times; gaps and durations are data[0] and data[1]. −2: its chapters, in data[0]
	stream   int32 // of the terminal; its runs are data[0]
}

// timesOf names the times of a thread.
func timesOf(thread uint32) blockOf { return blockOf{thread: thread, terminal: none} }

// A block in the log is a header and its data.
const blockHeader = 52

var errBlocks = errors.New("blocks of times or values are missing or damaged")

// append appends the block as it stands in the log.
func (b *block) append(to []byte) []byte {
	at := len(to)
	to = binary.LittleEndian.AppendUint64(to, 0) // of the checksum
	to = binary.LittleEndian.AppendUint32(to, uint32(len(b.data[0])))
	to = binary.LittleEndian.AppendUint32(to, uint32(len(b.data[1])))
	to = binary.LittleEndian.AppendUint32(to, b.of.thread)
	to = binary.LittleEndian.AppendUint32(to, uint32(b.of.terminal))
	to = binary.LittleEndian.AppendUint32(to, uint32(b.of.stream))
	to = binary.LittleEndian.AppendUint64(to, b.first)
	to = binary.LittleEndian.AppendUint64(to, b.n)
	to = binary.LittleEndian.AppendUint64(to, uint64(b.before))
	to = append(append(to, b.data[0]...), b.data[1]...)
	binary.LittleEndian.PutUint64(to[at:], xxhash.Sum64(to[at+8:]))
	return to
}

// parseBlock reads the block at the front of text, as append wrote it, and says how long it is. Its data are parts of text.
func parseBlock(text []byte) (b *block, size int, ok bool) {
	if len(text) < blockHeader {
		return nil, 0, false
	}
	word, long := binary.LittleEndian.Uint32, binary.LittleEndian.Uint64
	first, second := int(word(text[8:])), int(word(text[12:]))
	if size = blockHeader + first + second; size > len(text) || long(text) != xxhash.Sum64(text[8:size]) {
		return nil, 0, false
	}
	data := text[blockHeader:size:size]
	b = &block{
		of:    blockOf{thread: word(text[16:]), terminal: int32(word(text[20:])), stream: int32(word(text[24:]))},
		first: long(text[28:]), n: long(text[36:]), before: int64(long(text[44:])),
		data: [2][]byte{data[:first:first], data[first:]},
	}
	return b, size, b.of.terminal >= aChapter
}

// encode writes the block into a checkpoint: of a recorder that has no log.
func (b *block) encode(e *encoder) { e.bytes(b.append(nil)) }

func decodeBlock(d *decoder) *block {
	text := d.bytes()
	b, size, ok := parseBlock(text)
	if !ok || size != len(text) {
		d.fail()
		return &block{}
	}
	return b
}
