package trace

import (
	"encoding/binary"
	"fmt"
)

// What all ranks share is in sections. Most are some hundred bytes, which a compressor learns nothing from: small ones share
// a block, the others have one each.

// A section is one part of what all ranks share.
type section struct {
	kind    blockType
	packing packing // unless it was read
	content []byte
}

// appendSections appends sections as a block has them: each with the codec that makes it shortest.
func appendSections(b []byte, list []section) []byte {
	for _, s := range list {
		stored, how := pack(s.content, s.packing)
		b = append(b, blockHead(s.kind, how, len(s.content), len(stored))...)
		b = append(b, stored...)
	}
	return b
}

// splitSections gives what appendSections was given, and how long each is as stored. The contents may be parts of b and are
// booked on m.
func splitSections(b []byte, m *budget) (list []section, stored []int64, err error) {
	d := decoder{b: b}
	for len(d.b) > 0 {
		before := len(d.b)
		kind, how := blockType(d.byte()), codec(d.byte())
		length := d.uvarint()
		packed := d.bytes(d.uvarint())
		if d.err != nil {
			return nil, nil, d.err
		}
		content, err := unpack(how, length, packed, m)
		if err != nil {
			return nil, nil, fmt.Errorf("type %d: %w", kind, err)
		}
		list, stored = append(list, section{kind: kind, content: content}), append(stored, int64(before-len(d.b)))
	}
	return list, stored, nil
}

// A sectionWriter collects numbers and strings of a section; the strings come first in the encoding.
type sectionWriter struct {
	strings *stringTable
	b       []byte
	values  []int64 // of the column that is being written
}

func newSection() *sectionWriter { return &sectionWriter{strings: newStringTable()} }

func (s *sectionWriter) number(x uint64) { s.b = binary.AppendUvarint(s.b, x) }
func (s *sectionWriter) signed(x int64)  { s.b = binary.AppendVarint(s.b, x) }
func (s *sectionWriter) text(x string)   { s.number(uint64(s.strings.index(x))) }

func (s *sectionWriter) flag(x bool) {
	if x {
		s.number(1)
	} else {
		s.number(0)
	}
}

func (s *sectionWriter) sequence(values []int64) { s.b = AppendSequence(s.b, values) }
func (s *sectionWriter) lists(lists [][]int64)   { s.b = appendLists(s.b, lists) }

// column writes f(0), …, f(n−1) as a sequence.
func (s *sectionWriter) column(n int, f func(i int) int64) {
	s.values = s.values[:0]
	for i := range n {
		s.values = append(s.values, f(i))
	}
	s.sequence(s.values)
}

func (s *sectionWriter) texts(n int, f func(i int) string) {
	s.column(n, func(i int) int64 { return int64(s.strings.index(f(i))) })
}

// numbers writes a column.
func (s *sectionWriter) numbers(list *Numbers) {
	s.values = list.Values(s.values[:0])
	s.sequence(s.values)
}

// textNumbers writes a column of indices into a dictionary.
func (s *sectionWriter) textNumbers(list *Numbers, dictionary []string) {
	s.renumbered(list, func(k int64) int64 { return int64(s.strings.index(dictionary[k])) })
}

// renumbered writes a column of what a function makes of its numbers; it is called once for equal ones that follow
// each other.
func (s *sectionWriter) renumbered(list *Numbers, number func(int64) int64) {
	s.values = s.values[:0]
	for run, count := range list.Runs() {
		if run.Step == 0 {
			x := number(run.First)
			for range count {
				s.values = append(s.values, x)
			}
			continue
		}
		for range count {
			s.values = append(s.values, number(run.First))
			run.First += run.Step
		}
	}
	s.sequence(s.values)
}

func (s *sectionWriter) bytes() []byte { return append(s.strings.append(nil), s.b...) }

// sectionDecoder reads the strings of a section and leaves the rest.
func sectionDecoder(b []byte, m *budget) *decoder {
	d := &decoder{b: b, budget: m}
	d.strings = d.stringList()
	return d
}
