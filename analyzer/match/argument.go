package match

import "github.com/cairn-mpi/cairn/trace"

// Ranks and tags that are not numbers.
const (
	noValue   = -1 << 30 // absent or of a form that cannot be read
	procNull  = -1<<30 + 1
	anyValue  = -1<<30 + 2 // MPI_ANY_SOURCE, MPI_ANY_TAG
	rootHere  = -1<<30 + 3 // MPI_ROOT
	undefined = -1<<30 + 4
)

// argument returns the i-th value, or the zero Value if there is none.
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
	case trace.Int:
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

// envelope is the content of an MPI_Status.
type envelope struct {
	tag, bytes       int64
	source           int32
	cancelled, known bool // known: the call returned a status
}

// statusFields is the number of fields of a status: source, tag, error, cancelled, bytes.
const statusFields = 5

// rank reads a rank as number does, noValue if it does not fit.
func rank(v *trace.Value) int32 {
	n := number(v)
	if n != int64(int32(n)) {
		return noValue
	}
	return int32(n)
}

// statusIn reads the i-th status of v, which is a list of statuses, a single status, or a flat list
// of statusFields numbers per status. The flat form is used where the number of statuses varies
// between calls.
func statusIn(v *trace.Value, i int) envelope {
	fields := v.List
	switch {
	case v.Form == trace.List && i < len(v.List) && v.List[i].Form == trace.Status:
		fields = v.List[i].List
	case v.Form == trace.List && len(v.List) >= (i+1)*statusFields && v.List[0].Form != trace.Status:
		fields = v.List[i*statusFields : (i+1)*statusFields]
	case v.Form != trace.Status:
		return envelope{bytes: -1}
	}
	if len(fields) < statusFields {
		return envelope{bytes: -1}
	}
	return envelope{
		source: rank(&fields[0]), tag: number(&fields[1]), bytes: number(&fields[4]), cancelled: number(&fields[3]) > 0, known: true,
	}
}
