package recorder

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A fakeShim writes records as the shim does, for one process.
type fakeShim struct {
	t       testing.TB
	process *record.Process
	epoch   uint64
	clock   uint64
	threads map[uint32]*fakeThread
}

type fakeThread struct {
	number   uint32
	sequence uint64
	words    []uint64 // of the segment that is being written
}

// Raw values of a fake MPI library. Handles of real ones are such ints or pointers.
const (
	commWorld   = 0x44000000
	commSelf    = 0x44000001
	commNull    = 0x04000000
	requestNull = 0x2c000000
	groupEmpty  = 0x48000000
	groupNull   = 0x08000000
	typeInt     = 0x4c000405
	anySource   = -2
	procNull    = -1
	anyTag      = -1
	mpiRoot     = -3
	undefined   = -32766
	inPlace     = -1
)

var fakeConstants = []record.Constant{
	{Kind: "comm", Name: "MPI_COMM_NULL", Value: commNull},
	{Kind: "comm", Name: "MPI_COMM_WORLD", Value: commWorld},
	{Kind: "comm", Name: "MPI_COMM_SELF", Value: commSelf},
	{Kind: "request", Name: "MPI_REQUEST_NULL", Value: requestNull},
	{Kind: "group", Name: "MPI_GROUP_EMPTY", Value: groupEmpty},
	{Kind: "group", Name: "MPI_GROUP_NULL", Value: groupNull},
	{Kind: "datatype", Name: "MPI_INT", Value: typeInt},
	{Kind: "rank", Name: "MPI_ANY_SOURCE", Value: word(anySource)},
	{Kind: "rank", Name: "MPI_PROC_NULL", Value: word(procNull)},
	{Kind: "root", Name: "MPI_ROOT", Value: word(mpiRoot)},
	{Kind: "root", Name: "MPI_PROC_NULL", Value: word(procNull)},
	{Kind: "tag", Name: "MPI_ANY_TAG", Value: word(anyTag)},
	{Kind: "buffer", Name: "MPI_BOTTOM", Value: 0},
	{Kind: "buffer", Name: "MPI_IN_PLACE", Value: word(inPlace)},
	{Kind: "index", Name: "MPI_UNDEFINED", Value: word(undefined)},
	{Kind: "color", Name: "MPI_UNDEFINED", Value: word(undefined)},
	{Kind: "error-code", Name: "MPI_ERR_IN_STATUS", Value: 17},
}

func word(v int64) record.Address { return record.Address(v) }

func newFakeShim(t testing.TB) *fakeShim {
	p := &record.Process{
		Format: 1, Hostname: "node", PID: 4711, ABI: "mpich", LibraryVersion: "4.0.2", LaunchID: "launch",
		Clock: record.ProcessClock{Kind: "monotonic"}, CallSites: "caller", Constants: fakeConstants,
		Modules: []record.Module{
			{Path: "/opt/app", BuildID: "cafe", Base: 0x400000, Limit: 0x500000},
			{Path: "/lib/libx.so", Base: 0x700000, Limit: 0x800000},
		},
		Directory: "node-4711-0123456789abcdef",
	}
	return &fakeShim{t: t, process: p, epoch: 2, clock: 1000, threads: map[uint32]*fakeThread{}}
}

func (s *fakeShim) json() []byte {
	b, err := json.Marshal(s.process)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *fakeShim) thread(n uint32) *fakeThread {
	t := s.threads[n]
	if t == nil {
		t = &fakeThread{number: n, words: newSegmentWords(n, 0)}
		s.threads[n] = t
	}
	return t
}

func newSegmentWords(thread uint32, sequence uint64) []uint64 {
	words := make([]uint64, record.BufferHeaderWords)
	copy(record.BytesOf(words), record.BufferMagic)
	words[record.HeaderFormat] = record.Join(record.BufferFormat, thread)
	words[record.HeaderSequence] = sequence
	return words
}

