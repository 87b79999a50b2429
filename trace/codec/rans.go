package codec

import (
	"encoding/binary"
	"slices"
)

// An entropy coder of the rANS family (Duda, Asymmetric numeral systems, arXiv:1311.2540, 2013): a state of 32 bits,
// words of 16 bits, probabilities in 2^-15. Reading needs neither division nor loop. What is to be read first is
// written last, so the encoder collects the shares of the symbols before it writes.

const (
	ShareBits  = 15
	ShareTotal = 1 << ShareBits // the places that the symbols share
	RansLow    = 1 << 16        // least state between two symbols, and the state of an encoder that has written nothing
)

// A Share is what a symbol has of the places: from start on, size of them.
type Share struct{ start, size uint16 }

type RansEncoder struct{ Shares []Share }

func (e *RansEncoder) Put(start, size uint32) {
	e.Shares = append(e.Shares, Share{uint16(start), uint16(size)})
}

// Bits puts the n lowest bits of v, the highest first, in groups.
func (e *RansEncoder) Bits(v uint64, n int) {
	for n > 0 {
		k := min(n, ShareBits)
		n -= k
		e.Put(uint32(v>>n)&(1<<k-1)<<(ShareBits-k), 1<<(ShareBits-k))
	}
}

// Finish appends what was put.
func (e *RansEncoder) Finish(to []byte) []byte {
	first := len(to)
	x := uint32(RansLow)
	for _, s := range slices.Backward(e.Shares) {
		size := uint32(s.size)
		if uint64(x) >= uint64(size)<<(32-ShareBits) {
			to = append(to, byte(x>>8), byte(x))
			x >>= 16
		}
		x = x/size<<ShareBits + x%size + uint32(s.start)
	}
	to = append(to, byte(x>>8), byte(x), byte(x>>24), byte(x>>16))
	slices.Reverse(to[first:])
	return to
}

type RansDecoder struct {
	In   []byte
	At   int
	X    uint32
	Over bool // more was read than there is
}

func NewRansDecoder(in []byte) RansDecoder {
	d := RansDecoder{In: in}
	d.word()
	d.word()
	return d
}

func (d *RansDecoder) word() {
	if at := d.At; at+2 <= len(d.In) {
		d.X = d.X<<16 | uint32(binary.LittleEndian.Uint16(d.In[at:]))
		d.At = at + 2
		return
	}
	d.Over = true
	d.X = d.X<<16 | 1
}

// Place is one of those that the next symbol has; take must follow.
func (d *RansDecoder) Place() uint32 { return d.X & (ShareTotal - 1) }

// Take goes on after a symbol.
func (d *RansDecoder) Take(start, size uint32) {
	d.advance(size*(d.X>>ShareBits) + d.X&(ShareTotal-1) - start)
}

// advance sets the state after a symbol, with one more word where it is low.
func (d *RansDecoder) advance(x uint32) {
	at := d.At
	if at+2 > len(d.In) {
		d.AdvanceLast(x)
		return
	}
	// without a branch: whether a word is needed is hard to predict
	more, next := x<<16|uint32(binary.LittleEndian.Uint16(d.In[at:at+2])), at+2
	if x >= RansLow {
		next = at
	}
	if x < RansLow {
		x = more
	}
	d.X, d.At = x, next
}

// AdvanceLast is advance where no word is left.
func (d *RansDecoder) AdvanceLast(x uint32) {
	if d.X = x; x < RansLow {
		d.word()
	}
}

func (d *RansDecoder) Bits(n int) (v uint64) {
	for n > 0 {
		k := min(n, ShareBits)
		n -= k
		v = v<<k | d.group(k)
	}
	return v
}

// group is a symbol of so many bits, 1 to shareBits, all of which have equal shares: there is nothing to multiply.
func (d *RansDecoder) group(n int) uint64 {
	left := uint(ShareBits-n) & 15
	x := d.X
	v := uint64(x & (ShareTotal - 1) >> left)
	x = x>>ShareBits<<left | x&(1<<left-1)
	d.advance(x)
	return v
}

// Ended tells whether all was read that an encoder wrote, and no more.
func (d *RansDecoder) Ended() bool { return !d.Over && d.At == len(d.In) && d.X == RansLow }
