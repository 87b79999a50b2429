package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// A rank numbers its requests in the order in which it first had each, so those of a rank with fewer neighbors have other
// numbers than the same ones of another rank, and every signature with one is another. The finished trace has numbers that
// all ranks share: that of a request is told by the call that makes it (its signature but for the request) and by which
// one it is of those that are like it. Only which are equal means anything, so a rank may have any numbers, as long as each
// request keeps its own.
//
// Threads of a process share requests, and requests in streams are numbers of the rank's own: shapes that have either
// keep the numbers that they have.

// maxRequests is how many numbers there may be in all: readers have tables of requests.
const maxRequests = 1024

// A requestKey is what a request is told by.
type requestKey struct {
	maker   string // signature without its requests
	ordinal int    // among those of a shape with this maker
}

// renumber gives the requests in the signatures of a shape, which are in order of first use, the numbers of the trace.
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

// requestsIn lists the requests of a value; all is false if it has more than the signature tells.
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

// replaced is a value with other numbers; 0 for those that are not in the table.
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
