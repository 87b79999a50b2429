package semantics

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
)

// A Declaration is the textual description of a function.
type Declaration struct {
	Name       string // "MPI_Send"
	Class      string // in the words of mpi.Class
	Parameters []Parameter
}

// A Parameter is a formal parameter of a function.
type Parameter struct {
	Name, Kind string // as in functions.txt of package mpi
	In, Out    bool   // read before the call, written by it, or both
	List       bool   // an array
}

// A Function is the meaning of calls of an MPI function. It is immutable.
type Function struct {
	// Words is the class as declared, for messages to people.
	Words string

	Operation  Operation
	Completion Completion

	// Polls: the call tests whether something has happened and returns immediately, with Out[Flag]
	// or Out[OutCount].
	Polls bool

	// Collective: all processes of a communicator, or of the group of a window or file, must make
	// the call.
	Collective bool

	// Movement is how a collective operation moves or combines data.
	Movement Movement

	// PerPeer: Count is the amount for each process of the communicator, including the caller
	// (MPI_Alltoall, MPI_Scatter). ReceivePerPeer: ReceiveCount is the amount from each process, or
	// for each (MPI_Allgather, MPI_Reduce_scatter_block). Neither is set for lists of counts, nor
	// for the counts of neighborhood collectives.
	PerPeer, ReceivePerPeer bool

	// Details of single operations: Mode of Send, Creation of CommunicatorCreate (and of the query
	// for the parent), Access of RemoteAccess and FileAccess, Synchronization of WindowSynchronize,
	// Group of GroupCreate, Datatype of DatatypeCreate.
	Mode            Mode
	Creation        Creation
	Access          Access
	Synchronization Synchronization
	Group           GroupConstructor
	Datatype        DatatypeConstructor

	// Roles has the role of each parameter.
	Roles []Role

	// In and Out are the positions of the argument with a role among the values of a call: In among
	// those of in and inout parameters, Out among those of out and inout parameters.
	In, Out Positions
}

// Of returns the meaning of calls of a function of the standard.
func Of(f *mpi.Function) *Function {
	d := Declaration{Name: f.Name, Class: string(f.Class), Parameters: make([]Parameter, len(f.Params))}
	for i := range f.Params {
		p := &f.Params[i]
		d.Parameters[i] = Parameter{Name: p.Name, Kind: p.Kind.String(), In: p.Direction.IsIn(), Out: p.Direction.IsOut(), List: p.IsArray()}
	}
	return New(&d)
}

// New interprets a declaration.
func New(d *Declaration) *Function {
	class := mpi.Class(d.Class)
	f := &Function{Words: d.Class, Completion: completionOf(class), Collective: class.IsCollective()}
	f.operation(class)
	switch f.Operation {
	case Send:
		f.Mode = modeOf(class)
	case CommunicatorCreate, Query:
		f.Creation = creationOf(class)
	case RemoteAccess, FileAccess:
		f.Access = accessOf(class)
	case WindowSynchronize:
		f.Synchronization = synchronizationOf(class)
		f.Polls = f.Synchronization == SyncTest
	case OneToAll, AllToOne, AllToAll, Prefix, Neighbor:
		f.Movement = movementOf(d.Name)
	case GroupCreate:
		f.Group = groupConstructorOf(d.Name)
	case DatatypeCreate:
		f.Datatype = datatypeConstructorOf(d.Name)
	}
	f.assign(d.Parameters)
	if f.Operation != Neighbor {
		f.PerPeer = (f.Movement == AllToAllExchange || f.Movement == Scatter) && !f.isList(d, Count)
		f.ReceivePerPeer = f.Movement.receivesFromEach() && !f.isList(d, ReceiveCount)
	}
	f.Polls = f.Polls && (f.Out[Flag] >= 0 || f.Out[OutCount] >= 0)
	return f
}

// isList reports whether the argument with a role is an array, or missing.
func (f *Function) isList(d *Declaration, role Role) bool {
	i := slices.Index(f.Roles, role)
	return i < 0 || d.Parameters[i].List
}

// StartsOrEnds reports whether calls start or end MPI, a session, or the tool interface.
func (f *Function) StartsOrEnds() bool {
	switch f.Operation {
	case Initialize, Finalize, SessionCreate, SessionFree:
		return true
	case Tool:
		class := mpi.Class(f.Words)
		return class.Has("init") || class.Has("finalize")
	}
	return false
}

// IsAboutMessages reports whether calls send, receive, or wait for messages, or access the memory
// of other processes.
func (f *Function) IsAboutMessages() bool {
	switch mpi.Class(f.Words).Group() {
	case mpi.GroupPointToPoint, mpi.GroupRMA:
		return !f.IsLocal()
	}
	return false
}

// IsLocal reports whether calls neither communicate nor wait for others (MPI 4.0 §2.4.2): they
// create, query, change or free objects of their own process, or copy its data. Calls that only
// start or test an operation are not among them.
func (f *Function) IsLocal() bool {
	switch f.Operation {
	case StatusAccess, RequestFree, GeneralizedRequest, WindowMemory, DatatypeCreate, DatatypeFree, DatatypeCommit,
		GroupCreate, GroupFree, OpCreate, OpFree, InfoCreate, InfoFree, InfoChange, ErrhandlerCreate, ErrhandlerFree,
		ErrhandlerUse, ErrorCodes, KeyvalCreate, KeyvalFree, Attribute, SetName, SetInfo, MemoryAlloc, MemoryFree,
		Datarep, Query, Time, Control, Convert, Tool, ToolRead:
		return !f.Collective && !f.StartsOrEnds()
	case SendBuffers: // to detach or flush one waits for its messages
		return mpi.Class(f.Words).Has("attach")
	}
	return f.CopiesData()
}

// CopiesData reports whether calls copy or combine data within their process.
func (f *Function) CopiesData() bool {
	switch f.Operation {
	case Pack, Unpack, ReduceLocal:
		return true
	}
	return false
}

// IsFileOperation reports whether calls operate on files.
func (f *Function) IsFileOperation() bool {
	switch f.Operation {
	case FileOpen, FileClose, FileAccess, FileChange:
		return true
	}
	return false
}

// IsLocalQuery reports whether calls only query the state of the process: they do not block and
// change nothing.
func (f *Function) IsLocalQuery() bool {
	switch f.Operation {
	case Time, Query, StatusAccess:
		return true
	}
	return false
}

// MovesData reports whether calls move or combine the data that Count and Datatype describe.
func (f *Function) MovesData() bool {
	switch f.Operation {
	case Send, Receive, SendReceive, MatchedReceive, OneToAll, AllToOne, AllToAll, Prefix, Neighbor, ReduceLocal,
		RemoteAccess, FileAccess:
		return true
	}
	return false
}

// Receives reports whether calls receive a message, or create a request that does.
func (f *Function) Receives() bool {
	switch f.Operation {
	case Receive, SendReceive, MatchedReceive:
		return true
	}
	return false
}

// IsPersistent reports whether calls create a request that is started later, any number of times.
func (f *Function) IsPersistent() bool {
	return f.Completion == Persistent || f.Completion == Partitioned
}
