package recorder

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A slot says where a value goes: into the signature, or to a value stream of it.
type slot uint8

const (
	inSignature   slot = iota
	inStream           // one value each call
	inList             // a list each call: its length, then its elements
	leftOut            // follows from the rest of the call (doc.go, "Requests")
	inStatus           // a status: its five fields are a stream each
	inStatuses         // a fixed number of statuses: five streams each
	inStatusList       // none, one or many statuses: a list of five numbers each
	inSignatureIf      // in the signature where the call defined it, else Absent
)

// This file is the one place that decides which values make a call another call (signature) and which are results of
// it (streams). A value belongs to a stream if two executions of the same statement on the same objects, one
// iteration apart, would be expected to differ in it:
//
//	status                  always: also as an argument of MPI_Get_count
//	double, timestamp       always: times
//	aint                    results only: addresses (MPI_Get_address)
//	bool, index, count,     results of calls that wait, test, probe, receive or ask a status or a window; elsewhere
//	bytes, offset, int,     (MPI_Comm_size, MPI_Type_size, MPI_Cart_shift) they are properties of objects and make
//	rank, tag, errorcode    good signatures
//
// A status that exists only sometimes (a failed poll, MPI_Waitsome) is a list with nothing, one or more in it, so that
// the outcome of a poll does not change the terminal. The message of MPI_Improbe stays in the signature: what is done
// with it follows, and differs from what follows a failed poll, anyway.
//
// Everything else is in the signature, sizes and peers too: whether a slot that varies from call to call becomes a
// stream is decided at the final merge, from the whole content (DESIGN §4), or here once it has taken too many values
// (families.go).
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

// slotOfOut is that of a result; varies: of a call whose results vary.
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
