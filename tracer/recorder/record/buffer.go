package record

import (
	"bytes"
	"errors"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// The layout of record buffers and records is docs/decisions/0001-seams.md, "Raw records". The
// tracer runs on little-endian processors only.
const (
	BufferHeaderBytes = rawlayout.BufferHeader
	BufferHeaderWords = BufferHeaderBytes / 8

	// words of the buffer header
	HeaderFormat      = rawlayout.BufferFormatAt / 8 // u32 format, u32 thread
	HeaderSequence    = rawlayout.BufferSequenceAt / 8
	HeaderUsed        = rawlayout.BufferUsedAt / 8
	headerDropped     = rawlayout.BufferDroppedAt / 8
	HeaderSample      = rawlayout.BufferTicksAt / 8 // three words: ticks, monotonic, realtime
	HeaderEpoch       = rawlayout.BufferEpochAt / 8
	HeaderTaken       = rawlayout.BufferTakenAt / 8
	HeaderClosed      = rawlayout.BufferClosedAt / 8
	headerUnwound     = rawlayout.BufferUnwoundAt / 8
	headerUnwoundFrom = rawlayout.BufferUnwoundFromAt / 8
	headerBegan       = rawlayout.BufferBeganAt / 8
	headerStopped     = rawlayout.BufferStoppedAt / 8 // zero-terminated text, written when tracing stops

	// words of a record
	LengthWord   = rawlayout.RecordLengthAt / 8   // u32 length, u16 function, u8 binding, u8 flags
	ReservedWord = rawlayout.RecordReservedAt / 8 // u32 reserved bytes, u32 state
	EpochWord    = rawlayout.RecordEpochAt / 8
	EnterWord    = rawlayout.RecordEnterAt / 8
	ExitWord     = rawlayout.RecordExitAt / 8
	AddressWord  = rawlayout.RecordCallerAt / 8
	ReturnWord   = rawlayout.RecordResultAt / 8
	HeaderWords  = rawlayout.RecordBytes / 8

	FlagTruncated = rawlayout.FlagTruncated
)

// A BufferHeader is the decoded header of a buffer.
type BufferHeader struct {
	Thread   uint32
	Sequence uint64
	Used     uint64
	Epoch    uint64 // the counter's value when the thread took the buffer
	Taken    uint64 // number of this use among all of the process's buffers, from 1
	Closed   bool   // the thread writes no more to it
	Stopped  string // why tracing stopped; "" if it did not
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
	if len(words) < BufferHeaderWords || string(BytesOf(words[:1])) != rawlayout.BufferMagic || Low(words[HeaderFormat]) != rawlayout.BufferFormat {
		return BufferHeader{}, ErrNoBuffer
	}
	h := BufferHeader{
		Thread: High(words[HeaderFormat]), Sequence: words[HeaderSequence], Used: words[HeaderUsed],
		Epoch: words[HeaderEpoch], Taken: words[HeaderTaken], Closed: words[HeaderClosed] != 0,
	}
	text := BytesOf(words[headerStopped : headerStopped+rawlayout.BufferStoppedBytes/8])
	if reason, _, ended := bytes.Cut(text, []byte{0}); ended {
		h.Stopped = string(reason)
	}
	return h, nil
}

// A Buffer is a part of a thread's records.
type Buffer struct {
	Thread   uint32
	Sequence uint64
	Words    []uint64 // with the header
}

// Sample returns the sample of the clocks in the header.
func (s *Buffer) Sample() timing.ClockSample {
	w := s.Words[HeaderSample:]
	return timing.ClockSample{Ticks: int64(w[0]), MonotonicNS: int64(w[1]), RealtimeNS: int64(w[2])}
}

// Dropped returns the number of calls for which the thread had no room. It is final when the thread
// has left the buffer.
func (s *Buffer) Dropped() uint64 { return s.Words[headerDropped] }

// Began returns the number of threads that made their first call in the buffer after the thread
// before had ended. It is final when the buffer is closed.
func (s *Buffer) Began() uint64 { return s.Words[headerBegan] }

// Available returns the number of words that readers may look at so far, header included.
func (s *Buffer) Available() int {
	return BufferHeaderWords + int(min(s.Words[HeaderUsed]/8, uint64(len(s.Words)-BufferHeaderWords)))
}
