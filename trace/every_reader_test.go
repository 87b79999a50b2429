package trace_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/seektest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Every way of reading returns the calls that were written: of all kinds of values and streams,
// with times or without, from any call on. The expectation is computed here, from the lists of
// values that were written.
func TestEveryReaderReturnsWhatWasWritten(t *testing.T) {
	for seed := range uint64(12) {
		if testing.Short() && seed%5 > 0 {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			threaded := seed%3 == 1
			c := makeRandomProgram(seed, threaded, seed%2 == 0 && !threaded)
			if seed%4 == 3 {
				for i := range c.Threads.Len() {
					c.Threads.Change(i, func(th *trace.Thread) { th.Gaps, th.Durations, th.Overheads = nil, nil, nil })
				}
			}
			calm := seed%5 == 0
			if calm { // all handles refer to one communicator
				for i := range c.Ranks.Len() {
					c.Ranks.Change(i, func(r *trace.Rank) { r.CommunicatorsOwn = []uint32{4, 4, 4, 4, 4} })
				}
			}
			w := writtenCalls(t, c)
			written := c
			if seed%2 == 0 {
				written = withNumbers(c)
			}
			r := open(t, bytesOf(t, written))
			w.distinctCalls(t, r, seed, calm && !threaded)
			if seed < 3 {
				before := trace.MemoryLeft(r) // without what all readers share
				w.distinctCalls(t, r, seed, calm && !threaded)
				require.Equal(t, before, trace.MemoryLeft(r), "what distinct calls have used is released")
			}
			for i, s := range c.Sequences {
				values, err := r.Sequence(i)
				require.NoError(t, err)
				require.Equal(t, append([]int64{}, s.Values...), append([]int64{}, values...), "sequence %d", i)
			}
			w.cursors(t, r.Cursor, seed)
			content, err := r.Content()
			require.NoError(t, err)
			w.cursors(t, content.Cursor, seed)
			streamed, err := r.StreamedContent()
			require.NoError(t, err)
			w.cursors(t, streamed.Cursor, seed)
			if !hasTimes(c.Threads.At(0)) {
				w.cursors(t, open(t, bytesOf(t, inChapters(t, w))).Cursor, seed)
			}
		})
	}
}

// What a number stands for depends on the kind of its parameter: in the signature, in a stream and
// in a column, for all handles there are, and for both readers.
func TestWhatNumbersStandFor(t *testing.T) {
	c := &trace.Content{Ranks: trace.NewRankTable(trace.Rank{Clock: timing.Clock{Kind: "monotonic"}}), Columns: make([]codec.Numbers, 4)}
	c.Columns[3].Push(0)
	f := trace.Function{ID: 1, Name: "MPI_F", Return: "int"}
	th := trace.Thread{Calls: 1}
	var in []trace.Value
	var want []string
	add := func(kind string, v trace.Value, shown string) {
		f.Parameters = append(f.Parameters, trace.Parameter{Name: fmt.Sprint("p", len(in)), Kind: kind, Direction: trace.In})
		want = append(want, fmt.Sprintf(`"p%d":"%s"`, len(in), shown))
		in = append(in, v)
	}
	for k, x := range []int64{7, -1, -32766} {
		c.Columns[k].Push(x)
		// parameters share it
		c.Sequences = append(c.Sequences, codec.Sequence{Values: slices.Repeat([]int64{x}, 30)})
		th.Streams = append(th.Streams, trace.StreamRef{Number: int32(k), Sequence: int32(k)})
	}
	forms := func(k int64, x int64) []trace.Value {
		return []trace.Value{number(x), value(trace.Stream, k), value(trace.Column, k)}
	}
	for _, kind := range mpi.Kinds() {
		if !kind.IsHandle() || kind == mpi.KindComm {
			continue
		}
		for _, v := range append(forms(0, 7), elastic(trace.Cases, number(3), number(7))) {
			add(kind.String(), v, kind.String()+"#7")
		}
		require.True(t, trace.IsHandle(kind.String()))
	}
	for _, v := range forms(1, -1) {
		add("request", v, "MPI_REQUEST_NULL")
	}
	for _, kind := range []string{"rank", "index", "count", "bytes", "extent", "int"} {
		for _, v := range forms(2, -32766) {
			add(kind, v, "MPI_UNDEFINED")
		}
	}
	c.Functions = []trace.Function{f}
	c.Signatures = []trace.Signature{{Function: 1, OwnRank: -1, In: in, Return: number(0)}}
	c.Grammar = grammar.Grammar{Rules: [][]grammar.Symbol{{{Value: 0, Count: 1}}}}
	c.Threads = trace.NewThreadTable(th)
	line := fmt.Sprintf(`{"rank":0,"thread":0,"index":0,"function":"MPI_F","args":{%s},"return":0,"start_ns":null,"duration_ns":null}`+"\n", strings.Join(want, ","))
	require.Equal(t, line, linesOf(t, open(t, bytesOf(t, c))))
	path := filepath.Join(t.TempDir(), "trace.cairn")
	require.NoError(t, os.WriteFile(path, bytesOf(t, c), 0o600))
	got, err := exec.Command("python3", "testdata/reader.py", path).CombinedOutput()
	require.NoError(t, err, "%s", got)
	require.Equal(t, line, string(got))
}

