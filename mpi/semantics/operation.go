package semantics

import (
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// An Operation is what calls of a function do.
type Operation uint8

// Operations. Calls that test (MPI_Test, MPI_Iprobe) have the same operation as those that wait,
// with Polls set.
const (
	Unknown Operation = iota // the class is not known here

	Send
	Receive
	SendReceive
	MatchedReceive
	Probe
	MatchedProbe

	Start // persistent requests: one or a list
	Wait
	WaitAny
	WaitSome
	WaitAll
	RequestStatus // tests without completing
	RequestFree
	Cancel
	GeneralizedRequest
	StatusAccess // queries or sets fields of a status
	SendBuffers  // of buffered sends
	PartitionReady
	PartitionArrived

	Barrier
	OneToAll
	AllToOne
	AllToAll
	Prefix
	Neighbor

	CommunicatorCreate
	CommunicatorFree

	RemoteAccess
	WindowSynchronize
	WindowCreate
	WindowFree
	WindowMemory

	FileOpen
	FileClose
	FileAccess
	FileChange // deletes, seeks, sets the view or size, …

	DatatypeCreate
	DatatypeFree
	DatatypeCommit
	GroupCreate
	GroupFree
	OpCreate
	OpFree
	InfoCreate
	InfoFree
	InfoChange
	ErrhandlerCreate
	ErrhandlerFree
	ErrhandlerUse
	ErrorCodes
	KeyvalCreate
	KeyvalFree
	Attribute
	SessionCreate
	SessionFree
	SetName
	SetInfo
	Port
	NameService
	Pack
	Unpack
	ReduceLocal
	MemoryAlloc
	MemoryFree
	Datarep

	Initialize
	Finalize
	Abort
	Query
	Time
	Control // MPI_Pcontrol
	Convert // between C and Fortran handles
	Tool
	ToolRead // the result may differ each time
)

// operation sets the operation from the first word of a class, and from other words where that is
// not enough.
func (f *Function) operation(class mpi.Class) {
	op := class.Op()
	switch op {
	case "iprobe", "improbe", "test", "testany", "testsome", "testall", "request-status", "partition-arrived":
		f.Polls = true
	}
	switch op {
	case "set":
		f.Operation = SetInfo
		if class.Has("name") {
			f.Operation = SetName
		}
	case "tool":
		f.Operation = Tool
		if class.Has("read") {
			f.Operation = ToolRead
		}
	default:
		f.Operation = operationOf(op)
	}
}

// operationOf maps a word to an operation. It is a switch and not a map, so that nothing is
// initialized when a traced process starts.
func operationOf(word string) Operation {
	switch word {
	case "send":
		return Send
	case "recv":
		return Receive
	case "sendrecv":
		return SendReceive
	case "mrecv", "imrecv":
		return MatchedReceive
	case "probe", "iprobe":
		return Probe
	case "mprobe", "improbe":
		return MatchedProbe
	case "start", "startall":
		return Start
	case "wait", "test":
		return Wait
	case "waitany", "testany":
		return WaitAny
	case "waitsome", "testsome":
		return WaitSome
	case "waitall", "testall":
		return WaitAll
	case "request-status":
		return RequestStatus
	case "request-free":
		return RequestFree
	case "cancel":
		return Cancel
	case "grequest":
		return GeneralizedRequest
	case "status":
		return StatusAccess
	case "buffer":
		return SendBuffers
	case "partition-ready":
		return PartitionReady
	case "partition-arrived":
		return PartitionArrived
	case "barrier":
		return Barrier
	case "one-to-all":
		return OneToAll
	case "all-to-one":
		return AllToOne
	case "all-to-all":
		return AllToAll
	case "prefix":
		return Prefix
	case "neighbor":
		return Neighbor
	case "comm-create":
		return CommunicatorCreate
	case "comm-free":
		return CommunicatorFree
	case "rma":
		return RemoteAccess
	case "rma-sync":
		return WindowSynchronize
	case "win-create":
		return WindowCreate
	case "win-free":
		return WindowFree
	case "win-memory":
		return WindowMemory
	case "file-open":
		return FileOpen
	case "file-close":
		return FileClose
	case "io":
		return FileAccess
	case "file":
		return FileChange
	}
	return otherOperation(word)
}

// otherOperation maps the words that do not concern communication.
func otherOperation(word string) Operation {
	switch word {
	case "datatype-create":
		return DatatypeCreate
	case "datatype-free":
		return DatatypeFree
	case "datatype-commit":
		return DatatypeCommit
	case "group-create":
		return GroupCreate
	case "group-free":
		return GroupFree
	case "op-create":
		return OpCreate
	case "op-free":
		return OpFree
	case "info-create":
		return InfoCreate
	case "info-free":
		return InfoFree
	case "info":
		return InfoChange
	case "errhandler-create":
		return ErrhandlerCreate
	case "errhandler-free":
		return ErrhandlerFree
	case "errhandler":
		return ErrhandlerUse
	case "error":
		return ErrorCodes
	case "keyval-create":
		return KeyvalCreate
	case "keyval-free":
		return KeyvalFree
	case "attribute":
		return Attribute
	case "session-create":
		return SessionCreate
	case "session-free":
		return SessionFree
	case "port":
		return Port
	case "name-service":
		return NameService
	case "pack":
		return Pack
	case "unpack":
		return Unpack
	case "reduce-local":
		return ReduceLocal
	case "memory-alloc":
		return MemoryAlloc
	case "memory-free":
		return MemoryFree
	case "datarep":
		return Datarep
	case "init":
		return Initialize
	case "finalize":
		return Finalize
	case "abort":
		return Abort
	case "query":
		return Query
	case "time":
		return Time
	case "pcontrol":
		return Control
	case "convert":
		return Convert
	}
	return Unknown
}

// Completion is when an operation that a call begins is complete (MPI 4.0 §2.4.1).
type Completion uint8

// Completions.
const (
	Blocking    Completion = iota // when the call returns; also for calls that begin nothing
	Nonblocking                   // when its request completes
	Persistent                    // a request starts it later
	Partitioned                   // the same, for a message in parts
	SplitBegin                    // MPI_File_read_all_begin,
	SplitEnd                      // and the call that completes it
)

func completionOf(class mpi.Class) Completion {
	switch {
	case class.Has("nonblocking"), class.Has("request"), class.Has("iflush"), class.Op() == "imrecv":
		return Nonblocking
	case class.Has("persistent"):
		return Persistent
	case class.Has("partitioned"):
		return Partitioned
	case class.Has("begin"):
		return SplitBegin
	case class.Has("end"):
		return SplitEnd
	}
	return Blocking
}

// Mode is when a send may complete (MPI 4.0 §3.4).
type Mode uint8

// Modes of sends.
const (
	Standard Mode = iota
	Buffered
	Synchronous
	Ready
)

func modeOf(class mpi.Class) Mode {
	switch {
	case class.Has("buffered"):
		return Buffered
	case class.Has("synchronous"):
		return Synchronous
	case class.Has("ready"):
		return Ready
	}
	return Standard
}

// Creation is how a communicator is created.
type Creation uint8

// Ways of creating communicators.
const (
	NoCreation        Creation = iota
	FromParent                 // collective over the parent
	FromMerge                  // collective over an intercommunicator
	FromMembers                // only the members of the new communicator call, not the whole parent
	FromGroup                  // from a group of processes, without a parent
	Intercommunicator          // from two groups
	FromConnect                // to a port,
	FromAccept                 // the other side of FromConnect
	FromSpawn                  // with processes that the call starts
	WithParent                 // the other side of FromSpawn: MPI_Comm_get_parent
	FromJoin                   // over a socket
)

func creationOf(class mpi.Class) Creation {
	switch {
	case class.Has("collective"):
		return FromParent
	case class.Has("merge"):
		return FromMerge
	case class.Has("group"):
		return FromMembers
	case class.Has("intercomm"):
		return Intercommunicator
	case class.Has("from-group"):
		return FromGroup
	case class.Has("connect"):
		return FromConnect
	case class.Has("accept"):
		return FromAccept
	case class.Has("spawn"):
		return FromSpawn
	case class.Has("parent"):
		return WithParent
	case class.Has("join"):
		return FromJoin
	}
	return NoCreation
}

// Access is an access to another process's memory, or to a file.
type Access uint8

// Accesses.
const (
	NoAccess Access = iota
	Put
	Get
	Accumulate
	GetAccumulate
	FetchAndOp
	CompareAndSwap
	ReadFile
	WriteFile
)

func accessOf(class mpi.Class) Access {
	switch {
	case class.Has("put"):
		return Put
	case class.Has("get"):
		return Get
	case class.Has("accumulate"):
		return Accumulate
	case class.Has("get-accumulate"):
		return GetAccumulate
	case class.Has("fetch-and-op"):
		return FetchAndOp
	case class.Has("compare-and-swap"):
		return CompareAndSwap
	case class.Has("read"):
		return ReadFile
	case class.Has("write"):
		return WriteFile
	}
	return NoAccess
}

// Synchronization is the effect of a call on the epochs of a window (MPI 4.0 §12.5).
type Synchronization uint8

// Synchronizations of windows.
const (
	NoSynchronization Synchronization = iota
	SyncFence
	SyncStart
	SyncComplete
	SyncPost
	SyncWait
	SyncTest
	SyncLock // of one rank or all
	SyncUnlock
	SyncFlush      // of one rank or all
	SyncFlushLocal // completes accesses at their origin only
	SyncMemory
)

func synchronizationOf(class mpi.Class) Synchronization {
	switch {
	case class.Has("fence"):
		return SyncFence
	case class.Has("start"):
		return SyncStart
	case class.Has("complete"):
		return SyncComplete
	case class.Has("post"):
		return SyncPost
	case class.Has("wait"):
		return SyncWait
	case class.Has("test"):
		return SyncTest
	case class.Has("lock"), class.Has("lock-all"):
		return SyncLock
	case class.Has("unlock"), class.Has("unlock-all"):
		return SyncUnlock
	case class.Has("flush"), class.Has("flush-all"):
		return SyncFlush
	case class.Has("flush-local"), class.Has("flush-local-all"):
		return SyncFlushLocal
	case class.Has("sync"):
		return SyncMemory
	}
	return NoSynchronization
}

// A GroupConstructor is how a group of processes is created. It depends on the name, since classes
// do not distinguish constructors.
type GroupConstructor uint8

// Constructors of groups.
const (
	OtherGroup GroupConstructor = iota
	GroupOfCommunicator
	GroupOfRemote // the other side of an intercommunicator
	GroupOfWindow
	GroupOfFile
	GroupUnion
	GroupIntersection
	GroupDifference
	GroupInclude
	GroupExclude
	GroupIncludeRanges
	GroupExcludeRanges
)

func groupConstructorOf(name string) GroupConstructor {
	switch name {
	case "MPI_Comm_group":
		return GroupOfCommunicator
	case "MPI_Comm_remote_group":
		return GroupOfRemote
	case "MPI_Win_get_group":
		return GroupOfWindow
	case "MPI_File_get_group":
		return GroupOfFile
	case "MPI_Group_union":
		return GroupUnion
	case "MPI_Group_intersection":
		return GroupIntersection
	case "MPI_Group_difference":
		return GroupDifference
	case "MPI_Group_incl":
		return GroupInclude
	case "MPI_Group_excl":
		return GroupExclude
	case "MPI_Group_range_incl":
		return GroupIncludeRanges
	case "MPI_Group_range_excl":
		return GroupExcludeRanges
	}
	return OtherGroup
}

// A DatatypeConstructor is how a datatype is created. It depends on the name, since classes do not
// distinguish constructors.
type DatatypeConstructor uint8

// Constructors of datatypes.
const (
	OtherDatatype DatatypeConstructor = iota
	Contiguous
	Duplicate
	Resized
	Vector
	HVector
	Indexed
	HIndexed
	IndexedBlock
	HIndexedBlock
	Structure
	Subarray
	DistributedArray
	F90Integer
	F90Real
	F90Complex
)

// datatypeConstructorOf treats MPI-1 names and large-count forms like the current functions.
func datatypeConstructorOf(name string) DatatypeConstructor {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "MPI_Type_"), "create_"), "_c")
	switch name {
	case "contiguous":
		return Contiguous
	case "dup":
		return Duplicate
	case "resized":
		return Resized
	case "vector":
		return Vector
	case "hvector":
		return HVector
	case "indexed":
		return Indexed
	case "hindexed":
		return HIndexed
	case "indexed_block":
		return IndexedBlock
	case "hindexed_block":
		return HIndexedBlock
	case "struct":
		return Structure
	case "subarray":
		return Subarray
	case "darray":
		return DistributedArray
	case "f90_integer":
		return F90Integer
	case "f90_real":
		return F90Real
	case "f90_complex":
		return F90Complex
	}
	return OtherDatatype
}
