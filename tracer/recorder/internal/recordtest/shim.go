package recordtest

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Shim writes records as the shim does, for one process.
type Shim struct {
	T       testing.TB
	Process *record.Process
	Epoch   uint64
	Clock   uint64
	Threads map[uint32]*Thread
}

// A Thread is a thread of the process, with what it has written.
type Thread struct {
	number   uint32
	Sequence uint64
	Words    []uint64 // of the buffer that is being written
}

// Raw values of a fake MPI library. Handles of real ones are such ints or pointers.
const (
	CommWorld   = 0x44000000
	CommSelf    = 0x44000001
	CommNull    = 0x04000000
	RequestNull = 0x2c000000
	GroupEmpty  = 0x48000000
	GroupNull   = 0x08000000
	TypeInt     = 0x4c000405
	AnySource   = -2
	ProcNull    = -1
	AnyTag      = -1
	MPIRoot     = -3
	Undefined   = -32766
	InPlace     = -1
)

// Constants are those of the fake MPI library.
var Constants = []record.Constant{
	{Kind: "comm", Name: "MPI_COMM_NULL", Value: CommNull},
	{Kind: "comm", Name: "MPI_COMM_WORLD", Value: CommWorld},
	{Kind: "comm", Name: "MPI_COMM_SELF", Value: CommSelf},
	{Kind: "request", Name: "MPI_REQUEST_NULL", Value: RequestNull},
	{Kind: "group", Name: "MPI_GROUP_EMPTY", Value: GroupEmpty},
	{Kind: "group", Name: "MPI_GROUP_NULL", Value: GroupNull},
	{Kind: "datatype", Name: "MPI_INT", Value: TypeInt},
	{Kind: "rank", Name: "MPI_ANY_SOURCE", Value: Word(AnySource)},
	{Kind: "rank", Name: "MPI_PROC_NULL", Value: Word(ProcNull)},
	{Kind: "root", Name: "MPI_ROOT", Value: Word(MPIRoot)},
	{Kind: "root", Name: "MPI_PROC_NULL", Value: Word(ProcNull)},
	{Kind: "tag", Name: "MPI_ANY_TAG", Value: Word(AnyTag)},
	{Kind: "buffer", Name: "MPI_BOTTOM", Value: 0},
	{Kind: "buffer", Name: "MPI_IN_PLACE", Value: Word(InPlace)},
	{Kind: "index", Name: "MPI_UNDEFINED", Value: Word(Undefined)},
	{Kind: "color", Name: "MPI_UNDEFINED", Value: Word(Undefined)},
	{Kind: "error-code", Name: "MPI_ERR_IN_STATUS", Value: 17},
}

// Word is a value as a word of memory.
func Word(v int64) record.Address { return record.Address(v) }

// NewShim returns the shim of a process that has not called anything yet.
func NewShim(t testing.TB) *Shim {
	p := &record.Process{
		Format: 1, Hostname: "node", PID: 4711, ABI: "mpich", LibraryVersion: "4.0.2", LaunchID: "launch",
		Clock: record.ProcessClock{Kind: "monotonic"}, CallSites: "caller", Constants: Constants,
		Modules: []record.Module{
			{Path: "/opt/app", BuildID: "cafe", Base: 0x400000, Limit: 0x500000},
			{Path: "/lib/libx.so", Base: 0x700000, Limit: 0x800000},
		},
		Directory: "node-4711-0123456789abcdef",
	}
	return &Shim{T: t, Process: p, Epoch: 2, Clock: 1000, Threads: map[uint32]*Thread{}}
}

// JSON is the process's process.json.
func (s *Shim) JSON() []byte {
	b, err := json.Marshal(s.Process)
	if err != nil {
		s.T.Fatal(err)
	}
	return b
}

// Thread is the thread with this number.
func (s *Shim) Thread(n uint32) *Thread {
	t := s.Threads[n]
	if t == nil {
		t = &Thread{number: n, Words: NewBuffer(n, 0)}
		s.Threads[n] = t
	}
	return t
}

// NewBuffer returns a record buffer with nothing but its header.
func NewBuffer(thread uint32, sequence uint64) []uint64 {
	words := make([]uint64, record.BufferHeaderWords)
	copy(record.BytesOf(words), rawlayout.BufferMagic)
	words[record.HeaderFormat] = record.Join(rawlayout.BufferFormat, thread)
	words[record.HeaderSequence] = sequence
	return words
}

// Arguments of a record that are no single word.
type (
	List        []int64
	Str         string
	Special     struct{ Length, pointer int64 }
	Status      struct{ Source, Tag, Err, cancelled, Bytes int64 }
	Statuses    []Status
	NoStatuses  struct{} // an undefined array of statuses
	NoStatus    struct{} // a status that is not defined
	Ignored     struct{ Value any }
	Description struct {
		Raw, Own, Size, Inter, RemoteSize, Topology int64
		Group, Remote                               List
		Dims, Periods, Coords                       List
	}
)

