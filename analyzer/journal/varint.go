package journal

import (
	"encoding/binary"
	"math/bits"
)

// unsigned reads the number of variable length that begins at b[at], and where the next entry begins. The lengths of times
// are as good as random, so they are found without a branch for each byte: all passes over a journal read some three
// numbers a call.
func unsigned(b []byte, at int) (v uint64, next int) {
	if len(b)-at < 8 {
		v, n := binary.Uvarint(b[at:])
		return v, at + n
	}
	x := binary.LittleEndian.Uint64(b[at:])
	last := bits.TrailingZeros64(^x & 0x8080808080808080) // the bit that ends it
	if last == 64 {
		v, n := binary.Uvarint(b[at:])
		return v, at + n
	}
	x &= 0x7f7f7f7f7f7f7f7f & (2<<last - 1)
	x = x&0x007f007f007f007f | x>>1&0x3f803f803f803f80
	x = x&0x00003fff00003fff | x>>2&0x0fffc0000fffc000
	return x&0x0fffffff | x>>4&0x00fffffff0000000, at + last/8 + 1
}

// signed reads a signed one.
func signed(b []byte, at int) (v int64, next int) {
	u, next := unsigned(b, at)
	return int64(u>>1) ^ -int64(u&1), next
}