// Arguments of a record that are no single word.
type (
	list    []int64
	str     string
	special struct{ length, pointer int64 }
	status  struct{ source, tag, err, cancelled, bytes int64 }
	stats   []status
	noStats struct{} // an undefined array of statuses
	noStat  struct{} // a status that is not defined
	ignored struct{ any }
	descr   struct {
		raw, own, size, inter, remoteSize, topology int64
		group, remote                               list
		dims, periods, coords                       list
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
	case list:
		add(int64(len(v)))
		add(v...)
	case str:
		add(int64(len(v)))
		padded := make([]uint64, (len(v)+7)/8)
		copy(record.BytesOf(padded), v)
		words = append(words, padded...)
	case special:
		add(v.length)
		if v.length == record.LengthSentinel {
			add(v.pointer)
		}
	case status:
		add(0)
		words = append(words, v.words()...)
	case noStat:
		add(-1, 0, 0, 0)
	case stats:
		add(0, int64(len(v)))
		for _, s := range v {
			words = append(words, s.words()...)
		}
	case noStats:
		add(0, -1)
	case ignored:
		at := len(words)
		words = encodeArgument(words, v.any)
		if words[at]++; int64(words[at]) == 0 {
			words[at] = ^uint64(1) // −2
		}
	case descr:
		add(v.raw, v.own, v.size, v.inter, v.remoteSize, v.topology)
		for _, l := range []list{v.group, v.remote, v.dims, v.periods, v.coords} {
			words = encodeArgument(words, l)
		}
	default:
		panic(fmt.Sprintf("%T", v))
	}
	return words
}

func (s status) words() []uint64 {
	return []uint64{
		uint64(uint32(s.source)) | uint64(s.tag)<<32,
		uint64(uint32(s.err)) | uint64(s.cancelled)<<32,
		uint64(s.bytes),
	}
}

// call writes a committed record: inputs, outputs and extras in the order of the record.
func (s *fakeShim) call(thread uint32, name string, result int64, arguments ...any) {
	s.callAt(thread, 0x401000, name, result, arguments...)
}

func (s *fakeShim) callAt(thread uint32, address uint64, name string, result int64, arguments ...any) {
	s.write(thread, address, name, result, true, arguments)
}

// open writes a record that is never committed.
func (s *fakeShim) open(thread uint32, name string, arguments ...any) {
	s.write(thread, 0x401000, name, 0, false, arguments)
}

func (s *fakeShim) write(thread uint32, address uint64, name string, result int64, committed bool, arguments []any) {

	f := mpi.ByName(name)
	if f == nil {
		s.t.Fatalf("no function %s", name)
	}
	t := s.thread(thread)
	at := len(t.words)
	w := t.words
	w = append(w, make([]uint64, record.HeaderWords)...)
	for _, a := range arguments {
		w = encodeArgument(w, a)
	}
	owns := false
	for i := range f.Params {
		owns = owns || f.Params[i].Effect != mpi.EffectNone && f.Params[i].Effect != mpi.EffectExisting
	}
	epoch := s.epoch | 1
	if owns {
		s.epoch += 2
		epoch = s.epoch
	}
	bytes := uint32(len(w)-at) * 8
	state := uint32(0)
	second := uint32(f.ID)
	if s.process.Mode != "" && f.MayMark() { // on MPI_COMM_WORLD, in all tests
		second |= record.FlagMarker << 24
	}
	w[at+record.LengthWord] = record.Join(0, second)
	if committed {
		state = 1
		w[at+record.LengthWord] = record.Join(bytes, second)
	}
	w[at+record.ReservedWord] = record.Join(bytes, state)
	w[at+record.EpochWord] = epoch
	w[at+record.EnterWord] = s.clock + 10
	w[at+record.ExitWord] = s.clock + 30
	s.clock += 30
	w[at+record.AddressWord] = address
	w[at+record.ReturnWord] = uint64(result)
	t.words = w
	t.words[record.HeaderUsed] = uint64(len(w)-record.BufferHeaderWords) * 8
}

// init writes MPI_Init of a rank.
func (s *fakeShim) init(rank, size int64) {
	group := make(list, size)
	for i := range group {
		group[i] = int64(i)
	}
	s.call(0, "MPI_Init", 0, 1, list{}, 1, list{}, rank, size, int64(0),
		descr{raw: commWorld, own: rank, size: size, group: group})
}

