package key

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// This file alone decides which values distinguish calls (signature) and which are results
// (streams). A value belongs to a stream if it is expected to differ between two executions of the
// same statement on the same objects, one iteration apart:
//
//	status                  always: also as an argument of MPI_Get_count
//	double, timestamp       always: times
//	aint                    results only: addresses (MPI_Get_address)
//	bool, index, count,     results of calls that wait, test, probe, receive or ask a status or a
//	bytes, offset, int,     window; elsewhere (MPI_Comm_size, MPI_Type_size, MPI_Cart_shift) they
//	rank, tag, errorcode    are properties of objects and make good signatures
//
// A status that may be missing (a failed poll, MPI_Waitsome) is a list of zero or more, so that the
// outcome of a poll does not change the terminal. The message of MPI_Improbe stays in the
// signature: the calls that use it follow only a successful poll anyway.
//
// Everything else is in the signature, including sizes and peers. A slot that varies from call to
// call becomes a stream in the final merge, which sees all of the content (DESIGN §4), or in the
// recorder after too many different values (families.go).

// resultsVary reports whether the results of a function go to streams.
func resultsVary(f *semantics.Function) bool {
	switch f.Operation {
	case semantics.Receive, semantics.SendReceive, semantics.MatchedReceive, semantics.Probe, semantics.MatchedProbe,
		semantics.Wait, semantics.WaitAny, semantics.WaitSome, semantics.WaitAll,
		semantics.RequestStatus, semantics.StatusAccess, semantics.PartitionArrived,
		semantics.FileAccess, semantics.Time, semantics.ToolRead:
		return true
	}
	return f.Synchronization == semantics.SyncTest
}

// formOf returns the form of a value in the streams; values.None: it is in the signature. out means
// that it is a result, varies that the results of the call vary.
func formOf(p *mpi.Param, out, varies bool) values.Form {
	var stream bool
	switch p.Kind {
	case mpi.KindStatus:
		if p.OnlyIf != 0 || p.Defined.Op != mpi.TermNone {
			return values.StatusList
		}
		return values.Statuses
	case mpi.KindFStatus, mpi.KindF08Status, mpi.KindDouble, mpi.KindTimestamp:
		stream = true
	case mpi.KindAint:
		stream = out
	case mpi.KindBool, mpi.KindIndex, mpi.KindCount, mpi.KindBytes, mpi.KindOffset,
		mpi.KindInt, mpi.KindRank, mpi.KindTag, mpi.KindErrorCode:
		stream = out && varies
	}
	switch {
	case !stream:
		return values.None
	case shapeOf(p) == shapeArray:
		return values.List
	}
	return values.Word
}
