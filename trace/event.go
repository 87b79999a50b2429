package trace

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// An Event is one decoded call of a Cursor.
type Event struct {
	Rank, Thread int
	Index        uint64 // index on its thread, from 0
	Terminal     int32
	Function     *Function
	Semantics    *semantics.Function // the meaning of the function
	Signature    *Signature
	Site         *Site // the call site; nil: unknown
	// In, Out and Return are the signature's, with streams and relative ranks replaced by what this
	// call had: Int or Float (where the parameter is a double), List, Status, a List of Status, or
	// Absent for a status that the call did not give. They are valid until the next call of Next.
	In, Out []Value
	Return  Value
	// Comm is the communicator of the call, an index into Content.Communicators; −1 if there is
	// none or it is unknown. It is the first parameter that is a communicator, or, for a call on
	// requests, −1. OwnRank is the caller's rank in it, −1 if there is none.
	Comm    int
	OwnRank int
	// NewComm is the communicator instance that the call created, −1 for most.
	NewComm int
	// EnterTicks and ExitTicks are on the rank's clock. Enter and Exit are the same in nanoseconds
	// of the node's CLOCK_MONOTONIC, which ranks with equal boot ids share.
	EnterTicks, ExitTicks int64
	Enter, Exit           int64
	// EnterError and ExitError are the maximum error in nanoseconds of Enter and Exit due to
	// rounding: at most MomentTicks, and 0 for lossless timing. Extrapolated times (TimesOf) may
	// have a larger error.
	EnterError, ExitError int64
	// Overhead is the tracer overhead in nanoseconds (OverheadTicks: in ticks) after the previous
	// call of the thread, at a vote of the ranks; mostly 0. The program computed for the rest of
	// the time between the two calls.
	OverheadTicks, Overhead int64
	// Timed reports whether the times are known. If timing is aggregated, single calls have no
	// times, and the fields are 0.
	Timed bool
	// TimesOf is the rank that the times were recorded on: Rank, or, if ranks were clustered at run
	// time, the lead of Rank's cluster. It is −1 if the lead is missing in the trace; then the
	// calls of an interval are spread evenly.
	TimesOf int

	allocations []Allocation // of the trace, for Text and AppendJSON
	sites       []Site
}

// Succeeded reports whether the call returned no error code (a named one or a number).
func (e *Event) Succeeded() bool {
	return e.Function.Return != "int" || e.Return.Form == Int && e.Return.Int == 0
}

// Unfinished reports whether the call never returned: the process ended in it. Its results are
// absent, and Exit is the latest time at which the process is known to have lived.
func (e *Event) Unfinished() bool { return e.Return.Form == Absent }

// LeftByProgram is the text for the result of a call that was left (Event.Left).
const LeftByProgram = "left by the program"

// Left reports whether the call never returned, though its process went on: the program left it by
// longjmp, an exception or the end of the thread. It counts as a call that failed: its results are
// absent, and what it has done is not known. Exit is when that was seen, or else the thread's next
// call, so it is an upper bound.
func (e *Event) Left() bool { return e.Return.Form == Null }

// Input returns the argument with a role before the call, nil if there is none.
func (e *Event) Input(role semantics.Role) *Value { return argumentAt(e.In, e.Semantics.In[role]) }

// Output returns the argument with a role after the call, nil if there is none.
func (e *Event) Output(role semantics.Role) *Value { return argumentAt(e.Out, e.Semantics.Out[role]) }

// argumentAt returns the argument at a position that semantics reports, nil if there is none.
func argumentAt(values []Value, at int8) *Value {
	if at < 0 || int(at) >= len(values) {
		return nil
	}
	return &values[at]
}

// Text returns the call as one line:
//
//		MPI_Recv(buf=…, count=4, …, status={source=0, tag=7, bytes=16}) = MPI_SUCCESS
//
//	  - A function is its name (or module+offset).
//	  - A pointer is its allocation and the offset in it ("heap#3+128"; "…" if that was not
//	    recorded).
//	  - A handle is its kind and number ("request#3").
//	  - A parameter that the call changed has both values: request=request#3→MPI_REQUEST_NULL. So
//	    does a status that the program ignored:
//	    status=MPI_STATUS_IGNORE→{source=0, tag=7, bytes=16}.
//	  - Parameters that are not significant on this rank are "-".
//	  - An error code is its name, or, if MPI has no name for it, a number.
//	  - A call that never returned has a text instead of its result.
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
	if e.Left() {
		return append(b, LeftByProgram...)
	}
	if e.Function.Return == "int" && e.Succeeded() {
		return append(b, "MPI_SUCCESS"...)
	}
	return appendValueText(b, &e.Return, e.Function.Return)
}

