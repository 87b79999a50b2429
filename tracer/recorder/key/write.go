package key

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// write writes the key of a call up to its last byte: function, call site, own rank, result,
// fields.
func (t *Table) write(key []byte, c *Call, address, result uint64) []byte {
	function := uint64(c.spec.ID)
	if c.untraced {
		function |= flagUntraced
	}
	if c.ignoresStatus() {
		function |= flagStatusIgnored
	}
	key = binary.AppendUvarint(key, function)
	key = binary.AppendUvarint(key, uint64(t.sites.Of(address)))
	key = binary.AppendVarint(key, int64(c.own))
	key = t.result(key, c, result)
	for i := range c.fields {
		if i == c.inputs {
			t.objects.Requests.Begin(c.thread)
		}
		switch f := &c.fields[i]; {
		case i >= c.known || f.buffer >= c.known:
			// MPI_IN_PLACE as an output-only buffer is recorded after the call
			key = appendForm(key, trace.Absent)
		case f.plain: // the usual case
			key = t.word(key, f.kind, c.words[c.at[i]], mpi.EffectNone)
		default:
			key = t.field(key, c, i)
		}
	}
	return key
}

// result writes the return value of the function: success, or an error code by its name. The codes
// that MPICH makes up differ between calls and ranks, so they go to a stream and calls that fail
// alike share a terminal.
func (t *Table) result(key []byte, c *Call, word uint64) []byte {
	switch {
	case c.left:
		return appendForm(key, trace.Null)
	case c.open:
		return appendForm(key, trace.Absent)
	case c.returns == values.Word:
		c.Values.Push(int64(word))
		return appendForm(key, trace.Stream)
	case c.spec.Return != mpi.KindErrorCode:
		return t.word(key, c.spec.Return, word, mpi.EffectNone)
	case int32(word) == 0:
		return appendInt(key, 0)
	}
	code := int64(int32(word))
	if v, ok := t.objects.Constant(mpi.KindErrorCode, uint64(code)); ok {
		return appendName(key, v)
	}
	c.Values.Push(code)
	return appendForm(key, trace.Stream)
}

// field writes a field.
func (t *Table) field(key []byte, c *Call, i int) []byte {
	f := &c.fields[i]
	switch {
	case t.isIgnored(c, f):
		return appendForm(key, trace.Absent)
	case f.kind == mpi.KindBuffer:
		// an address is defined even if the call failed
		return t.word(key, f.kind, c.words[c.at[i]], mpi.EffectNone)
	case f.ends:
		return t.endable(key, c, i)
	case c.failed && f.effect == mpi.EffectCompleted:
		return t.afterFailure(key, c, i)
	case c.failed && f.out, f.effect == mpi.EffectCompleted:
		return appendForm(key, trace.Absent) // it follows from the rest of the call (identity, "Requests")
	case f.form != values.None:
		return t.streams(key, c, i)
	case !c.defined(f):
		return appendForm(key, trace.Absent)
	case i == c.newRequest:
		raw := c.words[c.at[i]]
		if _, null := t.objects.Requests.Null(raw); null {
			break
		}
		c.request, c.creates = raw, true
		return append(key, formNewRequest)
	case i == c.newComm:
		v := t.objects.Create(f.kind, c.words[c.at[i]])
		if v >= 0 {
			c.newID = v
		}
		return appendObject(key, v)
	}
	rd := c.reader(i)
	return t.value(key, f, f.shape, &rd)
}

// isIgnored reports whether a parameter is ignored: at other ranks than the root, or because a
// buffer is MPI_IN_PLACE.
func (t *Table) isIgnored(c *Call, f *field) bool {
	if f.spec.RootOnly && !c.atRoot {
		return true
	}
	if f.buffer == none {
		return false
	}
	v, ok := t.objects.Constant(mpi.KindBuffer, c.words[c.at[f.buffer]])
	return ok && t.constants[-1-v].Name == "MPI_IN_PLACE"
}

// streams gives the values of a field to the streams of the signature.
func (t *Table) streams(key []byte, c *Call, i int) []byte {
	f := &c.fields[i]
	e := c.elements(i)
	if e.special != 0 && f.form == values.List {
		return t.special(key, f.kind, e.special, e.sentinel)
	}
	c.Values.Add(f.form, e.words)
	switch f.form {
	case values.Word:
		return appendForm(key, trace.Stream)
	case values.Statuses:
		n := len(e.words) / record.StatusWords
		if f.shape == shapeStatuses {
			key = appendList(key, n)
		}
		for range n {
			key = appendForm(key, trace.Status)
		}
		return key
	}
	return appendForm(key, trace.ListStream)
}

