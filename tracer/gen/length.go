package main

import (
	"fmt"

	"github.com/cairn-mpi/cairn/mpi"
)

// length returns a C expression of type int64_t for a number of elements, which is never negative.
// Terms that depend on a communicator or datatype query MPI (ask.h).
func length(f *mpi.Function, t mpi.Term) string {
	p := func() *mpi.Param { return &f.Params[t.Param] }
	var e string
	switch t.Op {
	case mpi.TermNumber:
		return fmt.Sprintf("%d", t.Value)
	case mpi.TermConstant:
		e = "(int64_t)" + t.Name
	case mpi.TermParam:
		if p().IsPointer() {
			e = fmt.Sprintf("CAIRN_NUMBER_AT(%s)", p().Name)
		} else {
			e = "(int64_t)" + p().Name
		}
	case mpi.TermResult:
		e = fmt.Sprintf("CAIRN_NUMBER_AT(%s)", p().Name)
	case mpi.TermNull:
		e = fmt.Sprintf("cairn_count_strings(%s)", p().Name)
	case mpi.TermSum:
		e = fmt.Sprintf("CAIRN_SUM(%s, length_%s_)", p().Name, p().Name)
	case mpi.TermLast:
		e = fmt.Sprintf("CAIRN_LAST(%s, length_%s_)", p().Name, p().Name)
	case mpi.TermNeighbors:
		e = fmt.Sprintf("cairn_ask_neighbors(%s, %s)", p().Name, f.Params[t.Param2].Name)
	default:
		// The other queries are named like the table's operations.
		e = fmt.Sprintf("cairn_ask_%s(%s)", t.Op, p().Name)
	}
	if t.Value != 0 {
		e = fmt.Sprintf("%s + %d", e, t.Value)
	}
	return fmt.Sprintf("cairn_not_negative(%s)", e)
}

// entryLength returns the expression for the length of an array or string at entry: its number
// of elements (for an out parameter its capacity), or one of the negative special values of
// the record format.
func entryLength(f *mpi.Function, p *mpi.Param) string {
	var n string
	switch {
	case p.Kind == mpi.KindFStatus:
		n = "CAIRN_F_STATUS_SIZE"
	case p.Kind == mpi.KindF08Status:
		n = "CAIRN_F_STATUS_SIZE"
	case p.Kind == mpi.KindArgv:
		n = fmt.Sprintf("*%s == NULL ? CAIRN_NULL : cairn_count_strings(*%s)", p.Name, p.Name)
	case p.Kind == mpi.KindString && p.Length.Op == mpi.TermNone:
		n = fmt.Sprintf("(int64_t)strlen(%s)", p.Name)
	case p.Length.Op == mpi.TermNull:
		n = fmt.Sprintf("cairn_count_strings(%s)", p.Name)
	default:
		n = length(f, p.Length)
		if p.Inner > 0 {
			n = fmt.Sprintf("%d * %s", p.Inner, n)
		}
	}
	if p.Kind == mpi.KindStatus && p.Direction == mpi.Out {
		// Ignored statuses are requested and recorded as well.
		return n
	}
	e := fmt.Sprintf("%s == NULL ? CAIRN_NULL : %s", p.Name, n)
	for _, s := range p.Sentinels {
		e = fmt.Sprintf("CAIRN_IS(%s, %s) ? CAIRN_SENTINEL : %s", p.Name, s, e)
	}
	if p.UnlessInPlace > 0 {
		e = fmt.Sprintf("%s == MPI_IN_PLACE ? CAIRN_NOT_SIGNIFICANT : %s", f.Params[p.UnlessInPlace-1].Name, e)
	}
	if p.RootOnly {
		e = fmt.Sprintf("!root_ ? CAIRN_NOT_SIGNIFICANT : %s", e)
	}
	return e
}

// definedLength returns the expression for the number of elements after the call.
func definedLength(f *mpi.Function, p *mpi.Param) string {
	if p.Defined.Op == mpi.TermNone {
		return "length_" + p.Name + "_"
	}
	n := length(f, p.Defined)
	if p.Inner > 0 {
		n = fmt.Sprintf("%d * %s", p.Inner, n)
	}
	return fmt.Sprintf("cairn_at_most(length_%s_, %s)", p.Name, n)
}

// isList reports whether a parameter is recorded as a length and elements.
func isList(p *mpi.Param) bool {
	switch p.Kind {
	case mpi.KindString, mpi.KindStrings, mpi.KindArgumentLists, mpi.KindArgv, mpi.KindFStatus, mpi.KindF08Status:
		return true
	}
	return p.IsArray()
}

// needsRoot reports whether one of the lists is significant at the root only. The wrapper must then
// determine whether the caller is the root before it may read them.
func needsRoot(f *mpi.Function) bool {
	for i := range f.Params {
		if p := &f.Params[i]; p.RootOnly && isList(p) {
			return true
		}
	}
	return false
}

// rootOf returns the C expression for "the caller is the root".
func rootOf(f *mpi.Function) string {
	var root, comm string
	for i := range f.Params {
		switch p := &f.Params[i]; p.Kind {
		case mpi.KindRoot:
			root = p.Name
		case mpi.KindComm:
			if comm == "" {
				comm = p.Name
			}
		}
	}
	return fmt.Sprintf("cairn_ask_root(%s, %s)", comm, root)
}
