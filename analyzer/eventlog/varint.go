package eventlog

import "encoding/binary"

// unsigned decodes the varint at b[at] and returns the offset of the next entry. All passes over an
// event log read about four numbers per call, mostly of one or two bytes and in the same order in
// each iteration of a loop.
func unsigned(b []byte, at int) (v uint64, next int) {
	if c := b[at]; c < 0x80 {
		return uint64(c), at + 1
	}
	return long(b, at)
}

// long decodes a varint of more than one byte.
func long(b []byte, at int) (v uint64, next int) {
	if c := b[at+1]; c < 0x80 {
		return uint64(b[at]&0x7f) | uint64(c)<<7, at + 2
	}
	v, n := binary.Uvarint(b[at:])
	return v, at + n
}

// signed decodes a signed varint.
func signed(b []byte, at int) (v int64, next int) {
	u, next := unsigned(b, at)
	return int64(u>>1) ^ -int64(u&1), next
}
