package recorder

import (
	"encoding/binary"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// result writes the return value of the function: success, or an error code by its name. The codes
// that MPICH makes up differ between calls and ranks, so they go to a stream and calls that fail
// alike share a terminal.
func (r *Recorder) result(key []byte, l *layout, word uint64) []byte {
	switch {
	case l.returnSlot == inStream:
		r.scratch.push(int64(word))
		return appendForm(key, trace.Stream)
	case l.errorCode && int32(word) == 0:
		return appendInt(key, 0)
	case l.errorCode:
		code := int64(int32(word))
		if v, ok := r.objects.Constant(mpi.KindErrorCode, uint64(code)); ok {
			return appendName(key, v)
		}
		r.scratch.push(code)
		return appendForm(key, trace.Stream)
	}
	return r.word(key, l.spec.Return, word, mpi.EffectNone)
}

// inValue writes a parameter's value before the call.
func (r *Recorder) inValue(key []byte, c *call, i int) []byte {
	p := &c.params[i]
	if p.spec.RootOnly && !c.atRoot || r.inPlace(c, p) {
		return appendForm(key, trace.Absent)
	}
	rd := record.Reader{Words: c.words, At: int(c.in[i]), OK: true}
	if endsRequest(p.spec) {
		return r.endable(key, p, &rd)
	}
	// only the out value creates or frees; on entry a handle is just used
	return r.value(key, p, p.inSlot, &rd, mpi.EffectNone)
}

// outValue writes a parameter's value after the call.
func (r *Recorder) outValue(key []byte, c *call, i int) []byte {
	p := &c.params[i]
	rd := record.Reader{Words: c.words, At: int(c.out[i]), OK: true}
	switch {
	case p.spec.RootOnly && !c.atRoot, r.inPlace(c, p):
		return appendForm(key, trace.Absent)
	case p.kind == mpi.KindBuffer:
		// an address is defined even if the call failed
		return r.word(key, p.kind, rd.Word(), mpi.EffectNone)
	case c.failed && p.spec.Effect == mpi.EffectCompleted:
		return r.afterFailure(key, c, p, &rd)
	case c.failed, p.outSlot == leftOut:
		return appendForm(key, trace.Absent)
	case p.outSlot == inSignatureIf && !r.defined(c, p):
		return appendForm(key, trace.Absent)
	case p.outSlot == inStatusList && p.shape == shapeStatus:
		return r.statusIf(key, r.defined(c, p), &rd)
	case i == c.newRequest:
		raw := rd.Word()
		if _, null := r.objects.Requests.Null(raw); null {
			return r.word(key, p.kind, raw, mpi.EffectNone)
		}
		c.request, c.creates = raw, true
		return append(key, formNewRequest)
	case i == c.newComm:
		raw := rd.Word()
		v := r.objects.Create(p.kind, raw)
		if v >= 0 {
			c.newID = v
		}
		return appendObject(key, v)
	}
	return r.value(key, p, p.outSlot, &rd, p.spec.Effect)
}

// inPlace reports whether a parameter is ignored because a buffer is MPI_IN_PLACE.
func (r *Recorder) inPlace(c *call, p *parameter) bool {
	if p.spec.UnlessInPlace == 0 {
		return false
	}
	i := p.spec.UnlessInPlace - 1
	at := c.in[i]
	if !c.params[i].in {
		at = c.out[i]
	}
	v, ok := r.objects.Constant(mpi.KindBuffer, c.words[at])
	return ok && r.process.Constants[-1-v].Name == "MPI_IN_PLACE"
}

// defined reports whether the flag that a parameter depends on is true.
func (r *Recorder) defined(c *call, p *parameter) bool {
	if p.spec.OnlyIf == 0 {
		return true
	}
	i := p.spec.OnlyIf - 1
	return c.params[i].out && c.params[i].shape == shapeWord && c.words[c.out[i]] != 0
}

// value writes a parameter by its slot.
func (r *Recorder) value(key []byte, p *parameter, where slot, rd *record.Reader, effect mpi.Effect) []byte {
	s := &r.scratch
	switch where {
	case inStream:
		s.push(int64(rd.Word()))
		return appendForm(key, trace.Stream)
	case inList:
		elements, special, sentinel := rd.Array()
		if special != 0 {
			return r.special(key, p.kind, special, sentinel)
		}
		s.values = append(s.values, int64(len(elements)))
		for _, e := range elements {
			s.values = append(s.values, int64(e))
		}
		s.lengths = append(s.lengths, int32(1+len(elements)))
		return appendForm(key, trace.ListStream)
	case inStatus:
		rd.Word() // whether the application ignored it
		s.status(rd.Take(record.StatusWords))
		return appendForm(key, trace.Status)
	case inStatuses, inStatusList:
		return r.statuses(key, where, rd)
	}
	switch p.shape {
	case shapeArray:
		elements, special, sentinel := rd.Array()
		if special != 0 {
			return r.special(key, p.kind, special, sentinel)
		}
		key = appendList(key, len(elements))
		for _, e := range elements {
			key = r.word(key, p.kind, e, effect)
		}
		return key
	case shapeString:
		return r.text(key, rd)
	case shapeStrings:
		return r.texts(key, rd)
	case shapeArgumentLists:
		n := int64(rd.Word())
		if n < 0 {
			return r.specialLength(key, p.kind, n, rd)
		}
		key = appendList(key, int(n))
		for range n {
			key = r.texts(key, rd)
		}
		return key
	}
	return r.word(key, p.kind, rd.Word(), effect)
}

func (r *Recorder) text(key []byte, rd *record.Reader) []byte {
	text, special, sentinel := rd.Text()
	if special != 0 {
		return r.special(key, mpi.KindString, special, sentinel)
	}
	return appendText(key, text)
}

func (r *Recorder) texts(key []byte, rd *record.Reader) []byte {
	n := int64(rd.Word())
	if n < 0 {
		return r.specialLength(key, mpi.KindStrings, n, rd)
	}
	key = appendList(key, int(n))
	for range n {
		key = r.text(key, rd)
	}
	return key
}

func (r *Recorder) specialLength(key []byte, kind mpi.Kind, n int64, rd *record.Reader) []byte {
	var sentinel uint64
	if n == record.LengthSentinel {
		sentinel = rd.Word()
	}
	return r.special(key, kind, int(n), sentinel)
}

// special writes what replaces an array: null or a pointer constant.
func (r *Recorder) special(key []byte, kind mpi.Kind, special int, sentinel uint64) []byte {
	switch special {
	case record.LengthSentinel:
		if v, ok := r.objects.Sentinel(kind, sentinel); ok {
			return appendName(key, v)
		}
		return appendForm(key, trace.Pointer)
	case record.LengthNull:
		return appendForm(key, trace.Null)
	}
	return appendForm(key, trace.Absent)
}

// word writes one word by its kind.
func (r *Recorder) word(key []byte, kind mpi.Kind, w uint64, effect mpi.Effect) []byte {
	if r.objects.Dense(kind) {
		v, ok := r.objects.Known(kind, w)
		switch {
		case !ok && w == 0:
			return appendForm(key, trace.Null)
		case !ok, effect == mpi.EffectNew:
			v = r.objects.Create(kind, w)
		}
		return appendObject(key, v)
	}
	switch kind {
	case mpi.KindRequest:
		return appendObject(key, r.objects.Requests.Resolve(w))
	case mpi.KindBuffer, mpi.KindPointer, mpi.KindFunction: // isAddress
		if v, ok := r.objects.Constant(kind, w); ok {
			return appendName(key, v)
		}
		if w == 0 {
			return appendForm(key, trace.Null)
		}
		if kind == mpi.KindFunction {
			// lookups expect a return address, which is behind the call: w + 1 finds the
			// function's first byte
			if site := r.sites.of(w + 1); site > 0 {
				return appendCode(key, site)
			}
		}
		return r.pointer(key, w)
	case mpi.KindDouble:
		return binary.AppendVarint(append(key, byte(trace.Float)), int64(w))
	}
	if v, ok := r.objects.Constant(kind, w); ok {
		return appendName(key, v)
	}
	return appendInt(key, int64(w))
}

// endable writes requests that the call may end, and remembers their ids.
func (r *Recorder) endable(key []byte, p *parameter, rd *record.Reader) []byte {
	s := &r.scratch
	elements, list := rd.Words[rd.At:rd.At+1], p.shape == shapeArray
	if list {
		var special int
		if elements, special, _ = rd.Array(); special != 0 {
			return r.special(key, p.kind, special, 0)
		}
		key = appendList(key, len(elements))
	}
	for _, raw := range elements {
		v := r.objects.Requests.Resolve(raw)
		s.named = append(s.named, v)
		key = appendObject(key, v)
	}
	return key
}

// afterFailure writes the state of the requests after a call that failed. Nothing else shows
// whether the call completed some of them.
func (r *Recorder) afterFailure(key []byte, c *call, p *parameter, rd *record.Reader) []byte {
	after := c.elements(p, int32(rd.At))
	if p.shape == shapeArray {
		key = appendList(key, len(after))
	}
	for k, raw := range after {
		null, ended := r.objects.Requests.Null(raw)
		switch {
		case ended:
			key = appendName(key, null)
		case k < len(r.scratch.named) && r.scratch.named[k] >= 0:
			key = appendHandle(key, r.scratch.named[k])
		default:
			key = appendForm(key, trace.Absent)
		}
	}
	return key
}

// status pushes the five fields of a status.
func (s *scratch) status(w []uint64) {
	for _, field := range statusFieldsOf(w) {
		s.push(field)
	}
}

// statusFieldsOf returns the five fields of a status of a record.
func statusFieldsOf(w []uint64) [statusFields]int64 {
	if len(w) != record.StatusWords {
		return [statusFields]int64{}
	}
	return [statusFields]int64{
		int64(int32(w[0])), int64(int32(w[0] >> 32)), // source, tag
		int64(int32(w[1])), int64(int32(w[1] >> 32)), // error, cancelled
		int64(w[2]), // bytes
	}
}

// statusIf writes a status that may be missing.
func (r *Recorder) statusIf(key []byte, exists bool, rd *record.Reader) []byte {
	s := &r.scratch
	rd.Word()
	if !exists {
		s.push(0)
		return appendForm(key, trace.ListStream)
	}
	fields := statusFieldsOf(rd.Take(record.StatusWords))
	s.values = append(append(s.values, statusFields), fields[:]...)
	s.lengths = append(s.lengths, 1+statusFields)
	return appendForm(key, trace.ListStream)
}

func (r *Recorder) statuses(key []byte, where slot, rd *record.Reader) []byte {
	s := &r.scratch
	rd.Word()
	words, special := rd.Statuses()
	if special != 0 {
		words = nil
	}
	n := len(words) / record.StatusWords
	if where == inStatuses {
		key = appendList(key, n)
		for i := range n {
			key = appendForm(key, trace.Status)
			s.status(words[i*record.StatusWords : (i+1)*record.StatusWords])
		}
		return key
	}
	s.values = append(s.values, int64(n*statusFields))
	for i := range n {
		fields := statusFieldsOf(words[i*record.StatusWords : (i+1)*record.StatusWords])
		s.values = append(s.values, fields[:]...)
	}
	s.lengths = append(s.lengths, int32(1+n*statusFields))
	return appendForm(key, trace.ListStream)
}

// statusIgnored is added to the function in the key if MPI_STATUS(ES)_IGNORE was passed.
const statusIgnored = 1 << 17

// The word before a status: whether it is defined, and whether the program asked for it.
const (
	statusGiven            = 0
	statusGivenAndIgnored  = 1
	statusAbsent           = -1
	statusAbsentAndIgnored = -2
)

// ignoresStatus reports whether the program passed MPI_STATUS(ES)_IGNORE.
func (c *call) ignoresStatus() bool {
	if c.status < 0 {
		return false
	}
	w := int64(c.words[c.out[c.status]])
	return w == statusGivenAndIgnored || w == statusAbsentAndIgnored
}
