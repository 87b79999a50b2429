package key

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A slot is where a value goes: into the signature, or to a value stream of it.
type slot uint8

const (
	inSignature   slot = iota
	inStream           // one value per call
	inList             // a list per call: its length, then its elements
	leftOut            // follows from the rest of the call (identity, "Requests")
	inStatus           // a status: one stream for each of its five fields
	inStatuses         // a fixed number of statuses: five streams each
	inStatusList       // none, one or many statuses: a list of five numbers each
	inSignatureIf      // in the signature if the call defined it, else Absent
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

func slotOfIn(p *mpi.Param) slot {
	switch p.Kind {
	case mpi.KindStatus:
		return slotOfStatus(p)
	case mpi.KindFStatus, mpi.KindF08Status, mpi.KindDouble, mpi.KindTimestamp:
		return streamOf(p)
	}
	return inSignature
}

// slotOfOut returns the slot of a result; varies reports whether the results of the call vary.
func slotOfOut(p *mpi.Param, varies bool) slot {
	if p.Effect == mpi.EffectCompleted {
		return leftOut
	}
	switch p.Kind {
	case mpi.KindStatus:
		return slotOfStatus(p)
	case mpi.KindDouble, mpi.KindTimestamp, mpi.KindFStatus, mpi.KindF08Status, mpi.KindAint:
		return streamOf(p)
	case mpi.KindBool, mpi.KindIndex, mpi.KindCount, mpi.KindBytes, mpi.KindOffset,
		mpi.KindInt, mpi.KindRank, mpi.KindTag, mpi.KindErrorCode:
		if varies {
			return streamOf(p)
		}
	}
	if p.OnlyIf != 0 {
		return inSignatureIf
	}
	return inSignature
}

func streamOf(p *mpi.Param) slot {
	if shapeOf(p) == shapeArray {
		return inList
	}
	return inStream
}

func slotOfStatus(p *mpi.Param) slot {
	switch {
	case p.OnlyIf != 0 || p.Defined.Op != mpi.TermNone:
		return inStatusList
	case p.IsArray():
		return inStatuses
	}
	return inStatus
}

func slotOfReturn(f *mpi.Function) slot {
	switch f.Return {
	case mpi.KindDouble, mpi.KindTimestamp, mpi.KindAint:
		return inStream
	}
	return inSignature
}
