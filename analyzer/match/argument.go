package match

import "github.com/cairn-mpi/cairn/trace"

// Ranks and tags that are no numbers of ranks and tags.
const (
	noValue   = -1 << 30 // absent or of a form that cannot be read
	procNull  = -1<<30 + 1
	anyValue  = -1<<30 + 2 // MPI_ANY_SOURCE, MPI_ANY_TAG
	rootHere  = -1<<30 + 3 // MPI_ROOT
	undefined = -1<<30 + 4
)

// argument is the i-th value, the zero Value where there is none.
func argument(values []trace.Value, i int) *trace.Value {
	if i < 0 || i >= len(values) {
		return &absent
	}
	return &values[i]
}

var absent trace.Value

// number reads a rank, tag, count, index or flag.
func number(v *trace.Value) int64 {
	switch v.Form {
	case trace.Int, trace.Handle:
		return v.Int
	case trace.Name:
		switch v.Text {
		case "MPI_PROC_NULL":
			return procNull
		case "MPI_ANY_SOURCE", "MPI_ANY_TAG":
			return anyValue
		case "MPI_ROOT":
			return rootHere
		case "MPI_UNDEFINED":
			return undefined
		}
	}
	return noValue
}

// envelope is what a status tells of a message.
type envelope struct {
	source, tag, bytes int64
	cancelled          bool
}

// statusFields are the numbers of a status: source, tag, error, cancelled, bytes.
const statusFields = 5

// statusOf reads a status; ok is false where the call left none.
func statusOf(v *trace.Value) (e envelope, ok bool) {
	if v.Form != trace.Status && v.Form != trace.List {
		return envelope{bytes: -1}, false
	}
	return statusIn(v, 0)
}

// statusIn reads the i-th status of a value: of a list of statuses, of one status, or of a list of plain numbers, which
// is how statuses are kept of which a call may leave more or fewer.
func statusIn(v *trace.Value, i int) (e envelope, ok bool) {
	fields := v.List
	switch {
	case v.Form == trace.List && i < len(v.List) && v.List[i].Form == trace.Status:
		fields = v.List[i].List
	case v.Form == trace.List && len(v.List) >= (i+1)*statusFields && v.List[0].Form != trace.Status:
		fields = v.List[i*statusFields : (i+1)*statusFields]
	case v.Form != trace.Status:
		return envelope{bytes: -1}, false
	}
	if len(fields) < statusFields {
		return envelope{bytes: -1}, false
	}
	e = envelope{source: number(&fields[0]), tag: number(&fields[1]), bytes: number(&fields[4])}
	e.cancelled = number(&fields[3]) > 0
	return e, true
}

// element is the i-th element of a list, or the value itself if it is no list.
func element(v *trace.Value, i int) *trace.Value {
	if v.Form != trace.List {
		return v
	}
	return argument(v.List, i)
}