// inMemory reads the times of what was recorded.
func inMemory(t testing.TB) func(c *trace.Content, err error) *trace.Content {
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

// lines are all calls of a thread, decoded by code that knows nothing of the recorder's.
func lines(t testing.TB, c *trace.Content, thread int) []string {
	t.Helper()
	functions := map[uint16]*trace.Function{}
	for i := range c.Functions {
		functions[c.Functions[i].ID] = &c.Functions[i]
	}
	th := c.Threads.At(thread)
	streams := map[[2]int32][]int64{}
	for _, s := range th.Streams {
		values, err := c.Sequences[s.Sequence].All()
		if err != nil {
			t.Fatal(err)
		}
		streams[[2]int32{s.Terminal, s.Number}] = values
	}
	var out []string
	var expand func(rule int)
	var value func(b *strings.Builder, terminal int32, v trace.Value)
	pull := func(terminal int32, number int64) int64 {
		key := [2]int32{terminal, int32(number)}
		if len(streams[key]) == 0 {
			t.Fatalf("stream %d of terminal %d is too short", number, terminal)
		}
		v := streams[key][0]
		streams[key] = streams[key][1:]
		return v
	}
	value = func(b *strings.Builder, terminal int32, v trace.Value) {
		list := func(vs []trace.Value) {
			b.WriteByte('[')
			for i, v := range vs {
				if i > 0 {
					b.WriteByte(' ')
				}
				value(b, terminal, v)
			}
			b.WriteByte(']')
		}
		switch v.Form {
		case trace.Absent:
			b.WriteByte('-')
		case trace.Null:
			b.WriteString("NULL")
		case trace.Pointer:
			b.WriteString("ptr")
		case trace.Int:
			fmt.Fprint(b, v.Int)
		case trace.Name:
			b.WriteString(strings.TrimPrefix(v.Text, "MPI_"))
		case trace.Text:
			fmt.Fprintf(b, "%q", v.Text)
		case trace.Handle:
			fmt.Fprintf(b, "#%d", v.Int)
		case trace.List, trace.Status:
			list(v.List)
		case trace.Stream:
			fmt.Fprintf(b, "~%d", pull(terminal, v.Int))
		case trace.ListStream:
			b.WriteString("~(")
			n := pull(terminal, v.Int)
			for i := range n {
				if i > 0 {
					b.WriteByte(' ')
				}
				fmt.Fprint(b, pull(terminal, v.Int))
			}
			b.WriteByte(')')
		default:
			t.Fatalf("form %d", v.Form)
		}
	}
	call := func(terminal int32) {
		s := &c.Signatures[terminal]
		f := functions[s.Function]
		var b strings.Builder
		b.WriteString(strings.TrimPrefix(f.Name, "MPI_"))
		for _, p := range []struct {
			name string
			v    []trace.Value
		}{{"(", s.In}, {" -> ", s.Out}} {
			b.WriteString(p.name)
			for i, v := range p.v {
				if i > 0 {
					b.WriteByte(' ')
				}
				value(&b, terminal, v)
			}
		}
		b.WriteString(")")
		if s.Return.Form != trace.Int || s.Return.Int != 0 {
			b.WriteString("=")
			value(&b, terminal, s.Return)
		}
		if s.Communicator.Form == trace.Stream {
			b.WriteString(" comm " + c.Communicators[pull(terminal, s.Communicator.Int)].GlobalName)
		}
		out = append(out, b.String())
	}
	expand = func(rule int) {
		for _, sym := range c.Grammar.Rules[rule] {
			for range sym.Count {
				if sym.IsRule() {
					expand(sym.Rule())
				} else {
					call(sym.Value)
				}
			}
		}
	}
	expand(th.Root)
	for key, rest := range streams {
		if len(rest) > 0 {
			t.Errorf("stream %d of terminal %d has %d values too many", key[1], key[0], len(rest))
		}
	}
	if uint64(len(out)) != th.Calls {
		t.Errorf("thread %d has %d calls, says %d", thread, len(out), th.Calls)
	}
	return out
}

func (s *fakeShim) isend(to, tag, request int64) {
	s.call(0, "MPI_Isend", 0, 0x1234, 1, typeInt, to, tag, commWorld, request)
}

func (s *fakeShim) irecv(from, tag, request int64) {
	s.call(0, "MPI_Irecv", 0, 1, typeInt, from, tag, commWorld, 0x1234, request)
}

func (s *fakeShim) waitall(requests list) {
	after := make(list, len(requests))
	statuses := make(stats, len(requests))
	for i := range requests {
		after[i] = requestNull
		statuses[i] = status{source: int64(i), tag: 5, bytes: 4}
	}
	s.call(0, "MPI_Waitall", 0, len(requests), requests, after, statuses)
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func tail(s []string, n int) []string { return s[len(s)-n:] }

func cpuTime(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
