package tracetest

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// A Rank collects the calls of one rank, in order.
type Rank struct {
	builder   *Builder
	info      trace.Rank
	terminals []int32
	times     [][2]int64
	created   map[int32][]int64 // terminal of a creating call → instances
	shift     int64             // of the rank's clock, in ns
	at        string            // call site of the next calls
	untraced  bool              // tracing was off before the next call
	open      bool              // the next call never returns
	holds     []trace.Overhead
	thread    int
	threads   []*Rank // the other threads, in a rank's first thread
}

// Info returns the rank's metadata, which the caller may change.
func (r *Rank) Info() *trace.Rank { return &r.info }

// Thread adds another thread of the rank, to add calls to. Threads share the rank's handles.
func (r *Rank) Thread() *Rank {
	other := &Rank{builder: r.builder, info: r.info, thread: 1 + len(r.threads), shift: r.shift}
	r.threads = append(r.threads, other)
	return other
}

// Shift sets the clock of the rank's node ahead: all times that follow are later by this many
// units.
func (r *Rank) Shift(units float64) *Rank {
	r.shift = int64(units * Unit)
	return r
}

// At sets the call site ("file.c:12") of the calls that follow.
func (r *Rank) At(site string) *Rank {
	r.at = site
	return r
}

// Untraced records that tracing was off during part of the time before the next call.
func (r *Rank) Untraced() *Rank {
	r.untraced = true
	return r
}

// Overhead records the tracer overhead after the last call: for how long the tracer
// kept the thread.
func (r *Rank) Overhead(units float64) *Rank {
	r.holds = append(r.holds, trace.Overhead{Call: uint64(len(r.times)), Ticks: int64(units * Unit)})
	return r
}

// Args are arguments by their name in the standard: a number, the name of a constant, or a Comm,
// Request, Requests, Message or Status.
type Args map[string]any

// Request names a request by its symbolic id, Message a matched message.
type (
	Request int
	Message int
)

// Win, File, Group, Op and Datatype name windows, files, groups of processes, operations and
// datatypes of the program by their symbolic ids.
type (
	Win      int
	File     int
	Group    int
	Op       int
	Datatype int
	// A Freed object is one that the call frees.
	Freed int
)

// Requests are an array of requests.
type Requests []Request

// Comm is a communicator instance of Builder.Comm. As an argument it is the rank's handle of it.
type Comm int

// Status is the status that a call returns for a message.
type Status struct {
	Source, Tag, Bytes int
	Cancelled          bool
}

// Unfinished adds a call that never returned. The rank was last known to be alive at the time
// lived.
func (r *Rank) Unfinished(name string, enter, lived float64, args Args) *Rank {
	r.open = true
	r.Call(name, enter, lived, args)
	r.open = false
	return r.Ended("killed in "+name, lived)
}

// Ended records that the rank did not reach MPI_Finalize, how it ended, and until when it is known
// to have been alive.
func (r *Rank) Ended(how string, lived float64) *Rank {
	r.info.EndedEarly, r.info.End = how, &trace.End{Ticks: int64(lived*Unit) + r.shift, ExitCode: -1}
	return r
}