// value writes what is next in the record: a value of a field, or an element of one, of this shape.
func (t *Table) value(key []byte, f *field, s shape, rd *record.Reader) []byte {
	switch s {
	case shapeArray:
		elements, special, sentinel := rd.Array()
		if special != 0 {
			return t.special(key, f.kind, special, sentinel)
		}
		key = appendList(key, len(elements))
		for _, e := range elements {
			key = t.word(key, f.kind, e, f.effect)
		}
		return key
	case shapeString:
		text, special, sentinel := rd.Text()
		if special != 0 {
			return t.special(key, mpi.KindString, special, sentinel)
		}
		return appendText(key, text)
	case shapeStrings, shapeArgumentLists:
		n := int64(rd.Word())
		if n < 0 {
			var sentinel uint64
			if n == record.LengthSentinel {
				sentinel = rd.Word()
			}
			return t.special(key, kindOfList[s], int(n), sentinel)
		}
		key = appendList(key, int(n))
		for range n {
			key = t.value(key, f, elementOf[s], rd)
		}
		return key
	}
	return t.word(key, f.kind, rd.Word(), f.effect)
}

// special writes what replaces an array: null or a pointer constant.
func (t *Table) special(key []byte, kind mpi.Kind, special int, sentinel uint64) []byte {
	switch special {
	case record.LengthSentinel:
		if v, ok := t.objects.Sentinel(kind, sentinel); ok {
			return appendName(key, v)
		}
		return appendForm(key, trace.Pointer)
	case record.LengthNull:
		return appendForm(key, trace.Null)
	}
	return appendForm(key, trace.Absent)
}

// word writes one word by its kind.
func (t *Table) word(key []byte, kind mpi.Kind, w uint64, effect mpi.Effect) []byte {
	if t.objects.Dense(kind) {
		v, ok := t.objects.Known(kind, w)
		switch {
		case !ok && w == 0:
			return appendForm(key, trace.Null)
		case !ok, effect == mpi.EffectNew:
			v = t.objects.Create(kind, w)
		}
		return appendObject(key, v)
	}
	switch kind {
	case mpi.KindRequest:
		return appendObject(key, t.objects.Requests.Resolve(w))
	case mpi.KindDouble:
		return binary.AppendVarint(append(key, byte(trace.Float)), int64(w))
	}
	if v, ok := t.objects.Constant(kind, w); ok {
		return appendName(key, v)
	}
	if identity.IsAddress(kind) {
		return t.address(key, kind, w)
	}
	return appendInt(key, int64(w))
}

// address writes an address that is no constant: a function of the program with its call site, a
// pointer with its allocation if the shim has located it.
func (t *Table) address(key []byte, kind mpi.Kind, w uint64) []byte {
	if w == 0 {
		return appendForm(key, trace.Null)
	}
	if kind == mpi.KindFunction {
		// lookups expect a return address, which is behind the call: w + 1 finds the function's
		// first byte
		if site := t.sites.Of(w + 1); site > 0 {
			return appendNumber(key, trace.Code, uint64(site))
		}
	}
	if number := w >> record.AllocationShift & record.AllocationMask; record.IsEntry(w) && t.sites.Allocation(number) != nil {
		return binary.AppendUvarint(appendNumber(key, formLocated, number), w&record.OffsetMask)
	}
	return appendForm(key, trace.Pointer)
}

// endable writes requests that the call may end, and remembers their ids.
func (t *Table) endable(key []byte, c *Call, i int) []byte {
	e := c.elements(i)
	if e.special != 0 {
		return t.special(key, mpi.KindRequest, e.special, 0)
	}
	if c.fields[i].shape == shapeArray {
		key = appendList(key, len(e.words))
	}
	for _, raw := range e.words {
		v := t.objects.Requests.Resolve(raw)
		c.named = append(c.named, v)
		key = appendObject(key, v)
	}
	return key
}

// afterFailure writes the state of the requests after a call that failed. Nothing else shows
// whether the call completed some of them.
func (t *Table) afterFailure(key []byte, c *Call, i int) []byte {
	after := c.elements(i).words
	if c.fields[i].shape == shapeArray {
		key = appendList(key, len(after))
	}
	for k, raw := range after {
		null, ended := t.objects.Requests.Null(raw)
		switch {
		case ended:
			key = appendName(key, null)
		case k < len(c.named) && c.named[k] >= 0:
			key = appendObject(key, c.named[k])
		default:
			key = appendForm(key, trace.Absent)
		}
	}
	return key
}
