package trace_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A randomProgram makes a trace with random uses of all forms of values and all fillings:
// signatures with parameters of all kinds, streams that several values share, lists of requests
// that grow and shrink, NULL and absent statuses, elastic values, communicators whose handles come
// from a signature, a stream or the caller's rank and are bound again, several threads, times with
// tracer overhead, nested calls, and clock readings.
type randomProgram struct {
	*rand.Rand
	content  *trace.Content
	threads  int
	least    int                   // calls of a thread
	consumed map[int32][]consumers // by terminal: what its calls consume, by number of the stream
}

// consumers are the values that each call takes from one stream of a signature, in order.
type consumers []string

const (
	takesNumber   = "number"
	takesDouble   = "double"
	takesRank     = "rank" // a small number
	takesRequest  = "request"
	takesHandle   = "handle" // of a communicator
	takesInstance = "instance"
	takesInts     = "ints"
	takesDoubles  = "doubles"
	takesStatus   = "status"
	takesStatuses = "statuses"
	takesRequests = "requests"
	takesReading  = "reading" // of a clock, in the call
)

// longProgram is the seed of a program that is longer than others.
const longProgram = 7

const (
	wtime          = 100 // id of the function
	programRanks   = 3
	programHandles = 4 // of communicators
)

// Kinds of parameters, and those that are lists.
var parameterKinds = []trace.Parameter{
	{Kind: "count"}, {Kind: "int"}, {Kind: "rank"}, {Kind: "tag"}, {Kind: "request"}, {Kind: "status"}, {Kind: "double"},
	{Kind: "request", List: true}, {Kind: "status", List: true}, {Kind: "int", List: true}, {Kind: "double", List: true},
	{Kind: "request", List: true}, {Kind: "rank", List: true}, {Kind: "comm"},
	{Kind: "datatype"}, {Kind: "keyval"}, {Kind: "pvar-handle"}, {Kind: "event-instance"}, {Kind: "index"}, {Kind: "datatype", List: true},
}

func makeRandomProgram(seed uint64, threaded, relativeHandles bool) *trace.Content {
	p := &randomProgram{Rand: rand.New(rand.NewPCG(seed, 77)), consumed: map[int32][]consumers{}, threads: programRanks, least: 150}
	if seed == longProgram {
		p.least = 4200 // of which timing is read in several parts
	}
	c := &trace.Content{
		Meta: trace.Meta{Final: true, World: "w", WorldSize: programRanks, CallSites: "none",
			Timing: timing.Settings{Mode: timing.Lossless}},
		Communicators: []trace.Communicator{{GlobalName: "MPI_COMM_WORLD", Members: trace.RankList{{0, programRanks, 1}}}},
	}
	for i, members := range []trace.RankList{{{2, 1, 1}, {0, 2, 1}}, {{1, 2, 1}, {0, 1, 1}}, {{0, 1, 1}, {2, 1, 1}, {1, 1, 1}},
		{{0, programRanks, 1}}} {
		c.Communicators = append(c.Communicators, trace.Communicator{GlobalName: fmt.Sprint("c", i), Members: members})
	}
	if threaded {
		p.threads += 2
	}
	c.Columns = make([]codec.Numbers, 3)
	for range p.threads {
		c.Columns[0].Push(p.Int64N(3))
		c.Columns[1].Push(p.Int64N(100))
		c.Columns[2].Push(p.Int64N(3))
	}
	p.content = c
	creating, others := p.signatures(relativeHandles)
	for i := range programRanks {
		c.Ranks.Append(trace.Rank{Rank: i, CommunicatorsOwn: []uint32{0, 1, 2, 3, 4}, Clock: timing.Clock{Kind: "monotonic"}})
	}
	var threads []trace.Thread
	for i := range p.threads {
		rank, thread := []int{0, 1, 1, 2, 2}[i], []int{0, 0, 1, 0, 1}[i]
		if !threaded {
			rank, thread = i, 0
		}
		creates := creating
		if rank == 2 && thread == 1 {
			creates = nil // its communicators are created by the rank's other thread
		}
		threads = append(threads, p.thread(rank, thread, i, creates, others))
	}
	c.Threads = trace.NewThreadTable(threads...)
	return c
}

