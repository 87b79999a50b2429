package trace

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendJSON appends the call as one JSON object without line breaks:
//
//	{"rank":0,"thread":0,"index":17,"function":"MPI_Send","args":{"buf":"…","count":4,…},"return":0,
//	 "start_ns":81234567,"duration_ns":420,"call_site":{"module":"a.out","offset":4660,…},"call_path":[{…},…]}
//
// Arguments are in the order of the parameter list: numbers are numbers; names, functions ("op_fn"), handles ("comm#1")
// and pointers ("…") are strings; a pointer whose segment is known is an object: kind, segment, offset, size, the thread
// or device that it belongs to, and allocated_at, a place like call_site. NULL and what does not count on this rank are null; lists are arrays; a status is an object. An inout
// parameter that the call changed is {"in":…,"out":…}. start_ns is CLOCK_MONOTONIC of the node, which ranks of one
// boot id share; it and duration_ns are null where the times of single calls were not kept (timing aggregated). call_site is left out where it is unknown; call_path, the places that it was reached from, innermost
// first, where paths were not kept. Floating-point values that JSON lacks are strings ("NaN", "+Inf", "-Inf"). The
// "return" of a function that returns an error code is 0, a name ("MPI_ERR_IN_STATUS"), or a number that the library made
// up. "status_ignored":true is there when the program passed MPI_STATUS(ES)_IGNORE, "untraced":true when tracing was off
// during some of the time since the previous call, "unfinished":true when the call never returned ("return" is null then,
// and the duration is until the process was last known to live), "times_of":3 when the times are those of a lead rank (Event.TimesOf).
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

// AppendArgumentsJSON appends the arguments of the call as one JSON object, as AppendJSON has them.
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
	if segment := e.segment(v); segment != nil {
		return e.appendPointerJSON(b, v, segment)
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
		if !handleKinds[kind] {
			return strconv.AppendInt(b, v.Int, 10)
		}
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

// appendJSONString appends s quoted; bytes that are no UTF-8 become U+FFFD.
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
