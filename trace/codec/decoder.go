package codec

import (
	"encoding/binary"
	"errors"
	"math"
)

var (
	errTruncated = errors.New("trace: data ends too early")
	// ErrNumber is the error of a number that is out of range.
	ErrNumber = errors.New("trace: number out of range")
)

// A Decoder reads numbers and strings from the front of Rest. It keeps the first error; after it
// every method returns a zero value.
type Decoder struct {
	Rest    []byte
	Err     error    // the first one
	Strings []string // the table that string indices refer to; nil: strings are inline
	Budget  *Budget  // nil: limited only by the length of the input
	Scratch int64    // bytes taken by Temporary
}

// Temporary takes bytes from the budget for an intermediate list, until Release. It reports false,
// and sets Err, if there is no room for them.
func (d *Decoder) Temporary(bytes int64) bool {
	if !d.Budget.Take(bytes) {
		d.Fail(ErrMemory)
		return false
	}
	d.Scratch += bytes
	return true
}

// Release returns the bytes of Temporary to the budget.
func (d *Decoder) Release() {
	d.Budget.Give(d.Scratch)
	d.Scratch = 0
}

// Fail sets Err if it is nil, and ends the reading.
func (d *Decoder) Fail(err error) {
	if d.Err == nil {
		d.Err = err
	}
	d.Rest = nil
}

// Byte reads a byte.
func (d *Decoder) Byte() byte {
	if len(d.Rest) == 0 {
		d.Fail(errTruncated)
		return 0
	}
	x := d.Rest[0]
	d.Rest = d.Rest[1:]
	return x
}

// Bytes reads n bytes. They are a part of the input, not a copy.
func (d *Decoder) Bytes(n uint64) []byte {
	if n > uint64(len(d.Rest)) {
		d.Fail(errTruncated)
		return nil
	}
	x := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return x
}

// Uint64 reads eight bytes, little endian.
func (d *Decoder) Uint64() uint64 {
	b := d.Bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *Decoder) uint32() uint32 {
	b := d.Bytes(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

// Uvarint reads a varint.
func (d *Decoder) Uvarint() uint64 {
	x, n := binary.Uvarint(d.Rest)
	if n <= 0 {
		if n == 0 {
			d.Fail(errTruncated)
		} else {
			d.Fail(ErrNumber)
		}
		return 0
	}
	d.Rest = d.Rest[n:]
	return x
}

// Varint reads a zigzag varint.
func (d *Decoder) Varint() int64 { return Unzigzag(d.Uvarint()) }

// UvarintUpTo reads a varint; a value above the limit is an error.
func (d *Decoder) UvarintUpTo(limit uint64) uint64 {
	x := d.Uvarint()
	if x > limit {
		d.Fail(ErrNumber)
		return 0
	}
	return x
}

// Int32 reads a zigzag varint of 32 bits.
func (d *Decoder) Int32() int32 {
	x := d.Varint()
	if x < math.MinInt32 || x > math.MaxInt32 {
		d.Fail(ErrNumber)
		return 0
	}
	return int32(x)
}

// Text reads an index into the strings of the section.
func (d *Decoder) Text() string {
	i := d.Uvarint()
	if i >= uint64(len(d.Strings)) {
		d.Fail(ErrNumber)
		return ""
	}
	return d.Strings[i]
}

// Flag reads 0 or 1.
func (d *Decoder) Flag() bool { return d.UvarintUpTo(1) == 1 }

// Int reads a varint up to 2^31 − 1.
func (d *Decoder) Int() int { return int(d.UvarintUpTo(math.MaxInt32)) }

// Length reads the number of elements of a list. Each takes at least one byte in the input and size
// bytes in memory.
func (d *Decoder) Length(size int64) int {
	n := d.Uvarint()
	if n > uint64(len(d.Rest)) {
		d.Fail(errTruncated)
		return 0
	}
	if !d.Budget.Take(int64(n) * size) {
		d.Fail(ErrMemory)
		return 0
	}
	return int(n)
}

// Texts reads a column of n texts.
func (d *Decoder) Texts(n int) []string {
	list := make([]string, n)
	for i, k := range d.Column(n) {
		if k < 0 || k >= int64(len(d.Strings)) {
			d.Fail(ErrNumber)
			break
		}
		list[i] = d.Strings[k]
	}
	return list
}

// Rows reads the number of rows of a table in columns, size bytes each in memory. Unlike Length it
// is bounded only by the budget, not by the input.
func (d *Decoder) Rows(size int64) int {
	n := d.Uvarint()
	if n > math.MaxInt32 || !d.Budget.Take(int64(n)*size) {
		d.Fail(ErrMemory)
		return 0
	}
	return int(n)
}

// RowBytes is taken from the budget for each row of a table. Columns are booked by what they
// contain, but a reader goes through all rows.
const RowBytes = 16

// Zigzag maps integers to unsigned ones so that those near 0 are small.
func Zigzag(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }
