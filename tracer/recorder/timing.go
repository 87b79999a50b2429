package recorder

import "encoding/binary"

// A column is a sequence of signed numbers as varints, in pieces so that growing never copies.
type column struct {
	pieces [][]byte
	n      uint64
}

const pieceBytes = 64 << 10

func (c *column) push(v int64) {
	k := len(c.pieces)
	if k == 0 || cap(c.pieces[k-1])-len(c.pieces[k-1]) < binary.MaxVarintLen64 {
		size := pieceBytes
		if k == 0 {
			size = 1 << 10 // most threads of most tests are short
		}
		c.pieces = append(c.pieces, make([]byte, 0, size))
		k++
	}
	c.pieces[k-1] = binary.AppendVarint(c.pieces[k-1], v)
	c.n++
}

func (c *column) bytes() int {
	n := 0
	for _, p := range c.pieces {
		n += len(p)
	}
	return n
}

func (c *column) values() []int64 {
	out := make([]int64, 0, c.n)
	for _, p := range c.pieces {
		for len(p) > 0 {
			v, i := binary.Varint(p)
			if i <= 0 {
				break
			}
			out = append(out, v)
			p = p[i:]
		}
	}
	return out
}

// decodeColumn reads the concatenated pieces of a column of n numbers.
func decodeColumn(b []byte, n uint64) (column, bool) {
	var have uint64
	for _, c := range b {
		if c < 0x80 {
			have++
		}
	}
	if have != n || len(b) > 0 && b[len(b)-1] >= 0x80 {
		return column{}, false
	}
	c := column{n: n}
	if len(b) > 0 {
		c.pieces = [][]byte{b[:len(b):len(b)]}
	}
	return c, true
}
