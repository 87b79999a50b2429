package trace

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/codec"
)

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
	// Untraced reports that tracing was off (MPI_Pcontrol, or from the start) during some of the time since the thread's
	// previous call: the gap before this call may hold MPI calls that were not recorded, and is not computation.
	Untraced bool
	// StatusIgnored reports that the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE; the statuses are kept all the
	// same.
	StatusIgnored bool
	// Generalized reports that the recorder had reached its limit of memory: what is absent of the arguments, the call site
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

// A AllocationKind says what sort of memory a pointer leads to. The number is part of the file format: append only.
type AllocationKind uint8

// Kinds of segments.
const (
	HeapAllocation     AllocationKind = iota + 1 // malloc and its relatives
	MappedAllocation                             // mmap
	StaticAllocation                             // data of an executable or shared library
	StackAllocation                              // the stack of a thread
	DeviceAllocation                             // memory of an accelerator
	ManagedAllocation                            // memory that moves between host and accelerator
	PinnedAllocation                             // page-locked host memory
	UnknownAllocation                            // one address, of memory whose origin is not known
	lastAllocationKind = UnknownAllocation
)

var allocationKinds = [...]string{
	HeapAllocation: "heap", MappedAllocation: "mapped", StaticAllocation: "static", StackAllocation: "stack",
	DeviceAllocation: "device", ManagedAllocation: "managed", PinnedAllocation: "pinned", UnknownAllocation: "unknown",
}

// String is the kind as texts have it.
func (k AllocationKind) String() string {
	if k == 0 || int(k) >= len(allocationKinds) {
		return "segment kind " + strconv.Itoa(int(k))
	}
	return allocationKinds[k]
}

// An Allocation is memory that a program got in one piece: an allocation, the static data of a module, a thread's stack. A
// Value of form Pointer names one and an offset into it. Allocations are named by what is the same on all ranks that do the
// same thing: what was allocated where and how large, and Ordinal among those that lived at the same time. A name is
// used again once its segment was freed, so a buffer that every iteration allocates anew is one segment.
type Allocation struct {
	Kind AllocationKind
	// Number is the device of Device, Managed and Pinned, the thread of Stack; else 0.
	Number int
	// Site is 1 + the index of the call site that allocated it, for Static of the module's first byte (offset 0); 0: not
	// known.
	Site uint32
	// Size in bytes; 0 for Stack and Unknown.
	Size uint64
	// Ordinal tells segments apart that are alike, from 0 in order of first use in an MPI call.
	Ordinal int
}

// Allocations are what pointers lead to.
func (t *Reader) Allocations() []Allocation { return t.shared.Allocations }

func appendAllocations(allocations []Allocation) []byte {
	n := len(allocations)
	b := binary.AppendUvarint(nil, uint64(n))
	for _, field := range []func(*Allocation) int64{
		func(s *Allocation) int64 { return int64(s.Kind) },
		func(s *Allocation) int64 { return int64(s.Number) },
		func(s *Allocation) int64 { return int64(s.Site) },
		func(s *Allocation) int64 { return int64(s.Size) },
		func(s *Allocation) int64 { return int64(s.Ordinal) },
	} {
		column := make([]int64, n)
		for i := range allocations {
			column[i] = field(&allocations[i])
		}
		b = codec.AppendSequence(b, column)
	}
	return b
}

func (d *decoder) allocations() []Allocation {
	n := d.Rows(40)
	columns := [5][]int64{d.Column(n), d.Column(n), d.Column(n), d.Column(n), d.Column(n)}
	if d.Err != nil {
		return nil
	}
	allocations := make([]Allocation, n)
	for i := range allocations {
		kind, number, site, ordinal := columns[0][i], columns[1][i], columns[2][i], columns[4][i]
		if kind <= 0 || kind > int64(lastAllocationKind) || number < 0 || number > math.MaxInt32 ||
			site < 0 || site > math.MaxUint32 || ordinal < 0 || ordinal > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
			return nil
		}
		allocations[i] = Allocation{AllocationKind(kind), int(number), uint32(site), uint64(columns[3][i]), int(ordinal)}
	}
	return allocations
}

