package reexecution

import (
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A Treatment is how the calls of a function are replayed.
type Treatment uint8

// Treatments.
const (
	Issued  Treatment = iota // replayed, perhaps in another form
	LeftOut                  // they do not affect other processes
	Refused                  // their effects cannot be repeated
)

// TreatmentOf returns the treatment of a function, and why it is refused.
func TreatmentOf(f *mpi.Function) (Treatment, string) {
	s := semantics.Of(f)
	switch s.Operation {
	case semantics.Time, semantics.Tool, semantics.ToolRead, semantics.Convert, semantics.ErrorCodes:
		return LeftOut, ""
	case semantics.StatusAccess:
		if s.Out[semantics.Status] >= 0 { // it changes a status
			return LeftOut, ""
		}
	case semantics.Query:
		if f.Return != mpi.KindErrorCode || s.In[semantics.Buffer] >= 0 { // addresses
			return LeftOut, ""
		}
	case semantics.Abort:
		return Refused, "it ends the job"
	case semantics.GeneralizedRequest:
		return Refused, "what completes a generalized request is the program's own"
	case semantics.Datarep:
		return Refused, "the conversion functions of a data representation are the program's own"
	case semantics.Port, semantics.NameService:
		return Refused, "ports lead to other jobs"
	case semantics.WindowMemory:
		return Refused, "memory that is attached to a dynamic window is accessed by its address"
	case semantics.CommunicatorCreate:
		switch s.Creation {
		case semantics.FromSpawn, semantics.FromConnect, semantics.FromAccept, semantics.FromJoin:
			return Refused, "the processes on the other side are not in this trace"
		default:
		}
	default:
	}
	for i := range f.Params {
		switch f.Params[i].Kind {
		case mpi.KindStrings, mpi.KindArgumentLists, mpi.KindFStatus, mpi.KindF08Status:
			return Refused, "the replayer does not pass lists of strings"
		default:
		}
	}
	return Issued, ""
}

// NamesFile reports whether a string argument is the name of a file.
func NamesFile(s *semantics.Function) bool {
	return s.Operation == semantics.FileOpen || s.Operation == semantics.FileChange && s.In[semantics.File] < 0
}
