package trace

import (
	"encoding/binary"
	"errors"
	"math"
)

var (
	errTruncated = errors.New("trace: data ends too early")
	errNumber    = errors.New("trace: number out of range")
)

// A decoder takes numbers and strings from the front of b. The first error stays; after it everything is zero.
type decoder struct {
	b       []byte
	err     error
	strings []string // what string indices refer to; nil: strings are in place
	budget  *budget  // nil: no limit but that of the input's length
	scratch int64    // bytes booked for lists that are of no use once what they tell has been put together
}

// temporary books bytes for such a list.
func (d *decoder) temporary(bytes int64) bool {
	if !d.budget.take(bytes) {
		d.fail(errMemory)
		return false
	}
	d.scratch += bytes
	return true
}

// release gives back what was temporary.
func (d *decoder) release() {
	d.budget.give(d.scratch)
	d.scratch = 0
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail(errTruncated)
		return 0
	}
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.fail(errTruncated)
		return nil
	}
	x := d.b[:n:n]
	d.b = d.b[n:]
	return x
}

func (d *decoder) uint64() uint64 {
	b := d.bytes(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

func (d *decoder) uint32() uint32 {
	b := d.bytes(4)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(b)
}

func (d *decoder) uvarint() uint64 {
	x, n := binary.Uvarint(d.b)
	if n <= 0 {
		if n == 0 {
			d.fail(errTruncated)
		} else {
			d.fail(errNumber)
		}
		return 0
	}
	d.b = d.b[n:]
	return x
}

func (d *decoder) varint() int64 { return unzigzag(d.uvarint()) }

func (d *decoder) uvarintUpTo(most uint64) uint64 {
	x := d.uvarint()
	if x > most {
		d.fail(errNumber)
		return 0
	}
	return x
}

func (d *decoder) int32() int32 {
	x := d.varint()
	if x < math.MinInt32 || x > math.MaxInt32 {
		d.fail(errNumber)
		return 0
	}
	return int32(x)
}

func (d *decoder) text() string {
	i := d.uvarint()
	if i >= uint64(len(d.strings)) {
		d.fail(errNumber)
		return ""
	}
	return d.strings[i]
}

func (d *decoder) flag() bool { return d.uvarintUpTo(1) == 1 }
func (d *decoder) int() int   { return int(d.uvarintUpTo(math.MaxInt32)) }

// length is the number of elements of a list whose elements take at least one byte each in the input and size bytes
// in memory.
func (d *decoder) length(size int64) int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail(errTruncated)
		return 0
	}
	if !d.budget.take(int64(n) * size) {
		d.fail(errMemory)
		return 0
	}
	return int(n)
}

func (d *decoder) texts(n int) []string {
	list := make([]string, n)
	for i, k := range d.column(n) {
		if k < 0 || k >= int64(len(d.strings)) {
			d.fail(errNumber)
			break
		}
		list[i] = d.strings[k]
	}
	return list
}

// rows is the number of rows of a table in columns, size bytes each in memory: unlike length it is not bounded by
// the input, only by the budget.
func (d *decoder) rows(size int64) int {
	n := d.uvarint()
	if n > math.MaxInt32 || !d.budget.take(int64(n)*size) {
		d.fail(errMemory)
		return 0
	}
	return int(n)
}

// rowBytes is what is booked for a row of a table: its columns are booked by what they hold, but a reader goes through
// all rows.
const rowBytes = 16

func zigzag(x int64) uint64   { return uint64(x<<1) ^ uint64(x>>63) }
func unzigzag(x uint64) int64 { return int64(x>>1) ^ -int64(x&1) }
