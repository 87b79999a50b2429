package checkpoint

import "encoding/binary"

// An Encoder appends the parts of a checkpoint to Buffer.
type Encoder struct{ Buffer []byte }

// Uint writes an unsigned number.
func (e *Encoder) Uint(v uint64) { e.Buffer = binary.AppendUvarint(e.Buffer, v) }

// Int writes a signed number.
func (e *Encoder) Int(v int64) { e.Buffer = binary.AppendVarint(e.Buffer, v) }

// Text writes a text with its length.
func (e *Encoder) Text(s string) { e.Bytes([]byte(s)) }

// Bytes writes bytes with their number.
func (e *Encoder) Bytes(s []byte) { e.Uint(uint64(len(s))); e.Buffer = append(e.Buffer, s...) }

// Bool writes a truth value.
func (e *Encoder) Bool(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	e.Uint(n)
}

// A Decoder reads the output of an Encoder. After an error Failed is true and every value is zero.
type Decoder struct {
	Rest   []byte
	Failed bool
}

// Fail marks the input as malformed.
func (d *Decoder) Fail() {
	d.Failed = true
	d.Rest = nil
}

// Uint reads what Encoder.Uint wrote.
func (d *Decoder) Uint() uint64 { return number(d, binary.Uvarint) }

// Int reads what Encoder.Int wrote.
func (d *Decoder) Int() int64 { return number(d, binary.Varint) }

func number[T int64 | uint64](d *Decoder, read func([]byte) (T, int)) T {
	v, n := read(d.Rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

// Count reads the number of elements that take at least one byte each.
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.Rest)) {
		d.Fail()
		return 0
	}
	return int(n)
}

// Bytes reads what Encoder.Bytes wrote. The result is a part of the input, not a copy.
func (d *Decoder) Bytes() []byte {
	n := d.Count()
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

// Text reads what Encoder.Text wrote.
func (d *Decoder) Text() string { return string(d.Bytes()) }

// Bool reads what Encoder.Bool wrote.
func (d *Decoder) Bool() bool { return d.Uint() != 0 }
