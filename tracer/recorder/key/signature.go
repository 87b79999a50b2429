package key

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A key is a signature in canonical bytes, written straight from the record:
//
//	uvarint function + flags, uvarint site, varint own rank,
//	return value, in values, out values (in the order of the parameter list),
//	a byte: 1 = creates a communicator
//
// A value is one byte, its form, and the data of that form. Streams are numbered in order of
// appearance, so their numbers are not written. Names are indices into process.json's constants.
const (
	formNewRequest = 0xff // the request that the call creates: its id is not part of the key
	formLocated    = 0xfe // a pointer whose allocation is known: allocation, offset
)

// The flags of a key are added to its function.
const (
	flagUntraced      = 1 << 16 // tracing was off before the call
	flagStatusIgnored = 1 << 17 // MPI_STATUS(ES)_IGNORE was passed
	flagGeneralized   = 1 << 18 // something was left out to save memory (generality.go)
)

func appendForm(key []byte, form trace.Form) []byte { return append(key, byte(form)) }

// appendNumber writes a form and the number that follows it.
func appendNumber(key []byte, form trace.Form, number uint64) []byte {
	return binary.AppendUvarint(append(key, byte(form)), number)
}

func appendInt(key []byte, v int64) []byte {
	return binary.AppendVarint(append(key, byte(trace.Int)), v)
}

func appendName(key []byte, value int32) []byte {
	return appendNumber(key, trace.Name, uint64(-1-value))
}

// appendObject writes the value of a handle or request (package identity).
func appendObject(key []byte, value int32) []byte {
	if value < 0 {
		return appendName(key, value)
	}
	return appendNumber(key, trace.Handle, uint64(value))
}

func appendList(key []byte, n int) []byte { return appendNumber(key, trace.List, uint64(n)) }

func appendText(key []byte, text []byte) []byte {
	return append(appendNumber(key, trace.Text, uint64(len(text))), text...)
}

var errKey = errors.New("malformed signature key")

// A keyScanner reads a key: first the numbers of its head, then its parts.
type keyScanner struct {
	key string
	at  int
	bad bool // the key ends too early
	keyPart
}

// A keyPart is a value of a key. The elements of a list are separate parts that follow it.
type keyPart struct {
	begin  int    // offset of the part in the key; it ends at the position of the scanner
	number uint64 // the number after the form, as encoded; the length of a text or list
	offset uint64 // of a located pointer
}

// int returns the number of an Int or Float.
func (p *keyPart) int() int64 { return signed(p.number) }

