package otf2

// The numbers of OTF2's enumerations in use, from its headers (OTF2_Definitions.h, OTF2_Events.h,
// OTF2_MPI_Collectives.h of version 3.0). Package library does not compile if one of them differs.

// Undefined is the reference to nothing, and the value of a missing rank or root.
const Undefined = 1<<32 - 1

// Roots of collective operations on intercommunicators, besides ranks of the other group.
const (
	RootSelf      = Undefined - 1
	RootThisGroup = Undefined - 2
)

// A Role is the purpose of a region.
type Role uint8

// Roles of regions.
const (
	RoleUnknown    Role = 0
	RoleFunction   Role = 1
	RoleBarrier    Role = 15
	RoleOneToAll   Role = 23
	RoleAllToOne   Role = 24
	RoleAllToAll   Role = 25
	RoleCollective Role = 26
	RoleFile       Role = 27
	RolePoint      Role = 28
	RoleRMA        Role = 29
	RoleAllocate   Role = 35
	RoleDeallocate Role = 36
	RoleFileMeta   Role = 38
)

// A Paradigm is the origin of a region or a group.
type Paradigm uint8

// Paradigms.
const (
	ParadigmMPI      Paradigm = 4
	ParadigmSampling Paradigm = 21 // functions from call stacks
)

// A GroupType is the type of a group's members.
type GroupType uint8

// Types of groups.
const (
	GroupLocations GroupType = 4 // the locations of MPI ranks
	GroupRanks     GroupType = 5 // indices into them
	GroupSelf      GroupType = 6
)

// Collective operations.
const (
	CollectiveBarrier            = 0
	CollectiveBcast              = 1
	CollectiveGather             = 2
	CollectiveGatherv            = 3
	CollectiveScatter            = 4
	CollectiveScatterv           = 5
	CollectiveAllgather          = 6
	CollectiveAllgatherv         = 7
	CollectiveAlltoall           = 8
	CollectiveAlltoallv          = 9
	CollectiveAlltoallw          = 10
	CollectiveAllreduce          = 11
	CollectiveReduce             = 12
	CollectiveReduceScatter      = 13
	CollectiveScan               = 14
	CollectiveExscan             = 15
	CollectiveReduceScatterBlock = 16
	CollectiveCreate             = 17
	CollectiveDestroy            = 18
	CollectiveCreateAllocate     = 21
	CollectiveDestroyDeallocate  = 22
)

// Synchronization levels of one-sided operations, bits; locks; atomic operations.
const (
	SyncProcess = 1
	SyncMemory  = 2

	SyncTypeMemory = 0

	LockExclusive = 0
	LockShared    = 1

	AtomicAccumulate         = 0
	AtomicCompareAndSwap     = 3
	AtomicFetchAndAccumulate = 7
)

// Files: how they are opened, and what is done with them.
const (
	AccessRead      = 0
	AccessWrite     = 1
	AccessReadWrite = 2

	CreateFile      = 1 << 0
	CreateExclusive = 1 << 3
	CreateUnique    = 1 << 10
	CreateNoSeek    = 1 << 9

	StatusAppend        = 1 << 1
	StatusDeleteOnClose = 1 << 8

	SeekStart   = 0
	SeekCurrent = 1
	SeekEnd     = 2

	OperationRead  = 0
	OperationWrite = 1
	OperationFlush = 2

	OperationNonblocking = 1 << 0
	OperationCollective  = 1 << 1
)