// signatures makes the signatures, those that create communicators apart.
func (p *randomProgram) signatures(relativeHandles bool) (creating, others []int32) {
	c := p.content
	c.Functions = []trace.Function{
		{ID: 1, Name: "MPI_Init", Class: "init", Return: "int"},
		{ID: 2, Name: "MPI_Comm_dup", Class: "comm-create collective blocking", Return: "int", Parameters: []trace.Parameter{
			{Name: "comm", Kind: "comm", Direction: trace.In}, {Name: "key", Kind: "int", Direction: trace.In}, {Name: "newcomm", Kind: "comm", Direction: trace.Out}}},
	}
	add := func(s trace.Signature, of []consumers) int32 {
		c.Signatures = append(c.Signatures, s)
		p.consumed[int32(len(c.Signatures)-1)] = of
		return int32(len(c.Signatures) - 1)
	}
	creating = append(creating, add(trace.Signature{Function: 1, OwnRank: -1, Communicator: value(trace.Stream, 0)}, []consumers{{takesInstance}}))
	for handle := range int64(programHandles) { // the first calls of a thread
		creating = append(creating, add(trace.Signature{Function: 2, OwnRank: -1, Communicator: value(trace.Stream, 0),
			In: []trace.Value{named("MPI_COMM_WORLD"), number(0)}, Out: []trace.Value{value(trace.Handle, handle)}},
			[]consumers{{takesInstance}}))
	}
	for handle := range int64(programHandles) {
		var of []consumers
		in := []trace.Value{p.communicator(), p.value(trace.Parameter{Kind: "int"}, &of)}
		out := value(trace.Handle, handle)
		switch p.IntN(4) {
		case 0:
			out = value(trace.Stream, p.consumer(&of, takesHandle))
		case 1:
			out = elastic(trace.Cases, number(0), out, number((handle+1)%programHandles), out)
		case 2:
			if relativeHandles {
				out = elastic(trace.Modulo, number(handle), number(programHandles))
			}
		}
		instance := value(trace.Stream, p.consumer(&of, takesInstance))
		creating = append(creating, add(trace.Signature{Function: 2, OwnRank: -1, In: in, Out: []trace.Value{out}, Communicator: instance}, of))
	}
	for id := range 12 {
		f := trace.Function{ID: uint16(3 + id), Name: fmt.Sprint("MPI_F", id), Class: "query", Return: []string{"int", "double"}[p.IntN(2)]}
		f.Parameters = []trace.Parameter{{Name: "comm", Kind: "comm", Direction: trace.In}}
		for k := range 1 + p.IntN(5) {
			of := parameterKinds[p.IntN(len(parameterKinds))]
			of.Name, of.Direction = fmt.Sprint("p", k), []trace.Direction{trace.In, trace.Out, trace.InOut}[p.IntN(3)]
			f.Parameters = append(f.Parameters, of)
		}
		c.Functions = append(c.Functions, f)
		for range 1 + p.IntN(2) {
			s := trace.Signature{Function: f.ID, OwnRank: -1}
			var of []consumers
			s.Return = p.value(trace.Parameter{Kind: map[string]string{"int": "int", "double": "double"}[f.Return]}, &of)
			for i, q := range f.Parameters {
				if q.Direction != trace.Out {
					if i == 0 {
						s.In = append(s.In, p.communicator())
					} else {
						s.In = append(s.In, p.value(q, &of))
					}
				}
			}
			for _, q := range f.Parameters {
				if q.Direction != trace.In {
					s.Out = append(s.Out, p.value(q, &of))
				}
			}
			others = append(others, add(s, of))
		}
	}
	c.Functions = append(c.Functions, trace.Function{ID: wtime, Name: "MPI_Wtime", Class: "time", Return: "double"})
	for range 2 {
		others = append(others, add(trace.Signature{Function: wtime, OwnRank: -1, Return: value(trace.Stream, 0)}, []consumers{{takesReading}}))
	}
	return creating, others
}

