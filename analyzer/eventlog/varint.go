package eventlog

import "encoding/binary"

// unsigned reads the number of variable length that begins at b[at], and tells where the next entry begins. All passes over a
// event log read some four numbers a call, most of one or two bytes, in the same order in each trip of a loop.
func unsigned(b []byte, at int) (v uint64, next int) {
	if c := b[at]; c < 0x80 {
		return uint64(c), at + 1
	}
	return long(b, at)
}

// long reads a number of more than one byte.
func long(b []byte, at int) (v uint64, next int) {
	if c := b[at+1]; c < 0x80 {
		return uint64(b[at]&0x7f) | uint64(c)<<7, at + 2
	}
	v, n := binary.Uvarint(b[at:])
	return v, at + n
}

// signed reads a signed one.
func signed(b []byte, at int) (v int64, next int) {
	u, next := unsigned(b, at)
	return int64(u>>1) ^ -int64(u&1), next
}