// ignoredName is the constant that the program passed to ignore statuses.
func ignoredName(p *Parameter) string {
	if p.List {
		return "MPI_STATUSES_IGNORE"
	}
	return "MPI_STATUS_IGNORE"
}

// appendArgument writes a value; a function of the program is its name.
func (e *Event) appendArgument(b []byte, v *Value, kind string) []byte {
	if site := e.code(v); site != nil {
		return append(b, funcname.Short(site.name())...)
	}
	if allocation := e.allocation(v); allocation != nil {
		return appendPointerText(b, v, allocation)
	}
	return appendValueText(b, v, kind)
}

// code returns the site of a function that is an argument of the call, nil for all other values.
func (e *Event) code(v *Value) *Site {
	if v.Form != Code || v.Int < 1 || v.Int > int64(len(e.sites)) {
		return nil
	}
	return &e.sites[v.Int-1]
}

// name is the name of a callback function, or its address before symbols are resolved.
func (s *Site) name() string {
	if s.Function != "" {
		return s.Function
	}
	return fmt.Sprintf("%s+%#x", s.Module, s.Offset-1)
}

// An argument is one parameter of a call with its value before and after; nil: not recorded.
type argument struct {
	parameter     *Parameter
	before, after *Value
}

// changed reports whether the call changed an inout parameter.
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
				a.after = nil // not recorded, or no change
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

// statusFields are the elements of a status, in order.
var statusFields = [...]string{"source", "tag", "error", "cancelled", "bytes"}

func appendValueText(b []byte, v *Value, kind string) []byte {
	switch v.Form {
	case Absent:
		return append(b, '-')
	case Null:
		return append(b, "NULL"...)
	case Int:
		if v.Int == undefined && kind == statusKind { // a field of one
			return append(b, undefinedName...)
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
		b = appendValueText(b, x, statusKind)
	}
	return append(b, '}')
}

// Number returns the number that a value of a parameter or result of this kind has; false for
// handles, MPI_UNDEFINED, and everything else that is not a number.
func (v *Value) Number(kind string) (int64, bool) {
	return v.Int, v.Form == Int && (v.Int != undefined || kind != statusKind)
}

// TextOf returns a value of a parameter or result of this kind in the form of Event.Text.
func TextOf(v *Value, kind string) string {
	if v.Form == Name {
		return v.Text
	}
	return string(appendValueText(nil, v, kind))
}

// AppendJSON appends the call as one JSON object without line breaks:
//
//	{"rank":0,"thread":0,"index":17,"function":"MPI_Send","args":{"buf":"…","count":4,…},
//	 "return":0,"start_ns":81234567,"duration_ns":420,
//	 "call_site":{"module":"a.out","offset":4660,…},"call_path":[{…},…]}
//
// Values:
//
//   - Arguments are in the order of the parameter list. Numbers are numbers, lists are arrays, and
//     a status is an object.
//   - Names, functions ("op_fn"), handles ("comm#1") and pointers ("…") are strings.
//   - A pointer with a known allocation is an object: kind, segment, offset, size, the thread or
//     device that it belongs to, and allocated_at, which is like call_site.
//   - NULL, and what is not significant on this rank, is null.
//   - An inout parameter that the call changed is {"in":…,"out":…}.
//   - Floating-point values that JSON lacks are strings ("NaN", "+Inf", "-Inf").
//   - The "return" of a function that returns an error code is 0, a name ("MPI_ERR_IN_STATUS"), or
//     a number for which MPI has no name.
//   - start_ns is CLOCK_MONOTONIC of the node, which ranks with equal boot ids share. It and
//     duration_ns are null if single calls have no times (timing is aggregated).
//
// Optional keys:
//
//   - call_site, if it is known; call_path, the sites that it was reached from, innermost first, if
//     paths were recorded;
//   - "status_ignored":true if the program passed MPI_STATUS(ES)_IGNORE;
//   - "untraced":true if tracing was off for some of the time since the previous call;
//   - "unfinished":true if the call never returned: then "return" is null, and the duration lasts
//     until the process was last known to live;
//   - "left":true if the program left the call (Event.Left): "return" is null, too;
//   - "times_of":3 if the times are those of a lead rank (Event.TimesOf).
func (e *Event) AppendJSON(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(e.Rank), 10)
	b = strconv.AppendInt(append(b, `,"thread":`...), int64(e.Thread), 10)
	b = strconv.AppendUint(append(b, `,"index":`...), e.Index, 10)
	b = appendJSONString(append(b, `,"function":`...), e.Function.Name)
	b = e.AppendArgumentsJSON(append(b, `,"args":`...))
	b = appendValueJSON(append(b, `,"return":`...), &e.Return, e.Function.Return)
	if e.Timed {
		b = strconv.AppendInt(append(b, `,"start_ns":`...), e.Enter, 10)
		b = strconv.AppendInt(append(b, `,"duration_ns":`...), e.Exit-e.Enter, 10)
	} else {
		b = append(b, `,"start_ns":null,"duration_ns":null`...)
	}
	if e.TimesOf != e.Rank {
		b = strconv.AppendInt(append(b, `,"times_of":`...), int64(e.TimesOf), 10)
	}
	if e.Unfinished() {
		b = append(b, `,"unfinished":true`...)
	}
	if e.Left() {
		b = append(b, `,"left":true`...)
	}
	if e.Signature.StatusIgnored {
		b = append(b, `,"status_ignored":true`...)
	}
	if e.Signature.Generalized {
		b = append(b, `,"generalized":true`...)
	}
	if e.Signature.Untraced {
		b = append(b, `,"untraced":true`...)
	}
	if e.Site != nil {
		b = append(b, `,"call_site":`...)
		b = e.Site.appendJSON(b)
		if e.Site.Caller > 0 {
			b = append(e.appendCallPath(append(b, `,"call_path":[`...)), ']')
		}
	}
	return append(b, '}')
}

