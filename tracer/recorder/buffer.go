package recorder

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// The layout of segments and records is docs/decisions/0001-seams.md, "Raw records".
const (
	segmentMagic      = "CAIRNSEG"
	segmentFormat     = 1
	segmentHeaderSize = 4096
	headerWords       = segmentHeaderSize / 8

	// words of the segment header
	headerMagic    = 0
	headerFormat   = 1 // u32 format, u32 thread
	headerSequence = 2
	headerUsed     = 3
	headerDropped  = 4
	headerSample   = 5 // three words: ticks, monotonic, realtime
	headerStopped  = 8 // a text up to a zero byte, written by the core when tracing stops

	// words of a record
	recordLength   = 0 // u32 length, u16 function, u8 binding, u8 flags
	recordReserved = 1 // u32 reserved bytes, u32 state
	recordEpoch    = 2
	recordEnter    = 3
	recordExit     = 4
	recordAddress  = 5
	recordReturn   = 6
	recordPayload  = 7

	recordHeaderBytes = recordPayload * 8
	flagTruncated     = 1
	flagMarker        = 2 // the call counts among the markers of clustering

	stoppedBytes = 1024
)

// A segmentHeader is the decoded header of a segment.
type segmentHeader struct {
	thread   uint32
	sequence uint64
	used     uint64
	dropped  uint64
	sample   [3]int64 // ticks, monotonic ns, realtime ns
	stopped  string
}

var errSegment = errors.New("not a segment of this format")

// low and high are the two halves of a word as C wrote them at its first and second four bytes.
func low(w uint64) uint32 {
	if bigEndian {
		return uint32(w >> 32)
	}
	return uint32(w)
}

func high(w uint64) uint32 {
	if bigEndian {
		return uint32(w)
	}
	return uint32(w >> 32)
}

func join(first, second uint32) uint64 {
	if bigEndian {
		return uint64(first)<<32 | uint64(second)
	}
	return uint64(second)<<32 | uint64(first)
}

var bigEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 0
}()

// bytesOf is the memory of words.
func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
}

func parseSegmentHeader(words []uint64) (segmentHeader, error) {
	var h segmentHeader
	if len(words) < headerWords || string(bytesOf(words[:1])) != segmentMagic || low(words[headerFormat]) != segmentFormat {
		return h, errSegment
	}
	h.thread = high(words[headerFormat])
	h.sequence = words[headerSequence]
	h.used = words[headerUsed]
	h.dropped = words[headerDropped]
	for i := range h.sample {
		h.sample[i] = int64(words[headerSample+i])
	}
	text := bytesOf(words[headerStopped : headerStopped+stoppedBytes/8])
	for i, b := range text {
		if b == 0 {
			h.stopped = string(text[:i])
			break
		}
	}
	return h, nil
}

// A segment is a part of a thread's records.
type segment struct {
	thread   uint32
	sequence uint64
	words    []uint64 // with the header
	live     bool     // mapped memory that the application may be writing to
	name     string   // of the file that it was read from
	stopped  string   // why the core stopped tracing, if it did
}

// available is the number of words of records, header included, that are there by now.
func (s *segment) available() int {
	used := loadAcquire(&s.words[headerUsed], s.live)
	if limit := uint64(len(s.words)-headerWords) * 8; used > limit {
		used = limit
	}
	return headerWords + int(used/8)
}

// A record is one call, raw. It is valid as long as its segment is.
type record struct {
	words    []uint64 // header and payload, as long as is meaningful
	function uint16
	binding  uint8
	flags    uint8
	epoch    uint64
	open     bool // the process ended before the call returned: inputs are there, and nothing else
}

// functionIn is the function of a record, by its first word.
func functionIn(first uint64) uint16 {
	if bigEndian {
		return uint16(high(first) >> 16)
	}
	return uint16(high(first))
}

// recordAt looks at the record that begins at word at, of those before limit. reserved is 0 when what is there cannot
// be a record; open tells that it is not committed.
func (s *segment) recordAt(at, limit int) (r record, reserved int, open bool) {
	if limit-at < recordPayload {
		return r, 0, false
	}
	second := loadAcquire(&s.words[at+recordReserved], s.live)
	reserved = int(low(second)) / 8
	if reserved < recordPayload || reserved > limit-at || low(second)%8 != 0 {
		return r, 0, false
	}
	first := s.words[at+recordLength]
	rest := high(first)
	if bigEndian {
		r.function, r.binding, r.flags = uint16(rest>>16), uint8(rest>>8), uint8(rest)
	} else {
		r.function, r.binding, r.flags = uint16(rest), uint8(rest>>16), uint8(rest>>24)
	}
	r.epoch = s.words[at+recordEpoch]
	if high(second) != 1 {
		r.words = s.words[at : at+reserved]
		return r, reserved, true
	}
	length := int(low(first)) / 8
	if length < recordPayload || length > reserved {
		return r, 0, false
	}
	r.words = s.words[at : at+length : at+length]
	return r, reserved, false
}

// loadAcquire reads a word that another thread of C code may have stored with release order.
func loadAcquire(p *uint64, live bool) uint64 {
	if live {
		return atomic.LoadUint64(p)
	}
	return *p
}

// liveSegment is the segment that a thread may be writing to a mapped file.
func liveSegment(data []byte) *segment {
	words := wordsOf(data)
	return &segment{thread: high(words[headerFormat]), sequence: words[headerSequence], words: words, live: true}
}

// wordsOf is memory as words.
func wordsOf(data []byte) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/8)
}

// writeStopped writes into the header of a mapped segment why tracing stopped. The segment may be gone, and be the reason.
func writeStopped(data []byte, text string) {
	defer func() { _ = recover() }()
	words := wordsOf(data)
	area := bytesOf(words[headerStopped : headerStopped+stoppedBytes/8])
	n := copy(area[:len(area)-1], text)
	area[n] = 0
}

// isMarker tells whether a call counts among the markers, by the first word of its record.
func isMarker(first uint64) bool {
	flags := high(first) >> 24
	if bigEndian {
		flags = high(first) & 0xff
	}
	return flags&flagMarker != 0
}
