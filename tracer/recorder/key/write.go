package key

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/callsite"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A valueWriter writes values in the form that they have in keys.
type valueWriter struct {
	constants []record.Constant
	objects   *identity.Objects
	sites     *callsite.Table
}

// result writes the return value of the function: success, or an error code by its name. The codes
// that MPICH makes up differ between calls and ranks, so they go to a stream and calls that fail
// alike share a terminal.
func (wr *valueWriter) result(key []byte, c *Call, word uint64) []byte {
	switch {
	case c.returnSlot == inStream:
		c.Values.Push(int64(word))
		return appendForm(key, trace.Stream)
	case c.errorCode && int32(word) == 0:
		return appendInt(key, 0)
	case c.errorCode:
		code := int64(int32(word))
		if v, ok := wr.objects.Constant(mpi.KindErrorCode, uint64(code)); ok {
			return appendName(key, v)
		}
		c.Values.Push(code)
		return appendForm(key, trace.Stream)
	}
	return wr.word(key, c.spec.Return, word, mpi.EffectNone)
}

// inValue writes a parameter's value before the call.
func (wr *valueWriter) inValue(key []byte, c *Call, i int) []byte {
	p := &c.params[i]
	if p.spec.RootOnly && !c.atRoot || wr.inPlace(c, p) {
		return appendForm(key, trace.Absent)
	}
	rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
	if endsRequest(p.spec) {
		return wr.endable(key, c, p, &rd)
	}
	// only the out value creates or frees; on entry a handle is just used
	return wr.value(key, c, p, p.inSlot, &rd, mpi.EffectNone)
}

// outValue writes a parameter's value after the call.
func (wr *valueWriter) outValue(key []byte, c *Call, i int) []byte {
	p := &c.params[i]
	rd := record.Reader{Words: c.words, At: int(c.out[i]), OK: true}
	switch {
	case p.spec.RootOnly && !c.atRoot, wr.inPlace(c, p):
		return appendForm(key, trace.Absent)
	case p.kind == mpi.KindBuffer:
		// an address is defined even if the call failed
		return wr.word(key, p.kind, rd.Word(), mpi.EffectNone)
	case c.failed && p.spec.Effect == mpi.EffectCompleted:
		return wr.afterFailure(key, c, p, &rd)
	case c.failed, p.outSlot == leftOut:
		return appendForm(key, trace.Absent)
	case p.outSlot == inSignatureIf && !c.defined(p):
		return appendForm(key, trace.Absent)
	case p.outSlot == inStatusList && p.shape == shapeStatus:
		return statusIf(key, c, c.defined(p), &rd)
	case i == c.newRequest:
		raw := rd.Word()
		if _, null := wr.objects.Requests.Null(raw); null {
			return wr.word(key, p.kind, raw, mpi.EffectNone)
		}
		c.request, c.creates = raw, true
		return append(key, formNewRequest)
	case i == c.newComm:
		raw := rd.Word()
		v := wr.objects.Create(p.kind, raw)
		if v >= 0 {
			c.newID = v
		}
		return appendObject(key, v)
	}
	return wr.value(key, c, p, p.outSlot, &rd, p.spec.Effect)
}

// inPlace reports whether a parameter is ignored because a buffer is MPI_IN_PLACE.
func (wr *valueWriter) inPlace(c *Call, p *parameter) bool {
	if p.spec.UnlessInPlace == 0 {
		return false
	}
	i := p.spec.UnlessInPlace - 1
	at := c.in[i]
	if !c.params[i].in {
		at = c.out[i]
	}
	v, ok := wr.objects.Constant(mpi.KindBuffer, c.words[at])
	return ok && wr.constants[-1-v].Name == "MPI_IN_PLACE"
}

// value writes a parameter by its slot.
func (wr *valueWriter) value(key []byte, c *Call, p *parameter, where slot, rd *record.Reader, effect mpi.Effect) []byte {
	switch where {
	case inStream:
		c.Values.Push(int64(rd.Word()))
		return appendForm(key, trace.Stream)
	case inList:
		elements, special, sentinel := rd.Array()
		if special != 0 {
			return wr.special(key, p.kind, special, sentinel)
		}
		c.Values.PushList(elements)
		return appendForm(key, trace.ListStream)
	case inStatus:
		rd.Word() // whether the application ignored it
		c.Values.PushStatuses(rd.Take(record.StatusWords))
		return appendForm(key, trace.Status)
	case inStatuses, inStatusList:
		return statuses(key, c, where, rd)
	}
	switch p.shape {
	case shapeArray:
		elements, special, sentinel := rd.Array()
		if special != 0 {
			return wr.special(key, p.kind, special, sentinel)
		}
		key = appendList(key, len(elements))
		for _, e := range elements {
			key = wr.word(key, p.kind, e, effect)
		}
		return key
	case shapeString:
		return wr.text(key, rd)
	case shapeStrings:
		return wr.texts(key, rd)
	case shapeArgumentLists:
		n := int64(rd.Word())
		if n < 0 {
			return wr.specialLength(key, p.kind, n, rd)
		}
		key = appendList(key, int(n))
		for range n {
			key = wr.texts(key, rd)
		}
		return key
	}
	return wr.word(key, p.kind, rd.Word(), effect)
}

