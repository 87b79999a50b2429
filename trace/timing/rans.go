package timing

import (
	"encoding/binary"
	"slices"
)

// An entropy coder of the rANS family (Duda, Asymmetric numeral systems, arXiv:1311.2540, 2013): a
// state of 32 bits, words of 16 bits, probabilities in 2^-15. Reading needs neither divisions nor
// loops. What is read first is written last, so the encoder collects the shares of all symbols
// before it writes.

const (
	shareBits  = 15
	shareTotal = 1 << shareBits // total frequency of the symbols
	ransLow    = 1 << 16        // smallest state between two symbols, and initial state of the encoder
)

// A share is the frequency range of a symbol: size values from start on.
type share struct{ start, size uint16 }

type ransEncoder struct{ shares []share }

func (e *ransEncoder) put(start, size uint32) {
	e.shares = append(e.shares, share{uint16(start), uint16(size)})
}

// bits writes the n lowest bits of v in groups, the highest bits first.
func (e *ransEncoder) bits(v uint64, n int) {
	for n > 0 {
		k := min(n, shareBits)
		n -= k
		e.put(uint32(v>>n)&(1<<k-1)<<(shareBits-k), 1<<(shareBits-k))
	}
}

// finish appends everything that was written.
func (e *ransEncoder) finish(to []byte) []byte {
	first := len(to)
	x := uint32(ransLow)
	for _, s := range slices.Backward(e.shares) {
		size := uint32(s.size)
		if uint64(x) >= uint64(size)<<(32-shareBits) {
			to = append(to, byte(x>>8), byte(x))
			x >>= 16
		}
		x = x/size<<shareBits + x%size + uint32(s.start)
	}
	to = append(to, byte(x>>8), byte(x), byte(x>>24), byte(x>>16))
	slices.Reverse(to[first:])
	return to
}

type ransDecoder struct {
	in   []byte
	at   int
	x    uint32
	over bool // more was read than exists
}

func newRansDecoder(in []byte) ransDecoder {
	d := ransDecoder{in: in}
	d.word()
	d.word()
	return d
}

func (d *ransDecoder) word() {
	if at := d.at; at+2 <= len(d.in) {
		d.x = d.x<<16 | uint32(binary.LittleEndian.Uint16(d.in[at:]))
		d.at = at + 2
		return
	}
	d.over = true
	d.x = d.x<<16 | 1
}

// place returns a value in the range of the next symbol; take must follow.
func (d *ransDecoder) place() uint32 { return d.x & (shareTotal - 1) }

// take moves past a symbol.
func (d *ransDecoder) take(start, size uint32) {
	d.advance(size*(d.x>>shareBits) + d.x&(shareTotal-1) - start)
}

// advance sets the state after a symbol, and reads one more word if it is low.
func (d *ransDecoder) advance(x uint32) {
	at := d.at
	if at+2 > len(d.in) {
		d.advanceLast(x)
		return
	}
	// without a branch: whether a word is needed is hard to predict
	more, next := x<<16|uint32(binary.LittleEndian.Uint16(d.in[at:at+2])), at+2
	if x >= ransLow {
		next = at
	}
	if x < ransLow {
		x = more
	}
	d.x, d.at = x, next
}

// advanceLast is advance where no word may be left.
func (d *ransDecoder) advanceLast(x uint32) {
	if d.x = x; x < ransLow {
		d.word()
	}
}

func (d *ransDecoder) bits(n int) (v uint64) {
	for n > 0 {
		k := min(n, shareBits)
		n -= k
		v = v<<k | d.group(k)
	}
	return v
}

// group reads a symbol of n bits, 1 to shareBits, with equal frequencies: nothing needs to be
// multiplied.
func (d *ransDecoder) group(n int) uint64 {
	left := uint(shareBits-n) & 15
	x := d.x
	v := uint64(x & (shareTotal - 1) >> left)
	x = x>>shareBits<<left | x&(1<<left-1)
	d.advance(x)
	return v
}

// ended reports whether exactly what an encoder wrote has been read.
func (d *ransDecoder) ended() bool { return !d.over && d.at == len(d.in) && d.x == ransLow }
