package trace

import (
	_ "embed"
	"fmt"
)

// What all ranks share is in sections. Most are some hundred bytes, which a compressor learns nothing from: small ones share
// a block, the others have one each.

// A section is one part of what all ranks share.
type section struct {
	kind    blockType
	content []byte
}

// smallSection is the size up to which a section shares a block.
const smallSection = 16 << 10

// names are what most traces have: the codec of small blocks has seen them before. They are part of the format.
//
//go:embed names.txt
var names []byte

// appendSections appends sections as a block has them: each with the codec that makes it shortest.
func appendSections(b []byte, list []section, purpose effort) []byte {
	for _, s := range list {
		stored, how := pack(s.kind, s.content, purpose)
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
		list, stored = append(list, section{kind, content}), append(stored, int64(before-len(d.b)))
	}
	return list, stored, nil
}