func (wr *valueWriter) text(key []byte, rd *record.Reader) []byte {
	text, special, sentinel := rd.Text()
	if special != 0 {
		return wr.special(key, mpi.KindString, special, sentinel)
	}
	return appendText(key, text)
}

func (wr *valueWriter) texts(key []byte, rd *record.Reader) []byte {
	n := int64(rd.Word())
	if n < 0 {
		return wr.specialLength(key, mpi.KindStrings, n, rd)
	}
	key = appendList(key, int(n))
	for range n {
		key = wr.text(key, rd)
	}
	return key
}

func (wr *valueWriter) specialLength(key []byte, kind mpi.Kind, n int64, rd *record.Reader) []byte {
	var sentinel uint64
	if n == record.LengthSentinel {
		sentinel = rd.Word()
	}
	return wr.special(key, kind, int(n), sentinel)
}

// special writes what replaces an array: null or a pointer constant.
func (wr *valueWriter) special(key []byte, kind mpi.Kind, special int, sentinel uint64) []byte {
	switch special {
	case record.LengthSentinel:
		if v, ok := wr.objects.Sentinel(kind, sentinel); ok {
			return appendName(key, v)
		}
		return appendForm(key, trace.Pointer)
	case record.LengthNull:
		return appendForm(key, trace.Null)
	}
	return appendForm(key, trace.Absent)
}

// word writes one word by its kind.
func (wr *valueWriter) word(key []byte, kind mpi.Kind, w uint64, effect mpi.Effect) []byte {
	if wr.objects.Dense(kind) {
		v, ok := wr.objects.Known(kind, w)
		switch {
		case !ok && w == 0:
			return appendForm(key, trace.Null)
		case !ok, effect == mpi.EffectNew:
			v = wr.objects.Create(kind, w)
		}
		return appendObject(key, v)
	}
	switch kind {
	case mpi.KindRequest:
		return appendObject(key, wr.objects.Requests.Resolve(w))
	case mpi.KindBuffer, mpi.KindPointer, mpi.KindFunction: // isAddress
		if v, ok := wr.objects.Constant(kind, w); ok {
			return appendName(key, v)
		}
		if w == 0 {
			return appendForm(key, trace.Null)
		}
		if kind == mpi.KindFunction {
			// lookups expect a return address, which is behind the call: w + 1 finds the
			// function's first byte
			if site := wr.sites.Of(w + 1); site > 0 {
				return appendCode(key, site)
			}
		}
		return wr.pointer(key, w)
	case mpi.KindDouble:
		return binary.AppendVarint(append(key, byte(trace.Float)), int64(w))
	}
	if v, ok := wr.objects.Constant(kind, w); ok {
		return appendName(key, v)
	}
	return appendInt(key, int64(w))
}

// pointer writes an address, with its allocation if the shim has located it.
func (wr *valueWriter) pointer(key []byte, word uint64) []byte {
	if number := word >> record.AllocationShift & record.AllocationMask; record.IsEntry(word) && wr.sites.Allocation(number) != nil {
		key = binary.AppendUvarint(append(key, formLocated), number)
		return binary.AppendUvarint(key, word&record.OffsetMask)
	}
	return appendForm(key, trace.Pointer)
}

// endable writes requests that the call may end, and remembers their ids.
func (wr *valueWriter) endable(key []byte, c *Call, p *parameter, rd *record.Reader) []byte {
	elements, list := rd.Words[rd.At:rd.At+1], p.shape == shapeArray
	if list {
		var special int
		if elements, special, _ = rd.Array(); special != 0 {
			return wr.special(key, p.kind, special, 0)
		}
		key = appendList(key, len(elements))
	}
	for _, raw := range elements {
		v := wr.objects.Requests.Resolve(raw)
		c.named = append(c.named, v)
		key = appendObject(key, v)
	}
	return key
}

// afterFailure writes the state of the requests after a call that failed. Nothing else shows
// whether the call completed some of them.
func (wr *valueWriter) afterFailure(key []byte, c *Call, p *parameter, rd *record.Reader) []byte {
	after := p.elements(c.words, int32(rd.At))
	if p.shape == shapeArray {
		key = appendList(key, len(after))
	}
	for k, raw := range after {
		null, ended := wr.objects.Requests.Null(raw)
		switch {
		case ended:
			key = appendName(key, null)
		case k < len(c.named) && c.named[k] >= 0:
			key = appendHandle(key, c.named[k])
		default:
			key = appendForm(key, trace.Absent)
		}
	}
	return key
}

// statusIf writes a status that may be missing.
func statusIf(key []byte, c *Call, exists bool, rd *record.Reader) []byte {
	rd.Word()
	var words []uint64
	if exists {
		words = rd.Take(record.StatusWords)
	}
	c.Values.PushStatusList(words)
	return appendForm(key, trace.ListStream)
}

func statuses(key []byte, c *Call, where slot, rd *record.Reader) []byte {
	rd.Word()
	words, _ := rd.Statuses()
	if where == inStatuses {
		n := len(words) / record.StatusWords
		key = appendList(key, n)
		for range n {
			key = appendForm(key, trace.Status)
		}
		c.Values.PushStatuses(words)
		return key
	}
	c.Values.PushStatusList(words)
	return appendForm(key, trace.ListStream)
}