func value(form trace.Form, x int64) trace.Value { return trace.Value{Form: form, Int: x} }
func number(x int64) trace.Value                 { return value(trace.Int, x) }
func named(name string) trace.Value              { return trace.Value{Form: trace.Name, Text: name} }

func elastic(o trace.Operator, operands ...trace.Value) trace.Value {
	return trace.Value{Form: trace.Elastic, Int: int64(o), List: operands}
}

// communicator returns a random communicator for a call.
func (p *randomProgram) communicator() trace.Value {
	if k := p.Int64N(programHandles + 1); k < programHandles {
		return value(trace.Handle, k)
	}
	return named("MPI_COMM_WORLD")
}

// consumer adds a value to a stream of the signature, a new or existing one, and returns the
// stream's number.
func (p *randomProgram) consumer(of *[]consumers, takes string) int64 {
	k := p.IntN(len(*of) + 1)
	if k < len(*of) && p.IntN(3) > 0 { // mostly a new one
		k = len(*of)
	}
	if k == len(*of) {
		*of = append(*of, nil)
	}
	(*of)[k] = append((*of)[k], takes)
	return int64(k)
}

// value is what a signature has for a parameter.
func (p *randomProgram) value(q trace.Parameter, of *[]consumers) trace.Value {
	single := map[string]string{"double": takesDouble, "request": takesRequest, "comm": takesHandle}[q.Kind]
	if single == "" {
		single = takesNumber
	}
	switch {
	case q.List && p.IntN(5) > 0:
		takes := map[string]string{"request": takesRequests, "status": takesStatuses, "double": takesDoubles}[q.Kind]
		if takes == "" {
			takes = takesInts
		}
		return value(trace.ListStream, p.consumer(of, takes))
	case q.List:
		v := trace.Value{Form: trace.List}
		for range p.IntN(4) {
			v.List = append(v.List, p.value(trace.Parameter{Kind: q.Kind}, of))
		}
		return v
	case q.Kind == "status" && p.IntN(2) == 0:
		return value(trace.ListStream, p.consumer(of, takesStatus))
	case q.Kind == "status" && p.IntN(4) > 0:
		v := trace.Value{Form: trace.Status}
		for range 5 {
			v.List = append(v.List, p.value(trace.Parameter{Kind: "int"}, of))
		}
		return v
	case q.Kind == "status":
		return trace.Value{Form: trace.Absent}
	case p.IntN(2) == 0:
		return value(trace.Stream, p.consumer(of, single))
	case trace.IsHandle(q.Kind) && p.IntN(3) > 0:
		return value(trace.Handle, p.Int64N(3))
	}
	switch p.IntN(9) {
	case 0:
		return value(trace.RankOffset, p.Int64N(3)-1)
	case 1:
		return value(trace.Column, 1)
	case 2:
		return elastic(trace.Modulo, number(p.Int64N(5)), number(3))
	case 3:
		return elastic(trace.Stride, number(5), number(2), number(2), number(0))
	case 4:
		return elastic(trace.Cases, number(2), number(7), value(trace.RankOffset, 1), elastic(trace.Modulo, number(4), number(3)))
	case 5:
		return elastic(trace.RelativeStream, number(p.consumer(of, takesRank)))
	case 6:
		return trace.Value{Form: trace.Null}
	}
	return trace.ValueOf(q.Kind, p.Int64N(100))
}

