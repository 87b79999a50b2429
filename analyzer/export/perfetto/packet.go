package perfetto

import (
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of Perfetto's messages in use, from its .proto files.
const (
	tracePacket = 1 // Trace

	packetTimestamp     = 8 // TracePacket
	packetSequence      = 10
	packetEvent         = 11
	packetInterned      = 12
	packetSequenceFlags = 13
	packetTrack         = 60

	trackUUID          = 1 // TrackDescriptor
	trackName          = 2
	trackParent        = 5
	trackCounter       = 8
	trackChildOrdering = 11
	trackSiblingRank   = 12

	eventCategoryIDs      = 3 // TrackEvent
	eventAnnotations      = 4
	eventType             = 9
	eventNameID           = 10
	eventTrack            = 11
	eventDoubleValue      = 44
	eventFlows            = 47
	eventTerminatingFlows = 48

	counterUnit     = 3 // CounterDescriptor
	counterUnitName = 6

	internedCategories  = 1 // InternedData
	internedNames       = 2
	internedAnnotations = 3
	internedValues      = 29
	internedID          = 1 // EventCategory, EventName, DebugAnnotationName, InternedString
	internedText        = 2

	annotationNameID = 1 // DebugAnnotation
	annotationText   = 6
	annotationTextID = 17
)

const (
	sliceBegin = 1 // TrackEvent.Type
	sliceEnd   = 2
	instant    = 3
	counted    = 4

	unitBytes = 3 // CounterDescriptor.Unit

	explicitOrder = 3 // TrackDescriptor.ChildTracksOrdering

	stateCleared = 1 // TracePacket.SequenceFlags
	needsState   = 2

	sequence = 1 // everything is one sequence of packets
)

// A message is an encoded message under construction.
type message []byte

func (m *message) uint(field protowire.Number, v uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
}

func (m *message) fixed(field protowire.Number, v uint64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
}

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) message(field protowire.Number, inner message) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), inner)
}

// maxValues bounds the number of interned texts of annotations, and with them the memory here and
// in Perfetto.
const maxValues = 1 << 16

// packets writes packets. Names and texts are interned: they are written once and then referred to
// by number.
type packets struct {
	out     io.Writer
	err     error
	started bool
	bytes   int64

	names       map[protowire.Number]map[string]uint64 // by field of InternedData
	newNames    message                                // InternedData of the next packet
	event, body message                                // scratch
	annotation  message
	whole       message
}

func (p *packets) packet(packet message) {
	if p.err != nil {
		return
	}
	flags := uint64(needsState)
	if !p.started {
		flags |= stateCleared
		p.started = true
	}
	packet.uint(packetSequence, sequence)
	packet.uint(packetSequenceFlags, flags)
	if len(p.newNames) > 0 {
		packet.message(packetInterned, p.newNames)
		p.newNames = p.newNames[:0]
	}
	p.whole = p.whole[:0]
	p.whole.message(tracePacket, packet)
	n, err := p.out.Write(p.whole)
	p.bytes += int64(n)
	p.err = err
}

// intern returns the number of a name in one of the tables of InternedData.
func (p *packets) intern(table protowire.Number, name string) uint64 {
	if p.names[table] == nil {
		if p.names == nil {
			p.names = map[protowire.Number]map[string]uint64{}
		}
		p.names[table] = map[string]uint64{}
	}
	id, known := p.names[table][name]
	if !known {
		id = uint64(len(p.names[table]) + 1)
		p.names[table][name] = id
		var entry message
		entry.uint(internedID, id)
		entry.text(internedText, name)
		p.newNames.message(table, entry)
	}
	return id
}

// A track is a line of the picture. A Parent of 0 is none; siblings are ordered by rank.
type track struct {
	uuid, parent uint64
	name         string
	rank         int
	orders       bool // its children come in the order of their ranks
}

func (p *packets) track(t track) { p.describe(t, nil) }

func (p *packets) counter(c counter) {
	unit := message{}
	if c.bytes {
		unit.uint(counterUnit, unitBytes)
	} else {
		unit.text(counterUnitName, c.unit)
	}
	p.describe(c.track, unit)
}

// describe writes a track; with a unit, it is a counter.
func (p *packets) describe(t track, unit message) {
	var descriptor message
	descriptor.uint(trackUUID, t.uuid)
	descriptor.text(trackName, t.name)
	if t.parent != 0 {
		descriptor.uint(trackParent, t.parent)
		descriptor.uint(trackSiblingRank, uint64(t.rank))
	}
	if t.orders {
		descriptor.uint(trackChildOrdering, explicitOrder)
	}
	if unit != nil {
		descriptor.message(trackCounter, unit)
	}
	var packet message
	packet.message(packetTrack, descriptor)
	p.packet(packet)
}

// A slice is a named stretch of time on a track.
type slice struct {
	track          uint64
	start          int64 // ns
	name, category string
	annotations    []annotation
}

type annotation struct{ name, text string }

// arrows are flows that begin or terminate at an event.
type arrows struct{ begin, terminate []uint64 }

func (p *packets) begin(s *slice, at arrows) {
	event := p.event[:0]
	event.uint(eventType, sliceBegin)
	event.uint(eventTrack, s.track)
	event.uint(eventNameID, p.intern(internedNames, s.name))
	event.uint(eventCategoryIDs, p.intern(internedCategories, s.category))
	for _, a := range s.annotations {
		inner := p.annotation[:0]
		inner.uint(annotationNameID, p.intern(internedAnnotations, a.name))
		_, known := p.names[internedValues][a.text]
		if known || len(p.names[internedValues]) < maxValues {
			inner.uint(annotationTextID, p.intern(internedValues, a.text))
		} else {
			inner.text(annotationText, a.text)
		}
		event.message(eventAnnotations, inner)
		p.annotation = inner
	}
	p.write(s.start, event, at)
}

func (p *packets) end(track uint64, ns int64, at arrows) {
	event := p.event[:0]
	event.uint(eventType, sliceEnd)
	event.uint(eventTrack, track)
	p.write(ns, event, at)
}

// instant writes an event without a duration, inside of the open slice.
func (p *packets) instant(track uint64, ns int64, name string, at arrows) {
	event := p.event[:0]
	event.uint(eventType, instant)
	event.uint(eventTrack, track)
	event.uint(eventNameID, p.intern(internedNames, name))
	p.write(ns, event, at)
}

// count writes a counter's value from a time on.
func (p *packets) count(track uint64, ns int64, v float64) {
	event := p.event[:0]
	event.uint(eventType, counted)
	event.uint(eventTrack, track)
	event.fixed(eventDoubleValue, math.Float64bits(v))
	p.write(ns, event, arrows{})
}

// write writes an event with its time and flows.
func (p *packets) write(ns int64, event message, at arrows) {
	for _, id := range at.begin {
		event.fixed(eventFlows, id)
	}
	for _, id := range at.terminate {
		event.fixed(eventTerminatingFlows, id)
	}
	packet := p.body[:0]
	packet.uint(packetTimestamp, uint64(ns))
	packet.message(packetEvent, event)
	p.event, p.body = event, packet
	p.packet(packet)
}