// withNumbers is a trace in which numbers stand for handles, as earlier merges wrote some of them.
func withNumbers(c *trace.Content) *trace.Content {
	plain := *c
	plain.Signatures = slices.Clone(c.Signatures)
	var change func(values []trace.Value) []trace.Value
	change = func(values []trace.Value) []trace.Value {
		values = slices.Clone(values)
		for i, v := range values {
			switch {
			case v.Form == trace.Handle:
				values[i].Form = trace.Int
			case v.Form == trace.Name && v.Text == "MPI_REQUEST_NULL":
				values[i] = number(-1)
			case v.Form == trace.List:
				values[i].List = change(v.List)
			}
		}
		return values
	}
	for i := range plain.Signatures {
		s := &plain.Signatures[i]
		s.In, s.Out = change(s.In), change(s.Out)
	}
	return &plain
}

func hasTimes(th trace.Thread) bool { return len(th.Gaps) > 0 }

// written are the calls of a trace, computed in the plainest way.
type written struct {
	content *trace.Content
	calls   [][]trace.Event // of each thread
}

func writtenCalls(t *testing.T, c *trace.Content) *written {
	t.Helper()
	w := &written{content: c}
	for pass := range 2 { // what a handle refers to depends on what all threads create
		before := w.calls
		w.calls = nil
		for i, th := range c.Threads.All() {
			o := oracle{content: c, thread: th, next: map[[2]int64]int{}, requests: map[*trace.Value][]trace.Value{}, own: map[int64]int{}}
			if pass > 0 {
				o.creations = creationsBeside(c, before, i)
			}
			w.calls = append(w.calls, o.all())
		}
	}
	return w
}

// creationsBeside lists the creating calls of a thread's rank by time, if other threads than this
// one make some.
func creationsBeside(c *trace.Content, calls [][]trace.Event, thread int) (list []trace.Event) {
	beside := false
	for i, th := range c.Threads.All() {
		if th.Rank != c.Threads.At(thread).Rank {
			continue
		}
		for _, e := range calls[i] {
			if e.NewComm >= 0 && len(e.Out) > 0 {
				list = append(list, e)
				beside = beside || i != thread
			}
		}
	}
	if !beside {
		return nil
	}
	slices.SortStableFunc(list, func(a, b trace.Event) int { return int(a.ExitTicks - b.ExitTicks) })
	return list
}

// An oracle computes the calls of a thread.
type oracle struct {
	content   *trace.Content
	thread    trace.Thread
	next      map[[2]int64]int               // values that were taken from a stream, by terminal and number
	requests  map[*trace.Value][]trace.Value // of a list of requests so far, by its value in the signature
	own       map[int64]int                  // communicators of handles; −1: MPI_COMM_WORLD
	creations []trace.Event                  // of all threads; nil: only this one creates
	event     trace.Event
}

func (o *oracle) all() []trace.Event {
	var terminals []int32
	var expand func(rule []grammar.Symbol)
	expand = func(rule []grammar.Symbol) {
		for _, s := range rule {
			for range s.Count {
				if s.IsRule() {
					expand(o.content.Grammar.Rules[s.Rule()])
				} else {
					terminals = append(terminals, s.Value)
				}
			}
		}
	}
	expand(o.content.Grammar.Rules[o.thread.Root])
	o.own[-1] = slices.Index(o.content.Ranks.At(o.content.Ranks.Find(o.thread.Rank)).CommunicatorsOwn, 0)
	ticks := o.thread.FirstTick
	var calls []trace.Event
	for i, terminal := range terminals {
		s := &o.content.Signatures[terminal]
		o.event = trace.Event{Rank: o.thread.Rank, Thread: o.thread.Thread, Index: uint64(i), Terminal: terminal, Signature: s,
			Comm: -1, OwnRank: -1, NewComm: -1, TimesOf: o.thread.Rank, Timed: hasTimes(o.thread)}
		for _, overhead := range o.thread.Overheads {
			if overhead.Call == uint64(i) {
				o.event.Overhead, o.event.OverheadTicks = overhead.Ticks, overhead.Ticks
			}
		}
		if o.event.Timed {
			enter := ticks + o.event.OverheadTicks + o.thread.Gaps[i]
			ticks = enter + o.thread.Durations[i]
			o.event.EnterTicks, o.event.ExitTicks, o.event.Enter, o.event.Exit = enter, ticks, enter, ticks
		}
		o.call(s)
		calls = append(calls, o.event)
	}
	return calls
}

