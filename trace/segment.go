package trace

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A SegmentKind says what sort of memory a pointer leads to. The number is part of the file format: append only.
type SegmentKind uint8

// Kinds of segments.
const (
	HeapSegment     SegmentKind = iota + 1 // malloc and its relatives
	MappedSegment                          // mmap
	StaticSegment                          // data of an executable or shared library
	StackSegment                           // the stack of a thread
	DeviceSegment                          // memory of an accelerator
	ManagedSegment                         // memory that moves between host and accelerator
	PinnedSegment                          // page-locked host memory
	UnknownSegment                         // one address, of memory whose origin is not known
	lastSegmentKind = UnknownSegment
)

var segmentKinds = [...]string{
	HeapSegment: "heap", MappedSegment: "mapped", StaticSegment: "static", StackSegment: "stack",
	DeviceSegment: "device", ManagedSegment: "managed", PinnedSegment: "pinned", UnknownSegment: "unknown",
}

func (k SegmentKind) String() string {
	if k == 0 || int(k) >= len(segmentKinds) {
		return "segment kind " + strconv.Itoa(int(k))
	}
	return segmentKinds[k]
}

// A Segment is memory that a program got in one piece: an allocation, the static data of a module, a thread's stack. A
// Value of form Pointer names one and an offset into it. Segments are named by what is the same on all ranks that do the
// same thing: what was allocated where and how large, and Ordinal among those that lived at the same time. A name is
// used again once its segment was freed, so a buffer that every iteration allocates anew is one segment.
type Segment struct {
	Kind SegmentKind
	// Number is the device of Device, Managed and Pinned, the thread of Stack; else 0.
	Number int
	// Site is 1 + the index of the call site that allocated it, for Static of the module's first byte (offset 0); 0: not
	// known.
	Site uint32
	// Size in bytes; 0 for Stack and Unknown.
	Size uint64
	// Ordinal tells segments apart that are alike, from 0 in order of first use in an MPI call.
	Ordinal int
}

// Segments are what pointers lead to.
func (t *Reader) Segments() []Segment { return t.shared.Segments }

func appendSegments(segments []Segment) []byte {
	n := len(segments)
	b := binary.AppendUvarint(nil, uint64(n))
	for _, field := range []func(*Segment) int64{
		func(s *Segment) int64 { return int64(s.Kind) },
		func(s *Segment) int64 { return int64(s.Number) },
		func(s *Segment) int64 { return int64(s.Site) },
		func(s *Segment) int64 { return int64(s.Size) },
		func(s *Segment) int64 { return int64(s.Ordinal) },
	} {
		column := make([]int64, n)
		for i := range segments {
			column[i] = field(&segments[i])
		}
		b = codec.AppendSequence(b, column)
	}
	return b
}

func (d *decoder) segments() []Segment {
	n := d.Rows(40)
	columns := [5][]int64{d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n)}
	if d.Err != nil {
		return nil
	}
	segments := make([]Segment, n)
	for i := range segments {
		kind, number, site, ordinal := columns[0][i], columns[1][i], columns[2][i], columns[4][i]
		if kind <= 0 || kind > int64(lastSegmentKind) || number < 0 || number > math.MaxInt32 ||
			site < 0 || site > math.MaxUint32 || ordinal < 0 || ordinal > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
			return nil
		}
		segments[i] = Segment{SegmentKind(kind), int(number), uint32(site), uint64(columns[3][i]), int(ordinal)}
	}
	return segments
}

// segment is what a pointer among the arguments of the call leads to, nil for all other values and where it is not known.
func (e *Event) segment(v *Value) *Segment {
	if v.Form != Pointer || v.Int < 1 || v.Int > int64(len(e.segments)) {
		return nil
	}
	return &e.segments[v.Int-1]
}

func appendPointerText(b []byte, v *Value, s *Segment) []byte {
	b = append(append(b, s.Kind.String()...), '#')
	b = strconv.AppendInt(b, v.Int-1, 10)
	if v.Offset != 0 {
		b = strconv.AppendInt(append(b, '+'), v.Offset, 10)
	}
	return b
}

func (e *Event) appendPointerJSON(b []byte, v *Value, s *Segment) []byte {
	b = appendJSONString(append(b, `{"kind":`...), s.Kind.String())
	b = strconv.AppendInt(append(b, `,"segment":`...), v.Int-1, 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), v.Offset, 10)
	switch s.Kind {
	case StackSegment:
		b = strconv.AppendInt(append(b, `,"thread":`...), int64(s.Number), 10)
	case DeviceSegment, ManagedSegment, PinnedSegment:
		b = strconv.AppendInt(append(b, `,"device":`...), int64(s.Number), 10)
	}
	if s.Size > 0 {
		b = strconv.AppendUint(append(b, `,"size":`...), s.Size, 10)
	}
	if s.Site > 0 && int(s.Site) <= len(e.sites) {
		b = append(b, `,"allocated_at":`...)
		b = e.sites[s.Site-1].appendJSON(b)
	}
	return append(b, '}')
}