// AppendArgumentsJSON appends the arguments of the call as one JSON object, in the form of
// AppendJSON.
func (e *Event) AppendArgumentsJSON(b []byte) []byte {
	b = append(b, '{')
	first := true
	for a := range e.arguments {
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendJSONString(b, a.parameter.Name), ':')
		switch {
		case a.changed():
			b = e.appendArgumentJSON(append(b, `{"in":`...), a.before, a.parameter.Kind)
			b = e.appendArgumentJSON(append(b, `,"out":`...), a.after, a.parameter.Kind)
			b = append(b, '}')
		case a.after != nil:
			b = e.appendArgumentJSON(b, a.after, a.parameter.Kind)
		case a.before != nil:
			b = e.appendArgumentJSON(b, a.before, a.parameter.Kind)
		default:
			b = append(b, "null"...)
		}
	}
	return append(b, '}')
}

func (e *Event) appendArgumentJSON(b []byte, v *Value, kind string) []byte {
	if site := e.code(v); site != nil {
		return appendJSONString(b, site.name())
	}
	if allocation := e.allocation(v); allocation != nil {
		return e.appendPointerJSON(b, v, allocation)
	}
	return appendValueJSON(b, v, kind)
}

func (s *Site) appendJSON(b []byte) []byte {
	b = appendJSONString(append(b, `{"module":`...), s.Module)
	b = appendJSONString(append(b, `,"build_id":`...), s.BuildID)
	b = strconv.AppendUint(append(b, `,"offset":`...), s.Offset, 10)
	if s.Function != "" {
		b = appendJSONString(append(b, `,"function":`...), s.Function)
	}
	if s.File != "" {
		b = appendJSONString(append(b, `,"file":`...), s.File)
		b = strconv.AppendInt(append(b, `,"line":`...), int64(s.Line), 10)
	}
	return append(b, '}')
}

func appendValueJSON(b []byte, v *Value, kind string) []byte {
	switch v.Form {
	case Absent, Null:
		return append(b, "null"...)
	case Int:
		return strconv.AppendInt(b, v.Int, 10)
	case Float:
		x := math.Float64frombits(uint64(v.Int))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return append(strconv.AppendFloat(append(b, '"'), x, 'g', -1, 64), '"')
		}
		return strconv.AppendFloat(b, x, 'g', -1, 64)
	case Text, Name:
		return appendJSONString(b, v.Text)
	case List:
		b = append(b, '[')
		for i := range v.List {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValueJSON(b, &v.List[i], kind)
		}
		return append(b, ']')
	case Status:
		b = append(b, '{')
		for i := range min(len(v.List), len(statusFields)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(append(b, '"'), statusFields[i]...), `":`...)
			b = appendValueJSON(b, &v.List[i], "")
		}
		return append(b, '}')
	}
	b = append(b, '"')
	b = appendValueText(b, v, kind)
	return append(b, '"')
}

// appendJSONString appends s quoted; invalid UTF-8 becomes U+FFFD.
func appendJSONString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r < 0x20 || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