// allocation is what a pointer among the arguments of the call leads to, nil for all other values and where it is not known.
func (e *Event) allocation(v *Value) *Allocation {
	if v.Form != Pointer || v.Int < 1 || v.Int > int64(len(e.allocations)) {
		return nil
	}
	return &e.allocations[v.Int-1]
}

func appendPointerText(b []byte, v *Value, s *Allocation) []byte {
	b = append(append(b, s.Kind.String()...), '#')
	b = strconv.AppendInt(b, v.Int-1, 10)
	if v.Offset != 0 {
		b = strconv.AppendInt(append(b, '+'), v.Offset, 10)
	}
	return b
}

func (e *Event) appendPointerJSON(b []byte, v *Value, s *Allocation) []byte {
	b = appendJSONString(append(b, `{"kind":`...), s.Kind.String())
	b = strconv.AppendInt(append(b, `,"segment":`...), v.Int-1, 10)
	b = strconv.AppendInt(append(b, `,"offset":`...), v.Offset, 10)
	switch s.Kind {
	case StackAllocation:
		b = strconv.AppendInt(append(b, `,"thread":`...), int64(s.Number), 10)
	case DeviceAllocation, ManagedAllocation, PinnedAllocation:
		b = strconv.AppendInt(append(b, `,"device":`...), int64(s.Number), 10)
	}
	if s.Size > 0 {
		b = strconv.AppendUint(append(b, `,"size":`...), s.Size, 10)
	}
	if s.Site > 0 && int(s.Site) <= len(e.sites) {
		b = append(b, `,"allocated_at":`...)
		b = e.sites[s.Site-1].appendJSON(b)
	}
	return append(b, '}')
}

// WithSites returns the signature with every call site replaced: where the call was made, and the functions among its
// arguments. replace is given 1 + the index of a site, and returns what stands in its place.
func (s Signature) WithSites(replace func(uint32) uint32) Signature {
	if s.Site > 0 {
		s.Site = replace(s.Site)
	}
	for _, values := range []*[]Value{&s.In, &s.Out} {
		for i, v := range *values {
			if v.Form == Code {
				mapped := slices.Clone(*values)
				mapped[i].Int = int64(replace(uint32(v.Int)))
				*values = mapped
			}
		}
	}
	return s
}

// CallPath yields a call site and then its callers, from the innermost outwards. Without call paths that is the site
// alone.
func CallPath(sites []Site, site *Site) func(yield func(*Site) bool) {
	return func(yield func(*Site) bool) {
		for site != nil {
			if !yield(site) {
				return
			}
			if site.Caller == 0 || int(site.Caller) > len(sites) {
				return
			}
			site = &sites[site.Caller-1]
		}
	}
}

// CallPath yields where the call was made, from the innermost place outwards; nothing where that is not known.
func (e *Event) CallPath(yield func(*Site) bool) { CallPath(e.sites, e.Site)(yield) }

// appendCallPath writes the places outside of the call site, separated by commas.
func (e *Event) appendCallPath(b []byte) []byte {
	first, own := true, true
	for s := range e.CallPath {
		if own {
			own = false
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = s.appendJSON(b)
	}
	return b
}

// Semantics is what calls of the function mean. It is made anew each time: Reader.Semantics and Event.Semantics have what
// was made once.
func (f *Function) Semantics() *semantics.Function {
	d := semantics.Declaration{Name: f.Name, Class: f.Class, Parameters: make([]semantics.Parameter, len(f.Parameters))}
	for i, p := range f.Parameters {
		d.Parameters[i] = semantics.Parameter{Name: p.Name, Kind: p.Kind, In: p.Direction != Out, Out: p.Direction != In, List: p.List}
	}
	return semantics.New(&d)
}

// bytesOfSemantics is about what the semantics of a function takes.
const bytesOfSemantics = 512

// semanticsOf are the semantics of functions, in their order.
func semanticsOf(functions []Function) []*semantics.Function {
	means := make([]*semantics.Function, len(functions))
	for i := range functions {
		means[i] = functions[i].Semantics()
	}
	return means
}

// Semantics is what calls of the function with this id mean, nil if there is none.
func (t *Reader) Semantics(id uint16) *semantics.Function {
	i := t.shared.functionIndex(id)
	if i < 0 {
		return nil
	}
	return t.means[i]
}