// thread makes the calls of a thread and the values of its streams.
func (p *randomProgram) thread(rank, thread, place int, creating, others []int32) trace.Thread {
	c := p.content
	terminals := slices.Clone(creating) // all handles are bound before they are used
	for len(terminals) < p.least+p.IntN(500) {
		body := make([]int32, 1+p.IntN(5))
		for i := range body {
			if body[i] = others[p.IntN(len(others))]; len(creating) > 0 && p.IntN(12) == 0 {
				body[i] = creating[p.IntN(len(creating))]
			}
		}
		for range 1 + p.IntN(10) {
			terminals = append(terminals, body...)
		}
	}
	s := grammar.NewSequitur()
	for _, terminal := range terminals {
		s.Append(terminal)
	}
	th := trace.Thread{Rank: rank, Thread: thread, InShape: place, Root: len(c.Grammar.Rules), Calls: uint64(len(terminals)), FirstTick: 1000}
	for _, rule := range s.Grammar().Rules {
		for i := range rule {
			if rule[i].IsRule() {
				rule[i] = grammar.RuleSymbol(rule[i].Rule()+th.Root, rule[i].Count)
			}
		}
		c.Grammar.Rules = append(c.Grammar.Rules, rule)
	}
	calls := map[int32]int{}
	for _, terminal := range terminals {
		calls[terminal]++
	}
	for terminal := range int32(len(c.Signatures)) {
		if calls[terminal] == 0 {
			continue
		}
		for k, of := range p.consumed[terminal] {
			th.Streams = append(th.Streams, trace.StreamRef{Terminal: terminal, Number: int32(k), Sequence: int32(len(c.Sequences))})
			c.Sequences = append(c.Sequences, codec.Sequence{Values: p.stream(of, calls[terminal])})
		}
	}
	tick := int64(0)
	for i, terminal := range terminals {
		gap, duration := p.Int64N(1000), 1+p.Int64N(500)
		if i == 0 {
			gap = 0
		} else if p.IntN(20) == 0 {
			gap = -1 - p.Int64N(th.Durations[i-1]) // a call in a call
		}
		if i > 0 && p.IntN(40) == 0 {
			th.Overheads = append(th.Overheads, trace.Overhead{Call: uint64(i), Ticks: 1 + p.Int64N(100)})
		}
		th.Gaps, th.Durations = append(th.Gaps, gap), append(th.Durations, duration)
		tick += gap + duration
		if c.Signatures[terminal].Function == wtime {
			ref, _ := th.Stream(terminal, 0)
			now := th.FirstTick + tick + th.OverheadTicks() - p.Int64N(duration)
			readings := &c.Sequences[ref.Sequence].Values
			*readings = append(*readings, int64(math.Float64bits(float64(7e9+now)/1e9)))
		}
	}
	th.EndTick = th.FirstTick + tick + th.OverheadTicks()
	return th
}

// stream makes the values that a number of calls take from a stream.
func (p *randomProgram) stream(of consumers, calls int) (values []int64) {
	few := p.IntN(2) == 0 // many equal numbers in a row
	some := func(n int64) int64 {
		if few && p.IntN(10) > 0 {
			return n - 1
		}
		return p.Int64N(n)
	}
	for range calls {
		for _, takes := range of {
			n := some(6) - 1 // of a list; −1: NULL
			switch takes {
			case takesReading: // known with the times
				continue
			case takesNumber:
				if values = append(values, some(1<<p.IntN(40))-1); p.IntN(20) == 0 {
					values[len(values)-1] = -32766 // MPI_UNDEFINED
				}
				continue
			case takesRequest:
				values = append(values, some(8)-1)
				continue
			case takesDouble:
				values = append(values, int64(math.Float64bits(float64(some(1000))/7)))
				continue
			case takesRank:
				values = append(values, some(3)-1)
				continue
			case takesHandle:
				values = append(values, some(programHandles))
				continue
			case takesInstance:
				values = append(values, p.Int64N(programHandles+1))
				continue
			case takesRequests:
				if n < 0 {
					break
				}
				length := p.Int64N(12)
				changes := int64(0)
				if length > 0 {
					changes = p.Int64N(4)
				}
				values = append(values, 1+2*changes, length)
				for range changes {
					values = append(values, p.Int64N(length), p.Int64N(100)-1)
				}
				continue
			case takesStatus:
				n = min(n, 1) * 5
			case takesStatuses:
				n *= 5
			}
			values = append(values, max(n, -1))
			for range max(n, 0) {
				values = append(values, some(300)-1)
			}
		}
	}
	return values
}
