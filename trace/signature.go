package trace

// A Function describes one MPI function as the trace stores it, so that a reader needs no other table.
type Function struct {
	ID         uint16 // append-only, from the tracer's table of the MPI standard
	Name       string // "MPI_Send"
	Class      string // what it does, e.g. "send blocking standard"; the vocabulary is that of package mpi
	Return     string // C type of the result: "int", "double", …
	Parameters []Parameter
}

// A Parameter is one formal parameter of a Function.
type Parameter struct {
	Name      string
	Kind      string // "rank", "tag", "count", "comm", "request", "status", …; the vocabulary is that of package mpi
	Direction Direction
	List      bool // an array
}

// Direction says when a parameter is read: before the call, after it, or both.
type Direction uint8

// Directions of a parameter.
const (
	In Direction = iota + 1
	Out
	InOut
)

// Form says how a Value is to be read.
type Form uint8

// Forms of a value. The number is part of the file format: append only.
const (
	Absent     Form = iota // not significant on this rank, or an output of a call that failed
	Null                   // a NULL pointer
	Int                    // Int
	Float                  // Int holds the bits of a float64
	Text                   // Text is a string argument
	Name                   // Text is a named constant of MPI: MPI_COMM_WORLD, MPI_INT, MPI_ANY_SOURCE, MPI_IN_PLACE
	Handle                 // Int is the symbolic id of an opaque handle, dense per kind
	Pointer                // an address in the application's memory: Int is 1 + a segment, 0 where that is not kept
	List                   // List are the elements
	Status                 // List are source, tag, error, cancelled, bytes
	Stream                 // varies from call to call: the next value of this signature's stream number Int
	ListStream             // as Stream, a list: first the number of elements, then the elements
	RankOffset             // r + Int, r as for Elastic
	Code                   // a function of the program (a callback): Int is 1 + index into the table of call sites
	Elastic                // differs from rank to rank: Int is an Operator, List its operands
	Column                 // differs from rank to rank: Content.Columns[Int] at Thread.Place
)

// A Value is one argument or result of a call.
type Value struct {
	Form   Form
	Int    int64
	Offset int64 // of Pointer with a segment, in bytes from the segment's beginning; for a stack, from its top downwards
	Text   string
	List   []Value
}

// A Signature is one entry of the call signature table: a function, where it was called from, and the values of its
// arguments. Its position in the table is its terminal. Two calls have the same terminal if and only if their
// signatures are equal.
type Signature struct {
	Function uint16
	// Untraced tells that tracing was off (MPI_Pcontrol, or from the start) during some of the time since the thread's
	// previous call: the gap before this call may hold MPI calls that were not recorded, and is not computation.
	Untraced bool
	// StatusIgnored tells that the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE; the statuses are kept all the
	// same.
	StatusIgnored bool
	// Generalized tells that the recorder had reached its limit of memory: what is absent of the arguments, the call site
	// among them, the calls had and the trace has not.
	Generalized bool
	Site        uint32 // 1 + index into the table of call sites; 0: unknown
	// OwnRank is the caller's rank in the communicator of the call, −1 where there is none. It is kept in the traces
	// of single ranks and shards, so that the final merge can write peers relative to it, and is −1 after that. In
	// shards, −2 − k stands for the thread's value in column k.
	OwnRank int32
	Return  Value   // of the function itself; Int 0 is MPI_SUCCESS, Absent: it never returned, since the process ended in it
	In      []Value // in and inout parameters, in the order of the parameter list, before the call
	Out     []Value // out and inout parameters, in the order of the parameter list, after the call
	// Communicator is Stream for calls that give a usable communicator: the next value of that stream is an index
	// into the rank's list of communicators, Rank.CommunicatorsOwn. Absent for all others.
	Communicator Value
}

// A Site is a place in a program from which MPI is called, or the beginning of a function that MPI calls back: the same
// on all ranks and in all runs of one binary.
type Site struct {
	BuildID string // of the module (executable or shared library), hex; else its path
	Module  string // file name of the module
	// Offset of the return address, from the module's lowest mapped address. A callback has that of its first byte + 1:
	// what a return address belongs to is told by the byte before it. So has a place from which a call was inlined: that
	// of the first byte of the inlined code + 1.
	Offset   uint64
	Function string // resolved where symbols were at hand, else ""
	File     string
	Line     int
	// Caller is 1 + the index of the place that called the function in which this one is; 0: not known. Call paths are
	// kept as these links, so that paths share what they have in common. An index is always that of an earlier site.
	Caller uint32
}

// A Communicator is one instance of a communicator, the same on all ranks that are in it.
type Communicator struct {
	// GlobalName needs no communication to be equal on all members: from the parent's name, the ordinal of the
	// creating call on the parent and the leader's world rank (and likewise for the other ways of creation).
	GlobalName string
	Members    RankList // world ranks, in the order of their ranks in the communicator
	Remote     RankList // of an intercommunicator: the other group
	Topology   Topology
	Label      string // from MPI_Comm_set_name, else ""
	// RemoteWorld is the id of the MPI world that the remote group belongs to, where that is another one (a spawned
	// child, its parent, the other side of a port) and is known; else "".
	RemoteWorld string
}

// A Topology is what MPI knows of a communicator's virtual topology; the zero value means none.
type Topology struct {
	Dims     []int // Cartesian dimensions
	Periodic []bool
	Graph    bool // a graph or distributed graph
}
