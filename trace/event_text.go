package trace

import (
	"fmt"
	"math"
	"strconv"
)

// Text is the call as one line:
//
//	MPI_Recv(buf=…, count=4, …, comm=MPI_COMM_WORLD, status={source=0, tag=7, bytes=16}) = MPI_SUCCESS
//
// A function is its name (or module+offset), a pointer its segment and the offset in it
// ("heap#3+128"; "…" where that was not kept), a handle its kind and number ("request#3"). A parameter that the call changed shows both values:
// request=request#3→MPI_REQUEST_NULL, and so does a status that the program did not want:
// status=MPI_STATUS_IGNORE→{source=0, tag=7, bytes=16}. Parameters that do not count on this rank are "-". An error code
// that MPI gives a name to is that name, one that the library made up a number. A call that never returned says so instead.
func (e *Event) Text() string { return string(e.AppendText(nil)) }

// AppendText appends Text.
func (e *Event) AppendText(b []byte) []byte {
	b = append(b, e.Function.Name...)
	b = append(b, '(')
	first := true
	for a := range e.arguments {
		if !first {
			b = append(b, ", "...)
		}
		first = false
		b = append(b, a.parameter.Name...)
		b = append(b, '=')
		if a.before != nil {
			b = e.appendArgument(b, a.before, a.parameter.Kind)
		}
		if a.changed() {
			b = append(b, "→"...)
		}
		if a.before == nil && e.Signature.StatusIgnored && a.parameter.Kind == "status" {
			b = append(b, ignoredName(a.parameter)...)
			if a.after.Form == Absent {
				continue
			}
			b = append(b, "→"...)
		}
		if a.after != nil && (a.before == nil || a.changed()) {
			b = e.appendArgument(b, a.after, a.parameter.Kind)
		}
	}
	b = append(b, ") = "...)
	if e.Unfinished() {
		return append(b, "never returned"...)
	}
	if e.Function.Return == "int" && e.Succeeded() {
		return append(b, "MPI_SUCCESS"...)
	}
	return appendValueText(b, &e.Return, e.Function.Return)
}

// ignoredName is what the program passed where it did not want the statuses.
func ignoredName(p *Parameter) string {
	if p.List {
		return "MPI_STATUSES_IGNORE"
	}
	return "MPI_STATUS_IGNORE"
}

// appendArgument writes a value; a function of the program by its name.
func (e *Event) appendArgument(b []byte, v *Value, kind string) []byte {
	if site := e.code(v); site != nil {
		return append(b, site.name()...)
	}
	if segment := e.segment(v); segment != nil {
		return appendPointerText(b, v, segment)
	}
	return appendValueText(b, v, kind)
}

// code is the place of a function that is an argument of the call, nil for all other values.
func (e *Event) code(v *Value) *Site {
	if v.Form != Code || v.Int < 1 || v.Int > int64(len(e.sites)) {
		return nil
	}
	return &e.sites[v.Int-1]
}

// name is the function of a callback, or where it is as long as nobody has looked that up.
func (s *Site) name() string {
	if s.Function != "" {
		return s.Function
	}
	return fmt.Sprintf("%s+%#x", s.Module, s.Offset-1)
}

// An argument is one parameter of a call with its value before and after, nil where that is not recorded.
type argument struct {
	parameter     *Parameter
	before, after *Value
}

// changed tells whether the call changed an inout parameter.
func (a *argument) changed() bool {
	return a.before != nil && a.after != nil && !equalValues(a.before, a.after)
}

// arguments yields the parameters of the call in order.
func (e *Event) arguments(yield func(argument) bool) {
	in, out := e.In, e.Out
	for i := range e.Function.Parameters {
		a := argument{parameter: &e.Function.Parameters[i]}
		if a.parameter.Direction != Out && len(in) > 0 {
			a.before, in = &in[0], in[1:]
		}
		if a.parameter.Direction != In && len(out) > 0 {
			a.after, out = &out[0], out[1:]
			if a.before != nil && a.after.Form == Absent {
				a.after = nil // not said, or not different
			}
		}
		if !yield(a) {
			return
		}
	}
}