func encodeArgument(words []uint64, v any) []uint64 {
	add := func(vs ...int64) {
		for _, v := range vs {
			words = append(words, uint64(v))
		}
	}
	switch v := v.(type) {
	case int:
		add(int64(v))
	case int64:
		add(v)
	case float64:
		words = append(words, math.Float64bits(v))
	case List:
		add(int64(len(v)))
		add(v...)
	case Str:
		add(int64(len(v)))
		padded := make([]uint64, (len(v)+7)/8)
		copy(record.BytesOf(padded), v)
		words = append(words, padded...)
	case Special:
		add(v.Length)
		if v.Length == record.LengthSentinel {
			add(v.pointer)
		}
	case Status:
		add(0)
		words = append(words, v.words()...)
	case NoStatus:
		add(-1, 0, 0, 0)
	case Statuses:
		add(0, int64(len(v)))
		for _, s := range v {
			words = append(words, s.words()...)
		}
	case NoStatuses:
		add(0, -1)
	case Ignored:
		at := len(words)
		words = encodeArgument(words, v.Value)
		if words[at]++; int64(words[at]) == 0 {
			words[at] = ^uint64(1) // −2
		}
	case Description:
		add(v.Raw, v.Own, v.Size, v.Inter, v.RemoteSize, v.Topology)
		for _, l := range []List{v.Group, v.Remote, v.Dims, v.Periods, v.Coords} {
			words = encodeArgument(words, l)
		}
	default:
		panic(fmt.Sprintf("%T", v))
	}
	return words
}

func (s Status) words() []uint64 {
	return []uint64{
		uint64(uint32(s.Source)) | uint64(s.Tag)<<32,
		uint64(uint32(s.Err)) | uint64(s.cancelled)<<32,
		uint64(s.Bytes),
	}
}

// Call writes a committed record: inputs, outputs and extras in the order of the record.
func (s *Shim) Call(thread uint32, name string, result int64, arguments ...any) {
	s.CallAt(thread, 0x401000, name, result, arguments...)
}

// CallAt is Call from an address of the program.
func (s *Shim) CallAt(thread uint32, address uint64, name string, result int64, arguments ...any) {
	s.write(thread, address, name, result, true, arguments)
}

// Open writes a record that is never committed.
func (s *Shim) Open(thread uint32, name string, arguments ...any) {
	s.write(thread, 0x401000, name, 0, false, arguments)
}

func (s *Shim) write(thread uint32, address uint64, name string, result int64, committed bool, arguments []any) {

	f := mpi.ByName(name)
	if f == nil {
		s.T.Fatalf("no function %s", name)
	}
	t := s.Thread(thread)
	at := len(t.Words)
	w := t.Words
	w = append(w, make([]uint64, record.HeaderWords)...)
	owns, inputs := false, 0
	for i := range f.Params {
		owns = owns || f.Params[i].Effect != mpi.EffectNone && f.Params[i].Effect != mpi.EffectExisting
		if f.Params[i].Direction.IsIn() {
			inputs++
		}
	}
	inputWords := record.HeaderWords
	for i, a := range arguments {
		w = encodeArgument(w, a)
		if i < inputs {
			inputWords = len(w) - at
		}
	}
	epoch := s.Epoch | 1
	if owns {
		s.Epoch += 2
		epoch = s.Epoch
	}
	bytes := uint32(len(w)-at) * 8
	state := uint32(0)
	second := uint32(f.ID)
	if s.Process.Mode != "" && f.MayMark() { // on MPI_COMM_WORLD, in all tests
		second |= rawlayout.FlagMarker << 24
	}
	w[at+record.LengthWord] = record.Join(uint32(inputWords)*8, second)
	if committed {
		state = uint32(inputWords)<<rawlayout.InputsShift | rawlayout.Committed
		w[at+record.LengthWord] = record.Join(bytes, second)
	}
	w[at+record.ReservedWord] = record.Join(bytes, state)
	w[at+record.EpochWord] = epoch
	w[at+record.EnterWord] = s.Clock + 10
	w[at+record.ExitWord] = s.Clock + 30
	s.Clock += 30
	w[at+record.AddressWord] = address
	w[at+record.ReturnWord] = uint64(result)
	t.Words = w
	t.Words[record.HeaderUsed] = uint64(len(w)-record.BufferHeaderWords) * 8
}

// Init writes MPI_Init of a rank.
func (s *Shim) Init(rank, size int64) {
	group := make(List, size)
	for i := range group {
		group[i] = int64(i)
	}
	s.Call(0, "MPI_Init", 0, 1, List{}, 1, List{}, rank, size, int64(0),
		Description{Raw: CommWorld, Own: rank, Size: size, Group: group})
}

// InMemory reads the times of what was recorded.
func InMemory(t testing.TB) func(c *trace.Content, err error) *trace.Content {
	return func(c *trace.Content, err error) *trace.Content {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var threads trace.ThreadTable
		for _, thread := range c.Threads.All() {
			if thread.Gaps, thread.Durations, err = thread.Times(); err != nil {
				t.Fatal(err)
			}
			thread.Timing = nil
			threads.Append(thread)
		}
		c.Threads = threads
		return c
	}
}

// Isend writes MPI_Isend of an integer.
func (s *Shim) Isend(to, tag, request int64) {
	s.Call(0, "MPI_Isend", 0, 0x1234, 1, TypeInt, to, tag, CommWorld, request)
}

// Irecv writes MPI_Irecv of an integer.
func (s *Shim) Irecv(from, tag, request int64) {
	s.Call(0, "MPI_Irecv", 0, 1, TypeInt, from, tag, CommWorld, 0x1234, request)
}

// Waitall writes MPI_Waitall that completes all of these requests.
func (s *Shim) Waitall(requests List) {
	after := make(List, len(requests))
	statuses := make(Statuses, len(requests))
	for i := range requests {
		after[i] = RequestNull
		statuses[i] = Status{Source: int64(i), Tag: 5, Bytes: 4}
	}
	s.Call(0, "MPI_Waitall", 0, len(requests), requests, after, statuses)
}

// Expect fails the test if the lines are others.
func Expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// Tail are the last n lines.
func Tail(s []string, n int) []string { return s[len(s)-n:] }

// CPUTime returns the CPU time of the process so far in ns.
func CPUTime(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
