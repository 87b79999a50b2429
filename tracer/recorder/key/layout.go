package key

import (
	"slices"
	"sync/atomic"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// A layout is a function of package mpi, prepared for decoding its records.
type layout struct {
	spec   *mpi.Function
	fields []field // in the order of a record
	inputs int     // how many of them are from before the call

	// Offsets of the fields that are the same in every record of the function, and its number of
	// words up to the extras. length is 0 if that depends on the call.
	at     []int32
	length int

	// Indices of fields; none: there is no such field.
	comm       int // first communicator among the inputs
	root       int // the root
	label      int // tag or string among the inputs: what a communicator is made of, or its name
	newComm    int // communicator that the call creates
	newRequest int // request that the call creates
	parent     int // output that is the communicator to the parent world according to the record's extras
	status     int // the status or statuses that the call returns

	ends []ending // the parameters whose handles the call may end

	returns   values.Form // of what it returns
	semantics *semantics.Function
	effect    semantics.Operation // see Call.Effect

	repeatable bool    // pattern.go
	hashed     []int32 // words of the record that Hash uses
}

// A field is the value of a parameter in a record, before or after the call, with everything
// precomputed that does not depend on the call.
type field struct {
	spec *mpi.Param
	kind mpi.Kind
	shape
	form   values.Form // in the streams; None: it is in the signature
	out    bool        // the value after the call
	effect mpi.Effect  // only that value creates or frees; before the call a handle is just used
	ends   bool        // requests before a call that may end them
	flag   int         // the output that reports whether this one is defined; none: it always is
	buffer int         // if this field is MPI_IN_PLACE, the parameter is ignored; none: it never is
	plain  bool        // one word before the call, written to the signature as it is
}

// An ending is the fields with handles before and after a call that may end them; none: they are
// not in the record after the call.
type ending struct{ before, after int }

// effectOf returns what Call.Effect says.
func effectOf(f *semantics.Function) semantics.Operation {
	switch f.Operation {
	case semantics.Initialize, semantics.Finalize, semantics.SessionCreate, semantics.SessionFree,
		semantics.CommunicatorCreate, semantics.Control, semantics.SetName:
		return f.Operation
	case semantics.Query:
		if f.Creation == semantics.WithParent {
			return f.Operation
		}
	}
	return semantics.Unknown
}

// A shape is the layout of a field in a record.
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

// elementOf and kindOfList are the shape of an element and the kind of a list of strings or of
// lists of them.
var (
	elementOf  = [...]shape{shapeStrings: shapeString, shapeArgumentLists: shapeStrings}
	kindOfList = [...]mpi.Kind{shapeStrings: mpi.KindStrings, shapeArgumentLists: mpi.KindArgumentLists}
)

// layouts has the layouts of the functions called so far, by function id. Most programs call
// about twenty of the hundreds of functions; preparing all layouts at load time took 1.5 ms
// in every process.
var layouts = make([]atomic.Pointer[layout], len(mpi.Functions))

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

func layoutOf(f *mpi.Function) layout {
	means := semantics.Of(f)
	l := layout{
		spec: f, comm: none, root: none, label: none, newComm: none, newRequest: none, parent: none, status: none,
		returns:   formOf(&mpi.Param{Kind: f.Return}, true, false),
		effect:    effectOf(means),
		semantics: means,
	}
	varies := resultsVary(means)
	ins := slices.Repeat([]int{none}, len(f.Params)) // indices of the fields of each parameter
	outs := slices.Clone(ins)
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsIn() {
			ins[i] = l.add(field{spec: p, form: formOf(p, false, varies)})
		}
	}
	l.inputs = len(l.fields)
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsOut() {
			outs[i] = l.add(field{spec: p, form: formOf(p, true, varies), out: true, effect: p.Effect})
		}
	}
	for i := range l.fields {
		l.relate(&l.fields[i], ins, outs)
	}
	for i := range f.Params {
		l.index(&f.Params[i], ins[i], outs[i])
	}
	l.locateFixed()
	l.repeatable, l.hashed = l.isRepeatable(), l.hashedWords()
	return l
}

// add adds a field and returns its index.
func (l *layout) add(f field) int {
	f.kind, f.shape, f.flag, f.buffer = f.spec.Kind, shapeOf(f.spec), none, none
	l.fields = append(l.fields, f)
	return len(l.fields) - 1
}

// relate finds the fields that a field depends on, given the fields of each parameter.
func (l *layout) relate(f *field, ins, outs []int) {
	if i := f.spec.OnlyIf - 1; i >= 0 && f.out {
		f.flag = outs[i]
	}
	if i := f.spec.UnlessInPlace - 1; i >= 0 {
		if f.buffer = ins[i]; f.buffer == none {
			f.buffer = outs[i]
		}
	}
	f.ends = !f.out && f.kind == mpi.KindRequest && (f.spec.Effect == mpi.EffectCompleted || f.spec.Effect == mpi.EffectFreed)
	f.plain = !f.out && f.shape == shapeWord && f.form == values.None && !f.spec.RootOnly && f.buffer == none && !f.ends
}

// index stores the fields of a parameter before and after the call if the call gives them a
// meaning.
func (l *layout) index(p *mpi.Param, in, out int) {
	switch {
	case in == none:
	case p.Kind == mpi.KindComm && !p.IsArray() && l.comm == none:
		l.comm = in
	case p.Kind == mpi.KindRoot && l.root == none:
		l.root = in
	case (p.Kind == mpi.KindTag || p.Kind == mpi.KindString) && l.label == none:
		l.label = in
	}
	switch {
	case p.Kind == mpi.KindStatus && in == none:
		l.status = out
	case p.Effect == mpi.EffectNew && p.Kind == mpi.KindComm:
		l.newComm = out
	case p.Effect == mpi.EffectNew && p.Kind == mpi.KindRequest && !p.IsArray():
		l.newRequest = out
	case p.Effect == mpi.EffectExisting && p.Kind == mpi.KindComm && l.effect == semantics.Query:
		l.parent = out
	case in != none && (p.Effect == mpi.EffectCompleted || p.Effect == mpi.EffectFreed || p.Effect == mpi.EffectConsumed):
		l.ends = append(l.ends, ending{in, out})
	}
}

// locateFixed computes the offsets of the fields if they are the same in all records.
func (l *layout) locateFixed() {
	l.at = make([]int32, len(l.fields))
	at := int32(record.HeaderWords)
	for i := range l.fields {
		l.at[i] = at
		switch l.fields[i].shape {
		case shapeWord:
			at++
		case shapeStatus:
			at += 1 + record.StatusWords
		default:
			return
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

// pass skips a field of this shape.
func pass(r *record.Reader, s shape) {
	switch s {
	case shapeWord:
		r.Word()
	case shapeArray:
		r.Array()
	case shapeString:
		r.Text()
	case shapeStrings, shapeArgumentLists:
		n := int64(r.Word())
		if n == record.LengthSentinel {
			r.Word()
		}
		// every element has at least a length word, so the loop ends with the record even if n is
		// wrong
		for ; n > 0 && r.OK; n-- {
			pass(r, elementOf[s])
		}
	case shapeStatus:
		r.Skip(1 + record.StatusWords)
	case shapeStatuses:
		r.Word()
		r.Statuses()
	}
}
