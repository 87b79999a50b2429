package trace

import (
	"encoding/binary"
	"math"
	"path"
	"slices"
	"strconv"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/funcname"
)

// A Function describes an MPI function. It is stored in the trace, so that a reader needs no other
// table.
type Function struct {
	ID         uint16 // from the tracer's table of the MPI standard, which is append-only
	Name       string // "MPI_Send"
	Class      string // the function's effect, e.g. "send blocking standard", in the vocabulary of package mpi
	Return     string // C type of the result: "int", "double", …
	Parameters []Parameter
}

// A Parameter is one formal parameter of a Function.
type Parameter struct {
	Name      string
	Kind      string // "rank", "tag", "count", "comm", "request", "status", …, in the vocabulary of package mpi
	Direction Direction
	List      bool // an array
}

// Direction is whether a parameter is an input, an output, or both.
type Direction uint8

// Directions of a parameter.
const (
	In Direction = iota + 1
	Out
	InOut
)

// Form determines how the fields of a Value are used.
type Form uint8

// Forms of a value. The numbers are part of the file format: append only.
const (
	Absent Form = iota // not significant on this rank, or an output of a call that failed
	Null               // a NULL pointer
	Int                // Int
	Float              // Int has the bits of a float64
	Text               // Text is a string argument
	Name               // Text is a named constant of MPI: MPI_COMM_WORLD, MPI_INT, MPI_ANY_SOURCE, MPI_IN_PLACE
	Handle             // Int is the symbolic id of an opaque handle, dense per kind
	// an address in the application's memory: Int is 1 + the index of its allocation, 0 if that
	// was not recorded
	Pointer
	List       // List are the elements
	Status     // List are source, tag, error, cancelled, bytes
	Stream     // varies from call to call: the next value of this signature's stream number Int
	ListStream // like Stream, but a list: first the number of elements, then the elements
	RankOffset // r + Int, with r as for Elastic
	Code       // a function of the program (a callback): Int is 1 + index into the table of call sites
	Elastic    // differs from rank to rank: Int is an Operator, List its operands
	Column     // differs from rank to rank: Content.Columns[Int] at Thread.InShape
)

// A Value is one argument or result of a call.
type Value struct {
	Form   Form
	Int    int64
	Offset int64 // of a Pointer with an allocation, in bytes from its beginning; for a stack, from its top downwards
	Text   string
	List   []Value
}

// A Signature is an entry of the call signature table: a function, its call site, and the values of
// its arguments. Its index in the table is its terminal. Two calls have the same terminal if and
// only if their signatures are equal.
type Signature struct {
	Function uint16
	// Untraced reports that tracing was off (MPI_Pcontrol, or from the start) for some of the time
	// since the thread's previous call. The gap before this call may contain MPI calls that were
	// not recorded, so it is not computation.
	Untraced bool
	// StatusIgnored reports that the program passed MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. The
	// statuses are recorded nevertheless.
	StatusIgnored bool
	// Generalized reports that the recorder had reached its memory limit. Absent arguments, and an
	// absent call site, were not recorded.
	Generalized bool
	Site        uint32 // 1 + index into the table of call sites; 0: unknown
	// OwnRank is the caller's rank in the communicator of the call, −1 if there is none. It is set
	// in traces of single ranks and in shards, so that the final merge can make peers relative to
	// it, and is −1 after that. In shards, −2 − k refers to the thread's value in column k.
	OwnRank int32
	// of the function itself; Int 0 is MPI_SUCCESS, Absent: the call never returned, since the
	// process ended in it, Null: the program left it (Event.Left)
	Return Value
	In     []Value // in and inout parameters, in the order of the parameter list, before the call
	Out    []Value // out and inout parameters, in the order of the parameter list, after the call
	// Communicator is Stream for calls that create a usable communicator: the next value of that
	// stream is an index into the rank's list of communicators, Rank.CommunicatorsOwn. It is Absent
	// for all other calls.
	Communicator Value
}

// A Site is a source location from which MPI is called, or the beginning of a function that MPI
// calls back. It is the same on all ranks and in all runs of one binary.
type Site struct {
	BuildID string // hex, of the module (executable or shared library); its path if it has none
	Module  string // file name of the module
	// Offset is the return address minus the module's lowest mapped address. For a callback it is
	// the first byte of the function + 1, because symbols are looked up for the byte before a
	// return address. For the same reason it is the first byte + 1 for inlined code that contains
	// the call.
	Offset   uint64
	Function string // resolved if symbols were available, else ""
	File     string
	Line     int
	// Caller is 1 + the index of the site that called the function that contains this one; 0:
	// unknown. Call paths are stored as these links, so that they share common parts. The index is
	// always that of an earlier site.
	Caller uint32
}

// A Source is the location of a call in the source, without the binary and the address.
type Source struct {
	Function string // without template arguments: all instances of a template have one text
	File     string
	Line     int
}