// call sets the values of the current call.
func (o *oracle) call(s *trace.Signature) {
	e := &o.event
	f := &o.content.Functions[slices.IndexFunc(o.content.Functions, func(f trace.Function) bool { return f.ID == s.Function })]
	e.Function = f
	var in, out []trace.Parameter
	for _, p := range f.Parameters {
		if p.Direction != trace.Out {
			in = append(in, p)
		}
		if p.Direction != trace.In {
			out = append(out, p)
		}
	}
	e.Return = o.streamed(&s.Return, trace.Parameter{Kind: f.Return})
	for i := range s.In {
		e.In = append(e.In, o.streamed(&s.In[i], in[i]))
	}
	for i := range s.Out {
		e.Out = append(e.Out, o.streamed(&s.Out[i], out[i]))
	}
	created := o.streamed(&s.Communicator, trace.Parameter{})
	r := int64(o.thread.Rank) // of elastic values
	if at := slices.IndexFunc(in, func(p trace.Parameter) bool { return p.Kind == "comm" && !p.List }); at >= 0 {
		e.Comm = o.communicator(e.In[at])
		e.OwnRank = o.rankIn(e.Comm)
		if e.Comm < 0 && e.In[at].Form == trace.Name {
			e.OwnRank = o.thread.Rank
		}
		r = int64(e.OwnRank)
	}
	o.elastic(&e.Return, f.Return, r)
	for i := range e.In {
		o.elastic(&e.In[i], in[i].Kind, r)
	}
	for i := range e.Out {
		o.elastic(&e.Out[i], out[i].Kind, r)
	}
	if s.Communicator.Form != trace.Stream {
		return
	}
	e.NewComm = int(o.content.Ranks.At(o.content.Ranks.Find(o.thread.Rank)).CommunicatorsOwn[created.Int])
	handle := int64(-1)
	if len(e.Out) > 0 {
		handle = e.Out[0].Int
	}
	o.own[handle] = e.NewComm
}

// communicator returns the one that a handle refers to, −1 if it is unknown.
func (o *oracle) communicator(v trace.Value) int {
	if v.Form == trace.Name {
		return o.own[-1]
	}
	if o.creations == nil {
		if comm, known := o.own[v.Int]; known {
			return comm
		}
		return -1
	}
	comm := -1
	for _, e := range o.creations {
		if e.Out[0].Int == v.Int && (comm < 0 || e.ExitTicks <= o.event.EnterTicks) {
			comm = e.NewComm
		}
	}
	return comm
}

// rankIn returns the rank of the thread's process in a communicator, −1 if it is no member.
func (o *oracle) rankIn(comm int) int {
	if comm < 0 {
		return -1
	}
	return slices.Index(o.content.Communicators[comm].Members.Ranks(), o.thread.Rank)
}

// take returns the next n values of a stream.
func (o *oracle) take(stream int64, n int) []int64 {
	at := [2]int64{int64(o.event.Terminal), stream}
	ref, _ := o.thread.Stream(o.event.Terminal, int32(stream))
	values := o.content.Sequences[ref.Sequence].Values[o.next[at]:][:n]
	o.next[at] += n
	return values
}

// meant is what a number stands for in a parameter of a kind.
func meant(kind string, x int64) trace.Value {
	switch {
	case kind == "double":
		return value(trace.Float, x)
	case kind == "request" && x < 0:
		return named("MPI_REQUEST_NULL")
	case slices.Contains([]string{"request", "comm", "datatype", "keyval", "pvar-handle", "event-instance"}, kind):
		return value(trace.Handle, x)
	case x == -32766 && slices.Contains([]string{"int", "count", "rank", "index"}, kind):
		return named("MPI_UNDEFINED")
	}
	return number(x)
}

