package recorder

import (
	"encoding/binary"
	"io"
)

// A column is a sequence of signed numbers as varints.
type column struct {
	spill
	n uint64
}

func (c *column) push(v int64) {
	piece := c.room(binary.MaxVarintLen64)
	*piece = binary.AppendVarint(*piece, v)
	c.n++
}

// values expands the column; f has what is not in memory.
func (c *column) values(f io.ReaderAt) ([]int64, error) {
	b, err := c.bytes(f)
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, min(c.n, uint64(len(b))))
	for len(b) > 0 {
		v, i := binary.Varint(b)
		if i <= 0 {
			return nil, errCheckpoint
		}
		out = append(out, v)
		b = b[i:]
	}
	if uint64(len(out)) != c.n {
		return nil, errCheckpoint
	}
	return out, nil
}