func equalValues(a, b *Value) bool {
	if a.Form != b.Form || a.Int != b.Int || a.Offset != b.Offset || a.Text != b.Text || len(a.List) != len(b.List) {
		return false
	}
	for i := range a.List {
		if !equalValues(&a.List[i], &b.List[i]) {
			return false
		}
	}
	return true
}

// handleKinds are the kinds whose values are opaque handles of MPI.
var handleKinds = map[string]bool{
	"comm": true, "datatype": true, "op": true, "group": true, "win": true, "file": true, "info": true,
	"request": true, "message": true, "errhandler": true, "session": true, "keyval": true, "cvar-handle": true,
	"pvar-handle": true, "pvar-session": true, "enum": true, "event-registration": true, "event-instance": true,
}

// undefined is MPI_UNDEFINED, the same number in all implementations that there are; undefinedKinds may have it among
// values of which there is a stream (MPI 4.0 §A.1.1).
const undefined = -32766

var undefinedKinds = map[string]bool{
	"rank": true, "index": true, "count": true, "bytes": true, "extent": true, "int": true, "status": true,
}

// statusFields are the elements of a status, in order.
var statusFields = [...]string{"source", "tag", "error", "cancelled", "bytes"}

func appendValueText(b []byte, v *Value, kind string) []byte {
	switch v.Form {
	case Absent:
		return append(b, '-')
	case Null:
		return append(b, "NULL"...)
	case Int:
		switch {
		case handleKinds[kind]:
			b = append(append(b, kind...), '#')
		case v.Int == undefined && undefinedKinds[kind]:
			return append(b, "MPI_UNDEFINED"...)
		}
		return strconv.AppendInt(b, v.Int, 10)
	case Float:
		return strconv.AppendFloat(b, math.Float64frombits(uint64(v.Int)), 'g', -1, 64)
	case Text:
		return strconv.AppendQuote(b, v.Text)
	case Name:
		return append(b, v.Text...)
	case Handle:
		b = append(append(b, kind...), '#')
		return strconv.AppendInt(b, v.Int, 10)
	case Pointer:
		return append(b, "…"...)
	case List:
		b = append(b, '[')
		for i := range v.List {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendValueText(b, &v.List[i], kind)
		}
		return append(b, ']')
	case Status:
		return appendStatusText(b, v)
	case Stream, ListStream:
		return fmt.Appendf(b, "stream#%d", v.Int)
	case Code:
		return fmt.Appendf(b, "code#%d", v.Int)
	case RankOffset:
		return fmt.Appendf(b, "rank%+d", v.Int)
	}
	return fmt.Appendf(b, "?%d", v.Form)
}

// appendStatusText leaves out error and cancelled where they are 0.
func appendStatusText(b []byte, v *Value) []byte {
	b = append(b, '{')
	first := true
	for i := range v.List {
		x := &v.List[i]
		if (i == 2 || i == 3) && x.Form == Int && x.Int == 0 {
			continue
		}
		if !first {
			b = append(b, ", "...)
		}
		first = false
		if i < len(statusFields) {
			b = append(append(b, statusFields[i]...), '=')
		}
		b = appendValueText(b, x, "status")
	}
	return append(b, '}')
}

// Number is the number that a value of a parameter or result of this kind stands for; false for handles, for MPI_UNDEFINED,
// and for all that is no number.
func (v *Value) Number(kind string) (int64, bool) {
	return v.Int, v.Form == Int && !handleKinds[kind] && (v.Int != undefined || !undefinedKinds[kind])
}

// TextOf is a value of a parameter or result of this kind, as in Event.Text.
func TextOf(v *Value, kind string) string {
	if v.Form == Name {
		return v.Text
	}
	return string(appendValueText(nil, v, kind))
}