// Call adds a call. Arguments that are left out are 0, MPI_COMM_WORLD, or absent.
func (r *Rank) Call(name string, enter, exit float64, args Args) *Rank {
	spec := mpi.ByName(name)
	if spec == nil {
		panic("tracetest: no function " + name)
	}
	s := trace.Signature{Untraced: r.untraced, Function: spec.ID, Site: r.builder.site(r.at), OwnRank: -1, Return: trace.Value{Form: trace.Int}}
	r.untraced = false
	if r.open {
		s.Return = trace.Value{}
	}
	newComm := -1
	for i := range spec.Params {
		p := &spec.Params[i]
		argument, given := args[p.Name]
		if p.Kind == mpi.KindComm && p.Direction.IsOut() && given {
			newComm = int(argument.(Comm))
		}
		v := value(p, argument, given)
		if p.Direction.IsIn() {
			s.In = append(s.In, v)
			if p.Kind == mpi.KindComm && s.OwnRank < 0 {
				comm := 0
				if c, ok := argument.(Comm); ok {
					comm = int(c)
				}
				s.OwnRank = int32(r.rankIn(comm))
			}
		}
		if p.Direction.IsOut() {
			if r.open {
				v = trace.Value{}
			} else if _, freed := argument.(Freed); freed {
				v = trace.Value{Form: trace.Name, Text: "MPI_" + strings.ToUpper(p.Kind.String()) + "_NULL"}
			}
			s.Out = append(s.Out, v)
		}
	}
	if newComm >= 0 {
		s.Communicator = trace.Value{Form: trace.Stream}
	}
	terminal := r.builder.terminal(s)
	if newComm >= 0 {
		if r.created == nil {
			r.created = map[int32][]int64{}
		}
		r.created[terminal] = append(r.created[terminal], int64(len(r.info.CommunicatorsOwn)))
		r.info.CommunicatorsOwn = append(r.info.CommunicatorsOwn, uint32(newComm))
	}
	r.builder.functions[spec.ID] = true
	r.terminals = append(r.terminals, terminal)
	r.times = append(r.times, [2]int64{int64(enter*Unit) + r.shift, int64(exit*Unit) + r.shift})
	return r
}

// rankIn returns the rank's own rank in a communicator.
func (r *Rank) rankIn(comm int) int {
	c := &r.builder.content.Communicators[comm]
	if i := c.Members.Index(r.info.Rank); i >= 0 {
		return i
	}
	return c.Remote.Index(r.info.Rank)
}

// terminal finds or adds a signature.
func (b *Builder) terminal(s trace.Signature) int32 {
	key := string(trace.AppendSignature(nil, &s))
	if t, ok := b.terminals[key]; ok {
		return t
	}
	t := int32(len(b.content.Signatures))
	b.terminals[key] = t
	b.content.Signatures = append(b.content.Signatures, s)
	return t
}

// value converts an argument as the recorder would.
func value(p *mpi.Param, argument any, given bool) trace.Value {
	if !given {
		switch p.Kind {
		case mpi.KindComm:
			return trace.Value{Form: trace.Name, Text: "MPI_COMM_WORLD"}
		case mpi.KindStatus, mpi.KindRequest, mpi.KindMessage:
			return trace.Value{}
		case mpi.KindBuffer:
			return trace.Value{Form: trace.Pointer}
		}
		return trace.Value{Form: trace.Int}
	}
	switch a := argument.(type) {
	case int:
		return trace.Value{Form: trace.Int, Int: int64(a)}
	case string:
		return trace.Value{Form: trace.Name, Text: a}
	case []int:
		v := trace.Value{Form: trace.List}
		for _, x := range a {
			v.List = append(v.List, trace.Value{Form: trace.Int, Int: int64(x)})
		}
		return v
	case []string:
		v := trace.Value{Form: trace.List}
		for _, name := range a {
			v.List = append(v.List, trace.Value{Form: trace.Name, Text: name})
		}
		return v
	case Comm:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Request:
		return request(a)
	case Message:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Win:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case File:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Group:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Op:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Datatype:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Freed:
		return trace.Value{Form: trace.Handle, Int: int64(a)}
	case Requests:
		v := trace.Value{Form: trace.List}
		for _, q := range a {
			v.List = append(v.List, request(q))
		}
		return v
	case Status:
		return status(a)
	case []Status:
		v := trace.Value{Form: trace.List}
		for _, s := range a {
			v.List = append(v.List, status(s))
		}
		return v
	}
	panic(fmt.Sprintf("tracetest: argument %s of type %T", p.Name, argument))
}

// Null is MPI_REQUEST_NULL.
const Null Request = -1

func request(q Request) trace.Value {
	if q == Null {
		return trace.Value{Form: trace.Name, Text: "MPI_REQUEST_NULL"}
	}
	return trace.Value{Form: trace.Handle, Int: int64(q)}
}

func status(s Status) trace.Value {
	cancelled := 0
	if s.Cancelled {
		cancelled = 1
	}
	fields := [...]int{s.Source, s.Tag, 0, cancelled, s.Bytes}
	v := trace.Value{Form: trace.Status, List: make([]trace.Value, len(fields))}
	for i, x := range fields {
		v.List[i] = trace.Value{Form: trace.Int, Int: int64(x)}
	}
	return v
}
