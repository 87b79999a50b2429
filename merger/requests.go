package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A rank numbers its requests in order of first use. So those of a rank with fewer neighbors differ
// from the same ones of another rank, and so does every signature with a request. The finished
// trace has numbers that all ranks share: a request is identified by the call that creates it (its
// signature except for the request) and by an ordinal among those that are alike. Only the equality
// of numbers has a meaning, so a rank may have any numbers, as long as each request keeps its own.
//
// Threads of a process share requests, and streams contain the rank's own numbers: shapes with
// several threads per process, or with requests in streams, keep the numbers that they have.

// maxRequests is the maximum number of requests: readers have tables of them.
const maxRequests = 1024

// A requestKey identifies a request.
type requestKey struct {
	maker   string // signature of the creating call without its requests
	ordinal int    // among the requests of a shape with this maker
}

// renumber replaces the requests in the signatures of a shape, which are in order of first use, by
// the numbers of the trace.
func (e *exporter) renumber(s *exported, signatures []trace.Signature) {
	if !e.final || len(e.order) < 2 || s.threaded {
		return
	}
	numbers := map[int64]int64{}
	made := map[string]int{}
	var fresh []requestKey
	for i := range signatures {
		f := e.table.functions[signatures[i].Function]
		maker := ""
		for _, v := range f.Requests(&signatures[i]) {
			ids, all := requestsIn(v)
			if !all {
				return
			}
			for _, id := range ids {
				if _, known := numbers[id]; known {
					continue
				}
				if maker == "" {
					maker = withoutRequests(signatures[i], f)
				}
				key := requestKey{maker, made[maker]}
				made[maker]++
				number, known := e.requests[key]
				if !known {
					number = int64(len(e.requests) + len(fresh))
					fresh = append(fresh, key)
				}
				numbers[id] = number
			}
		}
	}
	if len(e.requests)+len(fresh) > maxRequests {
		return
	}
	for _, key := range fresh {
		e.requests[key] = int64(len(e.requests))
	}
	for i := range signatures {
		for _, v := range e.table.functions[signatures[i].Function].Requests(&signatures[i]) {
			*v = replaced(*v, numbers)
		}
	}
}

// requestsIn lists the requests of a value; all is false if it has others that are not in the
// signature.
func requestsIn(v *trace.Value) (ids []int64, all bool) {
	switch v.Form {
	case trace.Absent, trace.Null, trace.Name:
		return nil, true
	case trace.Handle:
		return []int64{v.Int}, v.Int >= 0
	case trace.List:
		for i := range v.List {
			more, all := requestsIn(&v.List[i])
			if !all {
				return nil, false
			}
			ids = append(ids, more...)
		}
		return ids, true
	}
	return nil, false
}

// replaced returns a value with other numbers; 0 for requests that are not in the table.
func replaced(v trace.Value, numbers map[int64]int64) trace.Value {
	switch v.Form {
	case trace.Handle:
		v.Int = numbers[v.Int]
	case trace.List:
		v.List = slices.Clone(v.List)
		for i := range v.List {
			v.List[i] = replaced(v.List[i], numbers)
		}
	}
	return v
}

// withoutRequests is the encoding of a signature with all its requests equal.
func withoutRequests(s trace.Signature, f *trace.Function) string {
	s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
	for _, v := range f.Requests(&s) {
		*v = replaced(*v, nil)
	}
	return string(trace.AppendSignature(nil, &s))
}