// Source returns the location of the site in the source. It is not known without lines: then
// nothing tells which addresses are one call of the source.
func (s *Site) Source() (source Source, known bool) {
	if s.File == "" || s.Line <= 0 {
		return Source{}, false
	}
	return Source{funcname.Text(s.Function), path.Clean(s.File), s.Line}, true
}

// A Communicator is one instance of a communicator, the same on all ranks that are in it.
type Communicator struct {
	// GlobalName is equal on all members, and is computed without communication: from the parent's
	// name, the ordinal of the creating call on the parent and the leader's world rank (and
	// similarly for other ways of creation).
	GlobalName string
	Members    RankList // world ranks, in the order of their ranks in the communicator
	Remote     RankList // of an intercommunicator: the other group
	Topology   Topology
	Label      string // from MPI_Comm_set_name, else ""
	// RemoteWorld is the id of the MPI world of the remote group, if it is known and another one (a
	// spawned child, its parent, the other side of a port); else "".
	RemoteWorld string
}

// A Topology is a communicator's virtual topology; the zero value means none.
type Topology struct {
	Dims     []int // Cartesian dimensions
	Periodic []bool
	Graph    bool // a graph or distributed graph
}

// An AllocationKind is the sort of memory that a pointer leads to. The numbers are part of the file
// format: append only.
type AllocationKind uint8

// Kinds of allocations.
const (
	HeapAllocation     AllocationKind = iota + 1 // malloc and its relatives
	MappedAllocation                             // mmap
	StaticAllocation                             // data of an executable or shared library
	StackAllocation                              // the stack of a thread
	DeviceAllocation                             // memory of an accelerator
	ManagedAllocation                            // memory that moves between host and accelerator
	PinnedAllocation                             // page-locked host memory
	UnknownAllocation                            // a single address of unknown origin
	lastAllocationKind = UnknownAllocation
)

var allocationKinds = [...]string{
	HeapAllocation: "heap", MappedAllocation: "mapped", StaticAllocation: "static", StackAllocation: "stack",
	DeviceAllocation: "device", ManagedAllocation: "managed", PinnedAllocation: "pinned", UnknownAllocation: "unknown",
}

// String returns the name of the kind in texts.
func (k AllocationKind) String() string {
	if k == 0 || int(k) >= len(allocationKinds) {
		return "allocation kind " + strconv.Itoa(int(k))
	}
	return allocationKinds[k]
}

// An Allocation is a piece of memory that a pointer leads to: memory that a program allocated at
// once, the static data of a module, or a thread's stack. A Value of form Pointer has its index and
// an offset into it. Allocations are identified by properties that are the same on all ranks that
// do the same: the call site, the size, and Ordinal among those that existed at the same time. An
// identity is reused after the allocation was freed, so a buffer that every iteration allocates
// anew is one Allocation.
type Allocation struct {
	Kind AllocationKind
	// Number is the device of Device, Managed and Pinned, or the thread of Stack; else 0.
	Number int
	// Site is 1 + the index of the call site that allocated it, or, for Static, of the module's
	// first byte (offset 0); 0: unknown.
	Site uint32
	// Size in bytes; 0 for Stack and Unknown.
	Size uint64
	// Ordinal distinguishes allocations that are alike, from 0 in order of first use in an MPI
	// call.
	Ordinal int
}

// Allocations returns the allocations that pointers lead to.
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

// allocation returns the allocation that a pointer among the arguments of the call leads to; nil if
// it is unknown or the value is not a pointer.
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

// WithSites returns the signature with every call site replaced: that of the call, and the
// functions among its arguments. replace is called with 1 + the index of a site, and returns the
// new value.
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

// CallPath yields a call site and then its callers, from the innermost outwards. Without call paths
// it yields the site alone.
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

// CallPath yields the call path, from the innermost site outwards; nothing if it is unknown.
func (e *Event) CallPath(yield func(*Site) bool) { CallPath(e.sites, e.Site)(yield) }

// appendCallPath writes the sites outside of the call site, separated by commas.
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

// Semantics returns the meaning of the function. It is computed each time; Reader.Semantics and
// Event.Semantics return cached ones.
func (f *Function) Semantics() *semantics.Function {
	d := semantics.Declaration{Name: f.Name, Class: f.Class, Parameters: make([]semantics.Parameter, len(f.Parameters))}
	for i, p := range f.Parameters {
		d.Parameters[i] = semantics.Parameter{Name: p.Name, Kind: p.Kind, In: p.Direction != Out, Out: p.Direction != In, List: p.List}
	}
	return semantics.New(&d)
}

// bytesOfSemantics is the approximate size of the semantics of a function.
const bytesOfSemantics = 512

// semanticsOf returns the semantics of functions, in their order.
func semanticsOf(functions []Function) []*semantics.Function {
	means := make([]*semantics.Function, len(functions))
	for i := range functions {
		means[i] = functions[i].Semantics()
	}
	return means
}

// Semantics returns the meaning of the function with this id, nil if there is none.
func (t *Reader) Semantics(id uint16) *semantics.Function {
	i := t.shared.functionIndex(id)
	if i < 0 {
		return nil
	}
	return t.means[i]
}
