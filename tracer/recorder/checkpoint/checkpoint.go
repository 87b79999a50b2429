package checkpoint

import "encoding/binary"

// An Encoder writes the parts of a checkpoint one after the other.
type Encoder struct{ Buffer []byte }

func (e *Encoder) Uint(v uint64)  { e.Buffer = binary.AppendUvarint(e.Buffer, v) }
func (e *Encoder) Int(v int64)    { e.Buffer = binary.AppendVarint(e.Buffer, v) }
func (e *Encoder) Text(s string)  { e.Uint(uint64(len(s))); e.Buffer = append(e.Buffer, s...) }
func (e *Encoder) Bytes(s []byte) { e.Uint(uint64(len(s))); e.Buffer = append(e.Buffer, s...) }

func (e *Encoder) Bool(v bool) {
	if v {
		e.Buffer = append(e.Buffer, 1)
	} else {
		e.Buffer = append(e.Buffer, 0)
	}
}

// A Decoder reads what an encoder wrote. After a mistake bad is true and every value is zero.
type Decoder struct {
	Rest   []byte
	Failed bool
}

func (d *Decoder) Fail() {
	d.Failed = true
	d.Rest = nil
}

func (d *Decoder) Uint() uint64 {
	v, n := binary.Uvarint(d.Rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

func (d *Decoder) Int() int64 {
	v, n := binary.Varint(d.Rest)
	if n <= 0 {
		d.Fail()
		return 0
	}
	d.Rest = d.Rest[n:]
	return v
}

// Count is a number of things that take at least one byte each.
func (d *Decoder) Count() int {
	n := d.Uint()
	if n > uint64(len(d.Rest)) {
		d.Fail()
		return 0
	}
	return int(n)
}

func (d *Decoder) Bytes() []byte {
	n := d.Count()
	b := d.Rest[:n:n]
	d.Rest = d.Rest[n:]
	return b
}

func (d *Decoder) Text() string { return string(d.Bytes()) }

func (d *Decoder) Bool() bool {
	if len(d.Rest) == 0 {
		d.Fail()
		return false
	}
	v := d.Rest[0]
	d.Rest = d.Rest[1:]
	return v != 0
}
