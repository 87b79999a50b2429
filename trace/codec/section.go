package codec

import (
	"encoding/binary"
	"fmt"
)

// Data that all ranks share is in sections. Most are a few hundred bytes, too small for a
// compressor to learn from. So small ones share a block, and the others have one each.

// A Section is a part of the data that all ranks share.
type Section struct {
	Kind    Kind
	Packing Packing // for a writer
	Content []byte
}

// AppendSections appends sections in the encoding of a block, each with the codec that makes it
// shortest.
func AppendSections(b []byte, list []Section) []byte {
	for _, s := range list {
		stored, how := pack(s.Content, s.Packing)
		b = append(b, blockHead(s.Kind, how, len(s.Content), len(stored))...)
		b = append(b, stored...)
	}
	return b
}

// SplitSections is the inverse of AppendSections; stored is the size of each section as stored. The
// contents may be parts of b, and their memory is taken from m.
func SplitSections(b []byte, m *Budget) (list []Section, stored []int64, err error) {
	d := Decoder{Rest: b}
	for len(d.Rest) > 0 {
		before := len(d.Rest)
		kind, how := Kind(d.Byte()), coder(d.Byte())
		length := d.Uvarint()
		packed := d.Bytes(d.Uvarint())
		if d.Err != nil {
			return nil, nil, d.Err
		}
		content, err := unpack(how, length, packed, m)
		if err != nil {
			return nil, nil, fmt.Errorf("type %d: %w", kind, err)
		}
		list, stored = append(list, Section{Kind: kind, Content: content}), append(stored, int64(before-len(d.Rest)))
	}
	return list, stored, nil
}

// A SectionWriter collects numbers and strings of a section; the strings come first
// in the encoding.
type SectionWriter struct {
	Strings *StringTable
	Body    []byte
	values  []int64 // the column that is being written
}

// NewSectionWriter returns an empty section.
func NewSectionWriter() *SectionWriter { return &SectionWriter{Strings: newStringTable()} }

// Number writes a varint.
func (s *SectionWriter) Number(x uint64) { s.Body = binary.AppendUvarint(s.Body, x) }

// Signed writes a zigzag varint.
func (s *SectionWriter) Signed(x int64) { s.Body = binary.AppendVarint(s.Body, x) }

// Text writes the index of a string.
func (s *SectionWriter) Text(x string) { s.Number(uint64(s.Strings.Index(x))) }

// Flag writes 0 or 1.
func (s *SectionWriter) Flag(x bool) {
	if x {
		s.Number(1)
	} else {
		s.Number(0)
	}
}

// Sequence writes a sequence.
func (s *SectionWriter) Sequence(values []int64) { s.Body = AppendSequence(s.Body, values) }

// Lists writes lists as AppendLists does.
func (s *SectionWriter) Lists(lists [][]int64) { s.Body = AppendLists(s.Body, lists) }

// Column writes f(0), …, f(n−1) as a sequence.
func (s *SectionWriter) Column(n int, f func(i int) int64) {
	s.values = s.values[:0]
	for i := range n {
		s.values = append(s.values, f(i))
	}
	s.Sequence(s.values)
}

// Texts writes a column of texts.
func (s *SectionWriter) Texts(n int, f func(i int) string) {
	s.Column(n, func(i int) int64 { return int64(s.Strings.Index(f(i))) })
}

// Numbers writes a column.
func (s *SectionWriter) Numbers(list *Numbers) {
	s.values = list.Values(s.values[:0])
	s.Sequence(s.values)
}

// TextNumbers writes a column of indices into a dictionary.
func (s *SectionWriter) TextNumbers(list *Numbers, dictionary []string) {
	s.Renumbered(list, func(k int64) int64 { return int64(s.Strings.Index(dictionary[k])) })
}

// Renumbered writes the column of number(v) for each v of list. It calls number once for a run of
// equal values.
func (s *SectionWriter) Renumbered(list *Numbers, number func(int64) int64) {
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
	s.Sequence(s.values)
}

// Bytes returns the section: its strings, then everything written.
func (s *SectionWriter) Bytes() []byte { return append(s.Strings.append(nil), s.Body...) }

// NewSectionDecoder reads the strings of a section and returns a decoder of the rest.
func NewSectionDecoder(b []byte, m *Budget) *Decoder {
	d := &Decoder{Rest: b, Budget: m}
	d.Strings = d.stringList()
	return d
}