// streamed returns a value of a signature with values of streams in place of these.
func (o *oracle) streamed(v *trace.Value, p trace.Parameter) trace.Value {
	one := func(x int64) trace.Value { return meant(p.Kind, x) }
	many := func(form trace.Form, numbers []int64) trace.Value {
		list := trace.Value{Form: form}
		for _, x := range numbers {
			list.List = append(list.List, one(x))
		}
		return list
	}
	switch v.Form {
	case trace.Stream:
		return one(o.take(v.Int, 1)[0])
	case trace.Elastic:
		if trace.Operator(v.Int) == trace.RelativeStream {
			return elastic(trace.RelativeStream, number(o.take(v.List[0].Int, 1)[0]))
		}
	case trace.List, trace.Status:
		if p.List = false; v.Form == trace.Status {
			p.Kind = ""
		}
		list := trace.Value{Form: v.Form}
		for i := range v.List {
			list.List = append(list.List, o.streamed(&v.List[i], p))
		}
		return list
	case trace.ListStream:
		n := o.take(v.Int, 1)[0]
		if n < 0 {
			return trace.Value{Form: trace.Null}
		}
		numbers := o.take(v.Int, int(n))
		switch {
		case p.Kind == "request":
			return trace.Value{Form: trace.List, List: o.changed(v, numbers)}
		case p.Kind == "status" && p.List:
			list := trace.Value{Form: trace.List}
			for status := range slices.Chunk(numbers, 5) {
				list.List = append(list.List, many(trace.Status, status))
			}
			return list
		case p.Kind == "status" && n == 0:
			return trace.Value{}
		case p.Kind == "status":
			return many(trace.Status, numbers)
		}
		return many(trace.List, numbers)
	}
	return *v
}

// changed returns a list of requests: numbers has its length, then positions and requests that have
// changed.
func (o *oracle) changed(v *trace.Value, numbers []int64) []trace.Value {
	list := o.requests[v]
	for len(list) < int(numbers[0]) {
		list = append(list, named("MPI_REQUEST_NULL"))
	}
	for change := range slices.Chunk(numbers[1:], 2) {
		if list[change[0]] = named("MPI_REQUEST_NULL"); change[1] >= 0 {
			list[change[0]] = value(trace.Handle, change[1])
		}
	}
	o.requests[v] = list
	return slices.Clone(list[:numbers[0]])
}

// elastic computes elastic values; r is the caller's rank.
func (o *oracle) elastic(v *trace.Value, kind string, r int64) {
	number := func(x int64) trace.Value {
		if kind == "double" {
			return value(trace.Int, x)
		}
		return meant(kind, x)
	}
	column := func(k int64) int64 { return o.content.Columns[k].At(o.thread.InShape) }
	switch v.Form {
	case trace.RankOffset:
		*v = number(r + v.Int)
	case trace.Column:
		*v = number(column(v.Int))
	case trace.List, trace.Status:
		for i := range v.List {
			of := kind
			if v.Form == trace.Status {
				of = ""
			}
			o.elastic(&v.List[i], of, r)
		}
	case trace.Elastic:
		x := func(i int) int64 { return v.List[i].Int }
		switch trace.Operator(v.Int) {
		case trace.Modulo:
			*v = number(((r+x(0))%x(1) + x(1)) % x(1))
		case trace.Stride: // without modulus in these programs
			*v = number(x(0) + x(1)*(r/x(2)))
		case trace.RelativeStream:
			*v = number(r + x(0))
		case trace.Cases:
			*v = v.List[1+column(x(0))]
			if o.elastic(v, kind, r); v.Form == trace.Int {
				*v = number(v.Int)
			}
		default:
			panic(fmt.Sprintf("operator %d", v.Int))
		}
	}
}

// cursors compares the calls of cursors that go call by call, and of those that seek.
func (w *written) cursors(t *testing.T, open func(rank, thread int) (*trace.Cursor, error), seed uint64) {
	t.Helper()
	for i, th := range w.content.Threads.All() {
		cursor, err := open(th.Rank, th.Thread)
		require.NoError(t, err)
		for k := range w.calls[i] {
			require.True(t, cursor.Next(), cursor.Err())
			w.equal(t, i, k, cursor.Event())
		}
		require.False(t, cursor.Next())
		require.NoError(t, cursor.Err())
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		for range seeksOf(24) {
			at := random.IntN(len(w.calls[i]))
			if random.IntN(2) == 0 {
				cursor, err = open(th.Rank, th.Thread)
				require.NoError(t, err)
			}
			if hasTimes(th) && random.IntN(3) == 0 {
				ns := w.calls[i][at].Exit - 1
				at = slices.IndexFunc(w.calls[i], func(e trace.Event) bool { return e.Exit > ns })
				require.True(t, cursor.SeekTime(ns), cursor.Err())
			} else {
				require.True(t, cursor.Seek(uint64(at)), cursor.Err())
			}
			for k := at; k < min(at+5, len(w.calls[i])); k++ {
				require.True(t, cursor.Next(), cursor.Err())
				w.equal(t, i, k, cursor.Event())
			}
		}
	}
}

