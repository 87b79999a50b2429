package key

import (
	"sync/atomic"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A layout is a function of package mpi, prepared for decoding its records.
type layout struct {
	spec   *mpi.Function
	params []parameter

	// Offsets of the parameters that are the same in every record of the function, and its number
	// of words up to the extras. length is 0 if that depends on the call.
	in, out []int32
	length  int

	comm       int  // first communicator among the inputs, −1: none
	root       int  // the root parameter, −1: none
	newComm    int  // communicator that the call creates, −1: none
	newRequest int  // request that the call creates, −1: none
	parent     int  // output that is the communicator to the parent world according to the record's extras, −1: none
	status     int  // the status or statuses that the call returns, −1: none
	errorCode  bool // the function returns an error code
	returnSlot slot
	semantics  *semantics.Function
	effect     Effect
	ends       []int // indices of the parameters whose handles the call may end

	repeatable bool    // pattern.go
	hashed     []int32 // words of the record that Hash uses
}

// An Effect is what a successful call changes beyond the handles that it gives or frees.
type Effect uint8

const (
	NoEffect Effect = iota
	Initializes
	Finalizes
	BeginsSession
	EndsSession
	NamesCommunicator
	CreatesCommunicator
	ReturnsParent // the communicator to the world that spawned this one
	ControlsTracing
)

func effectOf(f *semantics.Function) Effect {
	switch f.Operation {
	case semantics.Initialize:
		return Initializes
	case semantics.Finalize:
		return Finalizes
	case semantics.SessionCreate:
		return BeginsSession
	case semantics.SessionFree:
		return EndsSession
	case semantics.CommunicatorCreate:
		return CreatesCommunicator
	case semantics.Control:
		return ControlsTracing
	case semantics.SetName:
		return NamesCommunicator
	case semantics.Query:
		if f.Creation == semantics.WithParent {
			return ReturnsParent
		}
	}
	return NoEffect
}

// A parameter is a parameter of a function, with everything precomputed that does not
// depend on the call.
type parameter struct {
	spec *mpi.Param
	kind mpi.Kind
	shape
	in, out bool // the sections of the record that have it
	inSlot  slot
	outSlot slot
	plain   bool // one word before the call, written to the signature as it is
}

// A shape is the layout of a parameter in a record.
type shape uint8

const (
	shapeWord shape = iota
	shapeArray
	shapeString
	shapeStrings
	shapeArgumentLists
	shapeStatus
	shapeStatuses
)

// layouts has the layouts of the functions called so far, by function id. Most programs call
// about twenty of the hundreds of functions; preparing all layouts at load time took 1.5 ms
// in every process.
var layouts = make([]atomic.Pointer[layout], len(mpi.Functions))

// maxParams is the largest number of parameters of any function, for the size of scratch space.
var maxParams = func() int {
	n := 0
	for i := range mpi.Functions {
		n = max(n, len(mpi.Functions[i].Params))
	}
	return n
}()

// layoutFor returns the layout of a function, nil if there is no function with this id.
func layoutFor(id uint16) *layout {
	if int(id) >= len(layouts) {
		return nil
	}
	if l := layouts[id].Load(); l != nil {
		return l
	}
	return makeLayout(id)
}

func makeLayout(id uint16) *layout {
	f := &mpi.Functions[id]
	if f.ID == 0 {
		return nil
	}
	l := layoutOf(f)
	layouts[id].CompareAndSwap(nil, &l)
	return layouts[id].Load()
}

// endsRequest reports whether a call may end the request of a parameter.
func endsRequest(p *mpi.Param) bool {
	return p.Kind == mpi.KindRequest && (p.Effect == mpi.EffectCompleted || p.Effect == mpi.EffectFreed)
}

func layoutOf(f *mpi.Function) layout {
	means := semantics.Of(f)
	varies := resultsVary(means)
	l := layout{
		spec: f, comm: -1, root: -1, newComm: -1, newRequest: -1, parent: -1, status: -1,
		errorCode:  f.Return == mpi.KindErrorCode,
		returnSlot: slotOfReturn(f),
		effect:     effectOf(means),
		semantics:  means,
	}
	for i := range f.Params {
		p := &f.Params[i]
		l.params = append(l.params, parameter{
			spec: p, kind: p.Kind, shape: shapeOf(p),
			in: p.Direction.IsIn(), out: p.Direction.IsOut(),
			inSlot: slotOfIn(p), outSlot: slotOfOut(p, varies),
			plain: shapeOf(p) == shapeWord && slotOfIn(p) == inSignature && !p.RootOnly && p.UnlessInPlace == 0 && !endsRequest(p),
		})
		switch {
		case p.Kind == mpi.KindComm && p.Direction.IsIn() && !p.IsArray() && l.comm < 0:
			l.comm = i
		case p.Kind == mpi.KindRoot && l.root < 0:
			l.root = i
		}
		if p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
			l.status = i
		}
		switch p.Effect {
		case mpi.EffectNew:
			if p.Kind == mpi.KindComm {
				l.newComm = i
			}
			if p.Kind == mpi.KindRequest && !p.IsArray() {
				l.newRequest = i
			}
		case mpi.EffectExisting:
			if l.effect == ReturnsParent && p.Kind == mpi.KindComm {
				l.parent = i
			}
		case mpi.EffectCompleted, mpi.EffectFreed, mpi.EffectConsumed:
			l.ends = append(l.ends, i)
		}
	}
	l.locate()
	l.repeatable, l.hashed = l.isRepeatable(), l.hashedWords()
	return l
}

