package record

import (
	"errors"
	"unsafe"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// The layout of record buffers and records is docs/decisions/0001-seams.md, "Raw records". The
// tracer runs on little-endian processors only.
const (
	BufferMagic       = rawlayout.BufferMagic
	BufferFormat      = rawlayout.BufferFormat
	BufferHeaderBytes = rawlayout.BufferHeader
	BufferHeaderWords = BufferHeaderBytes / 8

	// words of the buffer header
	headerMagic    = 0
	HeaderFormat   = rawlayout.BufferFormatAt / 8 // u32 format, u32 thread
	HeaderSequence = rawlayout.BufferSequenceAt / 8
	HeaderUsed     = rawlayout.BufferUsedAt / 8
	headerDropped  = rawlayout.BufferDroppedAt / 8
	HeaderSample   = rawlayout.BufferTicksAt / 8 // three words: ticks, monotonic, realtime
	HeaderEpoch    = rawlayout.BufferEpochAt / 8
	HeaderTaken    = rawlayout.BufferTakenAt / 8
	HeaderClosed   = rawlayout.BufferClosedAt / 8
	headerStopped  = rawlayout.BufferStoppedAt / 8 // zero-terminated text, written when tracing stops

	// words of a record
	LengthWord   = rawlayout.RecordLengthAt / 8   // u32 length, u16 function, u8 binding, u8 flags
	ReservedWord = rawlayout.RecordReservedAt / 8 // u32 reserved bytes, u32 state
	EpochWord    = rawlayout.RecordEpochAt / 8
	EnterWord    = rawlayout.RecordEnterAt / 8
	ExitWord     = rawlayout.RecordExitAt / 8
	AddressWord  = rawlayout.RecordCallerAt / 8
	ReturnWord   = rawlayout.RecordResultAt / 8
	HeaderWords  = rawlayout.RecordBytes / 8

	recordHeaderBytes = rawlayout.RecordBytes
	FlagTruncated     = rawlayout.FlagTruncated
	FlagMarker        = rawlayout.FlagMarker // the call is a marker for clustering

	stoppedBytes = rawlayout.BufferStoppedBytes
)

// A BufferHeader is the decoded header of a buffer.
type BufferHeader struct {
	Thread   uint32
	Sequence uint64
	Used     uint64
	Dropped  uint64
	Sample   [3]int64 // ticks, monotonic ns, realtime ns
	Epoch    uint64   // the counter's value when the thread took the buffer
	Taken    uint64   // number of this use among all of the process's buffers, from 1
	Closed   bool     // the thread writes no more to it
	Stopped  string   // why tracing stopped; "" if it did not
}

// ErrNoBuffer reports data that is no record buffer of this format.
var ErrNoBuffer = errors.New("not a record buffer of this format")

// Low returns the uint32 at the first four bytes of a word.
func Low(w uint64) uint32 { return uint32(w) }

// High returns the uint32 at the last four bytes of a word.
func High(w uint64) uint32 { return uint32(w >> 32) }

// Join returns the word with these two halves.
func Join(first, second uint32) uint64 { return uint64(second)<<32 | uint64(first) }

// BytesOf returns the memory of words as bytes.
func BytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

// ParseBufferHeader reads the header of a record buffer.
func ParseBufferHeader(words []uint64) (BufferHeader, error) {
	var h BufferHeader
	if len(words) < BufferHeaderWords || string(BytesOf(words[:1])) != BufferMagic || Low(words[HeaderFormat]) != BufferFormat {
		return h, ErrNoBuffer
	}
	h.Thread = High(words[HeaderFormat])
	h.Sequence = words[HeaderSequence]
	h.Used = words[HeaderUsed]
	h.Dropped = words[headerDropped]
	h.Epoch, h.Taken, h.Closed = words[HeaderEpoch], words[HeaderTaken], words[HeaderClosed] != 0
	for i := range h.Sample {
		h.Sample[i] = int64(words[HeaderSample+i])
	}
	text := BytesOf(words[headerStopped : headerStopped+stoppedBytes/8])
	for i, b := range text {
		if b == 0 {
			h.Stopped = string(text[:i])
			break
		}
	}
	return h, nil
}

// A Buffer is a part of a thread's records.
type Buffer struct {
	Thread   uint32
	Sequence uint64
	Words    []uint64 // with the header
}

// Available returns the number of words that readers may look at so far, header included.
func (s *Buffer) Available() int {
	used := s.Words[HeaderUsed]
	if limit := uint64(len(s.Words)-BufferHeaderWords) * 8; used > limit {
		used = limit
	}
	return BufferHeaderWords + int(used/8)
}

// WordsOf returns bytes of memory as words.
func WordsOf(data []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
}