// equal compares a call with call k of a thread.
func (w *written) equal(t *testing.T, thread, k int, got *trace.Event) {
	t.Helper()
	want := w.calls[thread][k]
	want.Semantics, want.Site, want.Function = got.Semantics, got.Site, got.Function
	want.Signature = got.Signature
	if !seektest.Same(trace.WithoutTables(got), &want) {
		require.Fail(t, "another call", "thread %d, call %d: %s\n%+v\n%+v", thread, k, got.Text(), *trace.WithoutTables(got), want)
	}
}

// distinctCalls compares the calls without their order, of all threads and of parts of them.
func (w *written) distinctCalls(t *testing.T, r *trace.Reader, seed uint64, calm bool) {
	t.Helper()
	all, err := r.DistinctCalls()
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(seed, 5))
	orderless := 0
	for i, calls := range w.calls {
		for part := range 3 {
			from, to := uint64(0), uint64(math.MaxUint64)
			if part > 0 {
				from = random.Uint64N(uint64(len(calls)))
				to = from + random.Uint64N(uint64(len(calls))-from+10)
			}
			thread, err := all.Thread(i, from, to)
			require.NoError(t, err)
			next := 0
			require.NoError(t, thread.InOrder(func(e *trace.Event, inside bool) {
				require.Equal(t, uint64(next) >= from, inside)
				w.equal(t, i, next, e)
				next++
			}))
			require.Equal(t, min(uint64(len(calls)), to), uint64(next))
			want, got := map[string]int{}, map[string]int{}
			for k := range calls {
				if from <= uint64(k) && uint64(k) < to {
					want[withoutOrder(&calls[k])]++
				}
			}
			if thread.Ordered() {
				continue
			}
			orderless++
			require.NoError(t, thread.All(func(*semantics.Function, uint64) bool { return true }, func(e *trace.Event, n uint64) {
				if n > 0 {
					got[withoutOrder(e)] += int(n)
				}
			}))
			require.Equal(t, want, got)
		}
	}
	require.True(t, orderless > 0 || !calm)
}

// withoutOrder has what is known of a call without its order.
func withoutOrder(e *trace.Event) string {
	return fmt.Sprintf("%d %d: %d comm %d as %d: %+v, %+v", e.Rank, e.Thread, e.Terminal, e.Comm, e.OwnRank, e.In, e.Out)
}

// inChapters is a trace without times, with the first calls of each thread in a chapter.
func inChapters(t *testing.T, w *written) *trace.Content {
	t.Helper()
	c := *w.content
	c.Grammar.Rules = slices.Clone(c.Grammar.Rules)
	terminals := make([]int32, len(c.Signatures))
	for i := range terminals {
		terminals[i] = int32(i)
	}
	threads := c.Threads.List()
	for i := range threads {
		var first, rest []grammar.Symbol
		for k, e := range w.calls[i] {
			if one := (grammar.Symbol{Value: e.Terminal, Count: 1}); k < len(w.calls[i])/2 {
				first = append(first, one)
			} else {
				rest = append(rest, one)
			}
		}
		var file bytes.Buffer
		p, err := trace.NewPartWriter(&file, &trace.Content{})
		require.NoError(t, err)
		text := codec.AppendGrammar(nil, grammar.Grammar{Rules: [][]grammar.Symbol{first}})
		require.NoError(t, p.Chapter(trace.ChapterOf{Calls: uint64(len(first))}, text))
		require.NoError(t, p.Close())
		part, err := trace.OpenPart(bytes.NewReader(file.Bytes()), int64(file.Len()))
		require.NoError(t, err)
		threads[i].Chapters = &trace.Chapters{List: part.Chapters(), Terminals: terminals}
		threads[i].Root = len(c.Grammar.Rules)
		c.Grammar.Rules = append(c.Grammar.Rules, append([]grammar.Symbol{grammar.RuleSymbol(threads[i].Root+1, 1)}, rest...), trace.CountsOf(part.Chapters()))
	}
	c.Threads = trace.NewThreadTable(threads...)
	return &c
}