// locate computes the offsets of the parameters if they are the same in all records.
func (l *layout) locate() {
	l.in, l.out = make([]int32, len(l.params)), make([]int32, len(l.params))
	at := int32(record.HeaderWords)
	for _, section := range []struct {
		at  []int32
		has func(*parameter) bool
	}{
		{l.in, func(p *parameter) bool { return p.in }},
		{l.out, func(p *parameter) bool { return p.out }},
	} {
		for i := range l.params {
			p := &l.params[i]
			if !section.has(p) {
				continue
			}
			section.at[i] = at
			switch p.shape {
			case shapeWord:
				at++
			case shapeStatus:
				at += 1 + record.StatusWords
			default:
				return
			}
		}
	}
	l.length = int(at)
}

func shapeOf(p *mpi.Param) shape {
	switch p.Kind {
	case mpi.KindString:
		return shapeString
	case mpi.KindStrings, mpi.KindArgv:
		return shapeStrings
	case mpi.KindArgumentLists:
		return shapeArgumentLists
	case mpi.KindStatus:
		if p.IsArray() {
			return shapeStatuses
		}
		return shapeStatus
	case mpi.KindBuffer:
		return shapeWord
	case mpi.KindF08Status:
		return shapeArray // of Fortran integers
	}
	if p.IsArray() {
		return shapeArray
	}
	return shapeWord
}

// elements returns the words of a scalar or array parameter at an offset of a record.
func (p *parameter) elements(words []uint64, at int32) []uint64 {
	rd := record.Reader{Words: words, At: int(at), OK: true}
	if p.shape == shapeArray {
		elements, _, _ := rd.Array()
		return elements
	}
	return rd.Take(1)
}

// pass skips a parameter of this shape.
func pass(r *record.Reader, s shape) {
	switch s {
	case shapeWord:
		r.Word()
	case shapeArray:
		r.Array()
	case shapeString:
		r.Text()
	case shapeStrings:
		passList(r, func() { r.Text() })
	case shapeArgumentLists:
		passList(r, func() { pass(r, shapeStrings) })
	case shapeStatus:
		r.Skip(1 + record.StatusWords)
	case shapeStatuses:
		r.Word()
		r.Statuses()
	}
}

func passList(r *record.Reader, element func()) {
	n := int64(r.Word())
	if n == record.LengthSentinel {
		r.Word()
	}
	// every element has at least a length word, so the loop ends with the record even if n is wrong
	for ; n > 0 && r.OK; n-- {
		element()
	}
}
