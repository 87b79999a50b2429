package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// The encoding of a signature, used as its key and, with strings replaced by references to a
// table, in the file (docs/format.md, "Signatures"):
//
//	function + 65536 where the time before it was not traced + 131072 where the program ignores the statuses + 262144 where the
//	recorder generalized, site (varints), own rank (zigzag varint), return value,
//	number of In values and the values, number of Out values and the values, communicator
//
// A value is one byte, the form in its low four bits and a small number x in its high ones, then, if x is 15, a varint
// of x − 15. x is the zigzag form of Int, the length of Text, or the number of elements of List; Float is always
// followed by its eight bytes. Fields that a form does not use are not encoded: equal signatures have equal bytes
// because no form has two encodings. After x, a Pointer with a segment (x > 0) has its offset as a zigzag varint.

const (
	formBits  = 4
	formMask  = 1<<formBits - 1
	smallMost = 15 // a small number up to 14 fits into the byte of the form

	// maxValueDepth bounds nested lists: a list of statuses has depth 2.
	maxValueDepth = 8

	// untracedBit is added to the function of a signature that is Untraced.
	untracedBit = 1 << 16
	// statusIgnoredBit is added to the function of a signature with StatusIgnored.
	statusIgnoredBit = 1 << 17
	// generalizedBit is added to the function of a signature that is Generalized.
	generalizedBit = 1 << 18
)

// valueBytes is what a value takes in memory.
const valueBytes = int64(unsafe.Sizeof(Value{}))

var errSignature = errors.New("trace: damaged signature")

// AppendSignature appends the canonical encoding of s: two signatures are equal if and only if their bytes are.
func AppendSignature(b []byte, s *Signature) []byte {
	return appendSignature(b, s, nil)
}

// appendSignature writes strings in full, or, with a table, as indices.
func appendSignature(b []byte, s *Signature, strings *codec.StringTable) []byte {
	function := uint64(s.Function)
	if s.Untraced {
		function |= untracedBit
	}
	if s.StatusIgnored {
		function |= statusIgnoredBit
	}
	if s.Generalized {
		function |= generalizedBit
	}
	b = binary.AppendUvarint(b, function)
	b = binary.AppendUvarint(b, uint64(s.Site))
	b = binary.AppendVarint(b, int64(s.OwnRank))
	b = appendValue(b, &s.Return, strings)
	b = binary.AppendUvarint(b, uint64(len(s.In)))
	for i := range s.In {
		b = appendValue(b, &s.In[i], strings)
	}
	b = binary.AppendUvarint(b, uint64(len(s.Out)))
	for i := range s.Out {
		b = appendValue(b, &s.Out[i], strings)
	}
	return appendValue(b, &s.Communicator, strings)
}

func appendValue(b []byte, v *Value, strings *codec.StringTable) []byte {
	switch v.Form {
	case Absent, Null:
		return append(b, byte(v.Form))
	case Pointer:
		b = appendSmall(b, v.Form, uint64(v.Int))
		if v.Int > 0 {
			b = binary.AppendVarint(b, v.Offset)
		}
		return b
	case Int, Handle, Stream, ListStream, RankOffset, Code, Column:
		return appendSmall(b, v.Form, codec.Zigzag(v.Int))
	case Elastic:
		b = appendSmall(b, v.Form, uint64(v.Int))
		b = binary.AppendUvarint(b, uint64(len(v.List)))
		for i := range v.List {
			b = appendValue(b, &v.List[i], strings)
		}
		return b
	case Float:
		return binary.LittleEndian.AppendUint64(append(b, byte(v.Form)), uint64(v.Int))
	case Text, Name:
		if strings != nil {
			return appendSmall(b, v.Form, uint64(strings.Index(v.Text)))
		}
		return append(appendSmall(b, v.Form, uint64(len(v.Text))), v.Text...)
	case List, Status:
		b = appendSmall(b, v.Form, uint64(len(v.List)))
		for i := range v.List {
			b = appendValue(b, &v.List[i], strings)
		}
		return b
	}
	panic(fmt.Sprintf("trace: value of unknown form %d", v.Form))
}

func appendSmall(b []byte, form Form, x uint64) []byte {
	if x < smallMost {
		return append(b, byte(form)|byte(x)<<formBits)
	}
	return binary.AppendUvarint(append(b, byte(form)|smallMost<<formBits), x-smallMost)
}

func (d *decoder) signature() Signature {
	var s Signature
	function := d.UvarintUpTo(generalizedBit | statusIgnoredBit | untracedBit | math.MaxUint16)
	s.Function, s.Untraced, s.StatusIgnored = uint16(function), function&untracedBit != 0, function&statusIgnoredBit != 0
	s.Generalized = function&generalizedBit != 0
	s.Site = uint32(d.UvarintUpTo(math.MaxUint32))
	s.OwnRank = d.Int32()
	s.Return = d.value(0)
	s.In = d.values(d.Uvarint(), 0)
	s.Out = d.values(d.Uvarint(), 0)
	s.Communicator = d.value(0)
	return s
}

func (d *decoder) values(n uint64, depth int) []Value {
	if n == 0 || d.Err != nil {
		return nil
	}
	if n > uint64(len(d.Rest)) { // a value has at least one byte
		d.Fail(errSignature)
		return nil
	}
	if !d.Budget.Take(int64(n) * valueBytes) {
		d.Fail(codec.ErrMemory)
		return nil
	}
	values := make([]Value, n)
	for i := range values {
		values[i] = d.value(depth)
	}
	return values
}

func (d *decoder) value(depth int) Value {
	head := d.Byte()
	v := Value{Form: Form(head & formMask)}
	x := uint64(head >> formBits)
	if x == smallMost {
		x = d.Uvarint()
		if x > math.MaxUint64-smallMost {
			d.Fail(errSignature)
		}
		x += smallMost
	}
	switch v.Form {
	case Pointer:
		if x > math.MaxInt32 {
			d.Fail(errSignature)
		}
		if v.Int = int64(x); x > 0 {
			v.Offset = d.Varint()
		}
	case Absent, Null, Float:
		if x != 0 {
			d.Fail(errSignature)
		}
		if v.Form == Float {
			v.Int = int64(d.Uint64())
		}
	case Int, Handle, Stream, ListStream, RankOffset, Code, Column:
		v.Int = codec.Unzigzag(x)
	case Elastic:
		if v.Int = int64(x); v.Int < 0 || depth == maxValueDepth {
			d.Fail(errSignature)
			return v
		}
		v.List = d.values(d.Uvarint(), depth+1)
	case Text, Name:
		if d.Strings != nil {
			if x >= uint64(len(d.Strings)) {
				d.Fail(errSignature)
				return v
			}
			v.Text = d.Strings[x]
		} else {
			v.Text = string(d.Bytes(x))
		}
	case List, Status:
		if depth == maxValueDepth {
			d.Fail(errSignature)
			return v
		}
		v.List = d.values(x, depth+1)
	default:
		d.Fail(errSignature)
	}
	return v
}
