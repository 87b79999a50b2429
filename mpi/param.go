package mpi

import (
	"strconv"
	"strings"
)

// Param is a parameter of a function.
type Param struct {
	// Name is the name that the standard gives the parameter.
	Name string

	Direction Direction

	Kind Kind

	// CType is the C type of one element: "int", "MPI_Count", "MPI_Comm", "void" for a buffer,
	// "char" for a string, "char *" for one string of an argument list. Declaration returns the
	// complete declaration.
	CType string

	// Length is the number of elements of an array, or the capacity of an out
	// string; Length.Op is TermNone for a scalar and for an in string.
	Length Term

	// Defined is the number of elements that are defined after the call, if it differs from Length;
	// TermNone means all.
	Defined Term

	// Inner is the second dimension of a two-dimensional array, else 0.
	Inner int

	// Effect is what the call does to the handles in this parameter.
	Effect Effect

	// RootOnly: significant only at the root. At other ranks the value may be garbage.
	RootOnly bool

	// UnlessInPlace is 1 + the index of a buffer parameter. If that buffer is MPI_IN_PLACE, this
	// parameter is not significant. 0 means no such buffer.
	UnlessInPlace int

	// OnlyIf is 1 + the index of an out bool parameter. This out parameter is defined only if that
	// is true after the call. 0 means always.
	OnlyIf int

	// RankOf is 1 + the index of the communicator, group or window that this rank or root refers
	// to; 0 if no parameter defines it.
	RankOf int

	// Sentinels are pointer constants that may be passed instead of the array, in addition to those
	// that the kind implies.
	Sentinels []string

	// Nullable: the pointer may be NULL.
	Nullable bool

	// Const: C declares the pointed-to elements const.
	Const bool

	// ByPointer: an in scalar that is passed by address.
	ByPointer bool
}

// IsArray reports whether the parameter is an array of elements; a string
// with a capacity is not.
func (p *Param) IsArray() bool { return p.Length.Op != TermNone && p.Kind != KindString }

// IsPointer reports whether C passes the parameter as a pointer to elements
// of CType. A buffer is one; a callback is not.
func (p *Param) IsPointer() bool {
	switch p.Kind {
	case KindBuffer, KindString, KindStatus, KindF08Status, KindPointer:
		return true
	case KindFunction:
		return false
	}
	return p.Direction != In || p.IsArray() || p.ByPointer
}

// Declaration returns the parameter's C declaration, such as
// "const int recvcounts[]".
func (p *Param) Declaration() string {
	var b strings.Builder
	if p.Const {
		b.WriteString("const ")
	}
	b.WriteString(p.CType)
	if !strings.HasSuffix(p.CType, "*") {
		b.WriteByte(' ')
	}
	switch {
	case p.IsArray():
		b.WriteString(p.Name)
		b.WriteString("[]")
		if p.Inner > 0 {
			b.WriteString("[" + strconv.Itoa(p.Inner) + "]")
		}
		return b.String()
	case p.IsPointer():
		b.WriteByte('*')
	case p.Kind == KindFunction && !strings.HasPrefix(p.CType, "MPI_T_"):
		// MPI_User_function is a function type; MPI_T_event_cb_function is already a pointer (MPI
		// 4.0 §15.3.8).
		b.WriteByte('*')
	}
	b.WriteString(p.Name)
	return b.String()
}

// Direction is in which direction a parameter passes values.
type Direction uint8

// The standard's IN, OUT and INOUT (MPI 4.0 §2.3).
const (
	In Direction = iota
	Out
	InOut
)

func (d Direction) String() string { return [...]string{"in", "out", "inout"}[d] }

// IsIn reports whether the value on entry is used.
func (d Direction) IsIn() bool { return d != Out }

// IsOut reports whether the call sets the value.
func (d Direction) IsOut() bool { return d != In }

// Effect is what a call does to handles.
type Effect uint8

const (
	// EffectNone: the call uses the handle and does not change it.
	EffectNone Effect = iota
	// EffectNew: the call creates an object, or another reference to one that must be freed, too
	// (MPI_Comm_group).
	EffectNew
	// EffectExisting: the call returns a handle that the caller does not free
	// (MPI_Comm_get_parent).
	EffectExisting
	// EffectFreed: the call releases the handle.
	EffectFreed
	// EffectCompleted: the call may complete the requests.
	EffectCompleted
	// EffectStarted: the call makes persistent requests active.
	EffectStarted
	// EffectConsumed: the call consumes the message.
	EffectConsumed
	// EffectKept: the call changes the object; the handle stays valid.
	EffectKept
)

func (e Effect) String() string {
	return [...]string{"none", "new", "existing", "freed", "completed", "started", "consumed", "kept"}[e]
}