// signed decodes a varint to a signed integer.
func signed(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// textOf returns a key for scanning. It shares the bytes of key, which must not change during the
// scan.
func textOf(key []byte) string { return unsafe.String(unsafe.SliceData(key), len(key)) }

// uvarint reads a number. Most have one byte.
func (k *keyScanner) uvarint() uint64 {
	if k.at < len(k.key) && k.key[k.at] < 0x80 {
		k.at++
		return uint64(k.key[k.at-1])
	}
	return k.longUvarint()
}

func (k *keyScanner) longUvarint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64 && k.at < len(k.key); shift += 7 {
		c := k.key[k.at]
		k.at++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	k.fail()
	return 0
}

// fail ends a scan: no parts follow.
func (k *keyScanner) fail() { k.bad, k.at = true, len(k.key) }

// next reads the next part and returns its form; Absent at the end of the key.
func (k *keyScanner) next() trace.Form {
	at := k.at
	k.begin = at
	if at >= len(k.key) {
		k.bad = true
		return trace.Absent
	}
	form := trace.Form(k.key[at])
	at++
	k.at = at
	switch form {
	case trace.Int, trace.Float, trace.Handle, trace.Code, trace.Name:
		if at < len(k.key) && k.key[at] < 0x80 {
			k.number, k.at = uint64(k.key[at]), at+1
		} else {
			k.number = k.longUvarint()
		}
	case formLocated:
		k.number, k.offset = k.uvarint(), k.uvarint()
	case trace.Text, trace.List:
		// every element has at least one byte
		if k.number = k.uvarint(); k.number > uint64(len(k.key)-k.at) {
			k.number = 0
			k.fail()
		}
		if form == trace.Text {
			k.at += int(k.number)
		}
	}
	return form
}

// A keyCopy copies a key and replaces some of its values.
type keyCopy struct {
	keyScanner
	to     []byte
	copied int // length of the key's prefix that was copied or replaced
}

func (c *keyCopy) start(key string) {
	c.key, c.at, c.bad, c.to, c.copied = key, 0, false, c.to[:0], 0
}

// replace writes a form instead of the parts from offset begin up to the scanner.
func (c *keyCopy) replace(begin int, form trace.Form) {
	c.to = appendForm(append(c.to, c.key[c.copied:begin]...), form)
	c.copied = c.at
}

// end copies the rest.
func (c *keyCopy) end() { c.to = append(c.to, c.key[c.copied:]...) }

// A keyReader decodes a key.
type keyReader struct {
	keyScanner
	constants []record.Constant
	request   int32
	streams   int64
}

func (r *keyReader) stream(form trace.Form) trace.Value {
	r.streams++
	return trace.Value{Form: form, Int: r.streams - 1}
}

const maxValueDepth = 4 // argument lists are lists of lists of texts

func (r *keyReader) value(depth int) trace.Value {
	form := r.next()
	if r.bad || depth > maxValueDepth {
		r.fail()
		return trace.Value{}
	}
	switch form {
	case formNewRequest:
		return trace.Value{Form: trace.Handle, Int: int64(r.request)}
	case formLocated:
		return trace.Value{Form: trace.Pointer, Int: int64(r.number) + 1, Offset: int64(r.offset)}
	case trace.Absent, trace.Null, trace.Pointer:
		return trace.Value{Form: form}
	case trace.Int, trace.Float:
		return trace.Value{Form: form, Int: r.int()}
	case trace.Handle, trace.Code:
		return trace.Value{Form: form, Int: int64(r.number)}
	case trace.Name:
		if r.number < uint64(len(r.constants)) {
			return trace.Value{Form: form, Text: r.constants[r.number].Name}
		}
	case trace.Text:
		return trace.Value{Form: form, Text: r.key[r.at-int(r.number) : r.at]}
	case trace.List:
		list := make([]trace.Value, r.number)
		for i := range list {
			list[i] = r.value(depth + 1)
		}
		return trace.Value{Form: form, List: list}
	case trace.Status:
		list := make([]trace.Value, values.StatusFields)
		for i := range list {
			list[i] = r.stream(trace.Stream)
		}
		return trace.Value{Form: form, List: list}
	case trace.Stream, trace.ListStream:
		return r.stream(form)
	}
	r.fail()
	return trace.Value{}
}

// decode returns the signature of a terminal.
func (t *terminal) decode(constants []record.Constant) (trace.Signature, error) {
	r := keyReader{keyScanner: keyScanner{key: t.key}, constants: constants, request: t.request}
	function := r.uvarint()
	s := trace.Signature{
		Function: uint16(function), Site: uint32(r.uvarint()), OwnRank: int32(signed(r.uvarint())),
		Untraced: function&flagUntraced != 0, StatusIgnored: function&flagStatusIgnored != 0, Generalized: function&flagGeneralized != 0,
	}
	l := layoutFor(s.Function)
	if l == nil {
		// the creator of requests of unknown origin has no signature; nothing refers to its
		// terminal
		return s, errKey
	}
	s.Return = r.value(0)
	for range l.inputs {
		s.In = append(s.In, r.value(0))
	}
	for range l.fields[l.inputs:] {
		s.Out = append(s.Out, r.value(0))
	}
	if r.uvarint() == 1 {
		s.Communicator = r.stream(trace.Stream)
	}
	if r.bad || r.at < len(r.key) {
		return s, errKey
	}
	return s, nil
}

// functionOf returns the description of a function for the trace.
func functionOf(f *mpi.Function) trace.Function {
	t := trace.Function{ID: f.ID, Name: f.Name, Class: string(f.Class), Return: f.ReturnType}
	for i := range f.Params {
		p := &f.Params[i]
		t.Parameters = append(t.Parameters, trace.Parameter{
			Name: p.Name, Kind: p.Kind.String(), Direction: trace.In + trace.Direction(p.Direction), List: p.IsArray(),
		})
	}
	return t
}
