package stopped

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// argumentKinds are the kinds of parameters that an error class is about.
var argumentKinds = map[string]string{
	"MPI_ERR_COUNT": "count", "MPI_ERR_TYPE": "datatype", "MPI_ERR_TAG": "tag", "MPI_ERR_RANK": "rank", "MPI_ERR_ROOT": "root",
	"MPI_ERR_OP": "op", "MPI_ERR_COMM": "comm", "MPI_ERR_REQUEST": "request", "MPI_ERR_GROUP": "group", "MPI_ERR_INFO": "info",
	"MPI_ERR_INFO_KEY": "info", "MPI_ERR_INFO_VALUE": "info", "MPI_ERR_INFO_NOKEY": "info", "MPI_ERR_KEYVAL": "keyval",
	"MPI_ERR_WIN": "win", "MPI_ERR_FILE": "file", "MPI_ERR_LOCKTYPE": "lock-type",
	"MPI_ERR_RMA_SYNC": "win", "MPI_ERR_RMA_CONFLICT": "win", "MPI_ERR_RMA_RANGE": "win", "MPI_ERR_RMA_ATTACH": "win",
	"MPI_ERR_RMA_SHARED": "win", "MPI_ERR_RMA_FLAVOR": "win", "MPI_ERR_BUFFER": "buffer", "MPI_ERR_NAME": "string",
	"MPI_ERR_SERVICE": "string", "MPI_ERR_PORT": "string", "MPI_ERR_SPAWN": "string", "MPI_ERR_NO_SUCH_FILE": "string",
	"MPI_ERR_BAD_FILE": "string", "MPI_ERR_ACCESS": "string", "MPI_ERR_FILE_EXISTS": "string", "MPI_ERR_FILE_IN_USE": "string",
	"MPI_ERR_AMODE": "access-mode", "MPI_ERR_READ_ONLY": "file", "MPI_ERR_NO_SPACE": "file", "MPI_ERR_QUOTA": "file",
}

// views returns the rank as each of its threads that is in a call would have it, its main thread
// first.
func (r *state) views() (list []*state) {
	if r.inCall() {
		list = append(list, r)
	}
	for i, u := range r.others {
		if u == nil {
			continue
		}
		v := *r
		if v.open, v.detail, v.polls = u, r.details[i], false; v.inCall() {
			list = append(list, &v)
		}
	}
	return list
}

// failing returns the rank as its thread has it whose call can have failed with an error of a class
// most of all: rather one that could have returned than one that waited.
func (s *search) failing(r *state, class string) *state {
	best := r
	for i, v := range r.views() {
		now, before := s.mayFail(v, class), s.mayFail(best, class)
		if i == 0 || now > before || now == before && best.waits() && !v.waits() {
			best = v
		}
	}
	return best
}

// culprits returns the rows with an open call that may have failed with an error of a class: those
// with an argument that is such an error, otherwise those of which it is not known that they
// cannot.
func (s *search) culprits(class string, among func(*state) bool) []int {
	for _, least := range []doubt{faulty, unsure} {
		if rows := s.rowsOf(func(r *state) bool { return among(r) && s.mayFail(s.failing(r, class), class) >= least }); len(rows) > 0 {
			return rows
		}
	}
	return nil
}

// mayFail returns whether the open call of a rank may fail with an error of a class.
func (s *search) mayFail(r *state, class string) doubt {
	if r.open == nil || r.detail.function == nil {
		return sound
	}
	found, checked := r.detail.faults[class]
	if found.doubt == faulty && s.proven(r.detail.signature) { // the library allows it
		return sound
	}
	switch {
	case class == "MPI_ERR_TRUNCATE", class == "MPI_ERR_IN_STATUS":
		return s.mayTruncate(r, class)
	case class == "MPI_ERR_OTHER", class == "MPI_ERR_INTERN", class == "MPI_ERR_UNKNOWN":
		if r.waits() || s.proven(r.detail.signature) {
			return sound
		}
		return unsure
	case len(r.open.Waits) > 0 && completes(r.detail.function): // the requests are known
		return sound
	case checked && found.doubt != unsure:
		return found.doubt
	case argumentKinds[class] != "" && !s.has(r, argumentKinds[class]), s.proven(r.detail.signature):
		return sound
	}
	return unsure
}

// mustFail reports whether the open call of a rank fails with an error of a class, whatever other
// ranks do. Of a message that is too long only the receiver knows.
func (s *search) mustFail(r *state, class string) bool {
	return class != "MPI_ERR_TRUNCATE" && s.mayFail(s.failing(r, class), class) == faulty
}

// completes reports whether a function completes requests, and does nothing else.
func completes(f *semantics.Function) bool {
	switch f.Operation {
	case semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll, semantics.RequestStatus:
		return true
	default:
		return false
	}
}

// has reports whether the function that a rank is in has a parameter of a kind.
func (s *search) has(r *state, kind string) bool {
	f := s.trace.Function(r.open.Function)
	return f != nil && slices.ContainsFunc(f.Parameters, func(p trace.Parameter) bool { return p.Kind == kind && p.Direction != trace.Out })
}

// mayTruncate returns whether the open call of a rank may fail since a message is too long. MPICH
// reports that of a call that completes several requests as an error in its statuses, and only of
// these; and MPI_Waitall when all of them are done.
func (s *search) mayTruncate(r *state, class string) doubt {
	operation := r.detail.function.Operation
	several := operation == semantics.WaitAll || operation == semantics.WaitSome
	switch {
	case operation == semantics.Pack, operation == semantics.Unpack:
		return unsure
	case s.trace.Meta().ABI != "mpich":
	case several && (class == "MPI_ERR_TRUNCATE" && len(r.open.Waits) > 1 || operation == semantics.WaitAll && r.waits()),
		!several && class == "MPI_ERR_IN_STATUS":
		return sound
	}
	found := sound
	for i := range r.open.Waits {
		found = max(found, s.truncates(r, &r.open.Waits[i]))
	}
	return found
}

// proven reports whether a call has succeeded, on any rank, with the arguments of a signature. What
// handles stand for may have changed since.
func (s *search) proven(open *trace.Signature) bool {
	if open == nil {
		return false
	}
	if known, asked := s.tried[open]; asked {
		return known
	}
	found := false
	if !slices.ContainsFunc(open.In, varies) {
		signatures := s.trace.Signatures()
		for i := range signatures {
			o := &signatures[i]
			if o.Function == open.Function && o.Return.Form == trace.Int && o.Return.Int == 0 && slices.EqualFunc(o.In, open.In, equal) {
				found = true
				break
			}
		}
	}
	s.tried[open] = found
	return found
}

// varies reports whether a value of a signature is not the same in all of its calls, or is a
// handle.
func varies(v trace.Value) bool {
	switch v.Form {
	case trace.Stream, trace.ListStream, trace.Column, trace.Handle, trace.Elastic:
		return true
	case trace.List:
		return slices.ContainsFunc(v.List, varies)
	default:
		return false
	}
}
