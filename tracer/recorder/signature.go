package recorder

import (
	"encoding/binary"
	"errors"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A key is a signature in canonical bytes, written straight from the record:
//
//	uvarint function (+ untracedKey), uvarint site, varint own rank,
//	return value, in values, out values (in the order of the parameter list), a byte: 1 = creates a communicator
//
// A value is one byte, its form, and the data of that form. Streams are numbered in order of appearance, so their numbers
// are not written. Names are indices into process.json's constants.
const (
	formNewRequest = 0xff    // the request that the call creates: its id is not part of the key
	formLocated    = 0xfe    // a pointer whose allocation is known: allocation, offset
	untracedKey    = 1 << 16 // added to the function if tracing was off before the call
)

func appendForm(key []byte, form trace.Form) []byte { return append(key, byte(form)) }

func appendInt(key []byte, v int64) []byte {
	return binary.AppendVarint(append(key, byte(trace.Int)), v)
}

func appendName(key []byte, value int32) []byte {
	return binary.AppendUvarint(append(key, byte(trace.Name)), uint64(-1-value))
}

func appendHandle(key []byte, id int32) []byte {
	return binary.AppendUvarint(append(key, byte(trace.Handle)), uint64(id))
}

func appendCode(key []byte, site int32) []byte {
	return binary.AppendUvarint(append(key, byte(trace.Code)), uint64(site))
}

func appendText(key []byte, text []byte) []byte {
	key = binary.AppendUvarint(append(key, byte(trace.Text)), uint64(len(text)))
	return append(key, text...)
}

// pointer writes an address, with its allocation if the shim has located it.
func (r *Recorder) pointer(key []byte, word uint64) []byte {
	if number := word >> record.AllocationShift & record.AllocationMask; record.IsEntry(word) && r.sites.allocation(number) != nil {
		key = binary.AppendUvarint(append(key, formLocated), number)
		return binary.AppendUvarint(key, word&record.OffsetMask)
	}
	return appendForm(key, trace.Pointer)
}

func appendList(key []byte, n int) []byte {
	return binary.AppendUvarint(append(key, byte(trace.List)), uint64(n))
}

// A terminal is one entry of the call signature table.
type terminal struct {
	key     string
	request int32 // id of the request that the call creates, −1: none
}

// signatures is the call signature table of the process.
type signatures struct {
	byKey     map[string]int32 // keys without a new request
	terminals []terminal
	keyBytes  int // approximate size of all keys
}

func newSignatures() *signatures { return &signatures{byKey: map[string]int32{}} }

func (s *signatures) terminal(key []byte) int32 {
	if t, ok := s.byKey[string(key)]; ok {
		return t
	}
	k := string(key)
	t := s.add(k, none)
	s.byKey[k] = t
	s.keyBytes += len(k) + textBytes
	return t
}

func (s *signatures) add(key string, request int32) int32 {
	s.terminals = append(s.terminals, terminal{key: key, request: request})
	return int32(len(s.terminals) - 1)
}

var errKey = errors.New("malformed signature key")

// A keyReader decodes a key.
type keyReader struct {
	b         string
	constants []record.Constant
	request   int32
	streams   int64
	bad       bool
}

func (r *keyReader) uvarint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		if len(r.b) == 0 {
			break
		}
		c := r.b[0]
		r.b = r.b[1:]
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.bad = true
	return 0
}

func (r *keyReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *keyReader) stream(form trace.Form) trace.Value {
	r.streams++
	return trace.Value{Form: form, Int: r.streams - 1}
}

const maxValueDepth = 4 // argument lists are lists of lists of texts

func (r *keyReader) value(depth int) trace.Value {
	if len(r.b) == 0 || depth > maxValueDepth {
		r.bad = true
		return trace.Value{}
	}
	form := r.b[0]
	r.b = r.b[1:]
	if form == formNewRequest {
		return trace.Value{Form: trace.Handle, Int: int64(r.request)}
	}
	if form == formLocated {
		return trace.Value{Form: trace.Pointer, Int: int64(r.uvarint()) + 1, Offset: int64(r.uvarint())}
	}
	switch f := trace.Form(form); f {
	case trace.Absent, trace.Null, trace.Pointer:
		return trace.Value{Form: f}
	case trace.Int, trace.Float:
		return trace.Value{Form: f, Int: r.varint()}
	case trace.Handle, trace.Code:
		return trace.Value{Form: f, Int: int64(r.uvarint())}
	case trace.Name:
		if i := r.uvarint(); i < uint64(len(r.constants)) {
			return trace.Value{Form: f, Text: r.constants[i].Name}
		}
	case trace.Text:
		if n := r.uvarint(); n <= uint64(len(r.b)) {
			text := r.b[:n]
			r.b = r.b[n:]
			return trace.Value{Form: f, Text: text}
		}
	case trace.List:
		n := r.uvarint()
		if n > uint64(len(r.b)) { // every element takes at least a byte
			break
		}
		list := make([]trace.Value, n)
		for i := range list {
			list[i] = r.value(depth + 1)
		}
		return trace.Value{Form: f, List: list}
	case trace.Status:
		list := make([]trace.Value, statusFields)
		for i := range list {
			list[i] = r.stream(trace.Stream)
		}
		return trace.Value{Form: f, List: list}
	case trace.Stream, trace.ListStream:
		return r.stream(f)
	}
	r.bad = true
	return trace.Value{}
}

// statusFields are source, tag, error, cancelled, bytes.
const statusFields = 5

// decode returns the signature of a terminal.
func (t terminal) decode(constants []record.Constant) (trace.Signature, error) {
	r := keyReader{b: t.key, constants: constants, request: t.request}
	function := r.uvarint()
	s := trace.Signature{Function: uint16(function), Untraced: function&untracedKey != 0, StatusIgnored: function&statusIgnored != 0, Generalized: function&generalizedKey != 0, Site: uint32(r.uvarint()), OwnRank: int32(r.varint())}
	l := layoutFor(s.Function)
	if l == nil {
		// the creator of requests of unknown origin has no signature; nothing refers to its terminal
		return s, errKey
	}
	s.Return = r.value(0)
	for i := range l.params {
		if l.params[i].in {
			s.In = append(s.In, r.value(0))
		}
	}
	for i := range l.params {
		if l.params[i].out {
			s.Out = append(s.Out, r.value(0))
		}
	}
	if r.uvarint() == 1 {
		s.Communicator = r.stream(trace.Stream)
	}
	if r.bad || r.b != "" {
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
			Name: p.Name, Kind: p.Kind.String(), Direction: directions[p.Direction], List: p.IsArray(),
		})
	}
	return t
}

var directions = map[mpi.Direction]trace.Direction{
	mpi.In: trace.In, mpi.Out: trace.Out, mpi.InOut: trace.InOut,
}
