package skeleton

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A scalar is a number, or something with a name in C.
type scalar struct {
	name   string
	number int64
}

// insignificant is the value of an argument that is not significant on a rank.
const insignificant = "?"

// memory is the name of any address in the application's memory.
const memory = "memory"

// An argument is a value of a parameter in one call.
type argument struct {
	list   bool
	values []scalar
}

// vector is the inputs of a call, and those of its results that may be inputs of other calls:
// arguments by parameter.
type vector struct {
	in, out []argument
	skipped bool // an unsuccessful poll
}

// A step is a step of the program with the behavior of all ranks.
type step struct {
	*program.Step
	body     []*step
	function *mpi.Function // nil: a loop
	meaning  *semantics.Function
	declared *trace.Function
	name     string // of the called function; for a poll, the function that waits
	site     string // "x.c:12", "" if unknown
	// the call path, outermost first, without the call's own site; for a loop, the common part
	// of all calls in it
	callers []uint32
	inside  []string // the functions of the call path, outermost first: one more than callers
	ignored bool     // MPI_STATUS_IGNORE
	failed  int      // calls that returned an error

	vectors []vector
	known   map[string]int32
	ranks   []*behavior // by row of the trace's ranks; nil: a rank does not get here

	turns  *expression // number of iterations according to the shape; nil: not determined by it
	counts bool        // its requests are numbered by a counter
}

// A behavior is the behavior of a rank at a step.
type behavior struct {
	trips series // each time that the rank reached it
	calls series // indices into step.vectors
	terms map[int32]int32
	// computed is the total time in seconds that it computed before the calls.
	computed  float64
	own, size int // rank in the communicator of the calls and its size; −1: they vary
	comm      int // the instance; −1: it varies
	iteration
}

// An observer goes through the calls of all ranks along the program.
type observer struct {
	ctx      context.Context
	trace    timeline.Trace
	tree     *program.Tree
	erased   func(terminal int32) bool
	steps    []*step // by number
	body     []*step
	memory   buffers
	ranks    []int // world ranks by row
	untimed  bool
	span     float64 // of the longest rank, in seconds
	varied   int
	messages *balance
}

// maxVaried is the maximum number of values that are kept of calls that differ from one to the
// next.
const maxVaried = 1 << 24

func observe(ctx context.Context, t timeline.Trace, tree *program.Tree, erased func(int32) bool, scale float64) (*observer, error) {
	o := &observer{ctx: ctx, trace: t, tree: tree, erased: erased, steps: make([]*step, tree.Steps)}
	o.messages = newBalance(scale)
	rows := t.Ranks().Len()
	o.body = o.make(tree.Body, rows)
	for i, thread := range t.Threads().All() {
		if tree.Class[i] < 0 {
			continue
		}
		row := t.Ranks().Find(thread.Rank)
		o.ranks = append(o.ranks, thread.Rank)
		w := &walker{observer: o, objects: map[mpi.Kind]map[int64]int64{}, row: row, rank: thread.Rank, class: tree.Class[i], come: make([]int, tree.Steps), made: make([]int, tree.Steps)}
		if err := w.walk(thread.Thread); err != nil {
			return nil, err
		}
	}
	o.messages.unite()
	return o, nil
}

func (o *observer) make(list []*program.Step, rows int) []*step {
	var steps []*step
	for _, x := range list {
		s := &step{Step: x, known: map[string]int32{}, ranks: make([]*behavior, rows)}
		o.steps[x.Number] = s
		s.body = o.make(x.Body, rows)
		if x.Terminal >= 0 {
			signature := &o.trace.Signatures()[x.Terminal]
			s.function = mpi.ByID(signature.Function)
			s.meaning, s.declared = o.trace.Semantics(signature.Function), o.trace.Function(signature.Function)
			if s.declared != nil {
				s.name = s.declared.Name
			}
			s.ignored = signature.StatusIgnored
			o.locate(s, signature.Site)
		} else {
			s.share()
		}
		steps = append(steps, s)
	}
	return steps
}

// locate finds the call path of a call.
func (o *observer) locate(s *step, site uint32) {
	sites := o.trace.Sites()
	if site == 0 || int(site) > len(sites) {
		return
	}
	s.site = callsite.Name(&sites[site-1])
	for at := site; at > 0 && int(at) <= len(sites); at = sites[at-1].Caller {
		s.callers, s.inside = append(s.callers, at), append(s.inside, sites[at-1].Function)
	}
	s.callers = s.callers[1:]
	slices.Reverse(s.callers)
	slices.Reverse(s.inside)
}

// share sets the call path of a loop to the common part of all calls in it.
func (s *step) share() {
	for i, x := range s.body {
		if i == 0 {
			s.callers, s.inside = x.callers, x.inside
			continue
		}
		n := 0
		for n < min(len(s.callers), len(x.callers)) && s.callers[n] == x.callers[n] {
			n++
		}
		s.callers = s.callers[:n]
		s.inside = s.inside[:min(n+1, len(s.inside))]
	}
}

// A walker goes through the calls of one rank.
type walker struct {
	*observer
	row, rank, class int
	cursor           timeline.Cursor
	come, made       []int // by number of a step: how often it was reached, and how many calls were made
	types            datatypes.Table
	last             int64 // end of the previous call
	begun            bool
	computed         float64 // since then, between calls that are left out
	first            int64
	objects          map[mpi.Kind]map[int64]int64 // handles, numbered from 0 in order of creation on the rank
	opened           map[mpi.Kind]map[int64]int   // for Compare: the calls that created objects
	strangers        map[mpi.Kind]map[int64]bool  // objects created by calls that are left out
	account
}

func (w *walker) walk(thread int) error {
	var err error
	if w.cursor, err = w.trace.Calls(w.rank, thread); err != nil {
		return err
	}
	w.account = newAccount(w.rank)
	if err := w.list(w.body, true); err != nil {
		return err
	}
	w.span = max(w.span, float64(w.last-w.first)/1e9)
	if w.next() != nil {
		return fmt.Errorf("rank %d makes more calls than its program", w.rank)
	}
	return w.cursor.Err()
}

// next returns the next call that is not left out, nil at the end.
func (w *walker) next() *trace.Event {
	for w.cursor.Next() {
		e := w.cursor.Event()
		if !w.begun {
			w.first, w.last, w.begun = e.Enter, e.Enter, true
		}
		if e.Timed && !e.Signature.Untraced {
			w.computed += max(0, float64(e.Enter-w.last-e.Overhead)/1e9)
		}
		w.untimed = w.untimed || !e.Timed
		w.last = e.Exit
		w.types.See(e)
		if !w.erased(e.Terminal) {
			return e
		}
		w.meet(e, true)
	}
	return nil
}

// meet records which objects a call creates, and whether it is left out.
func (w *walker) meet(e *trace.Event, leftOut bool) {
	if !leftOut && len(w.strangers) == 0 {
		return
	}
	w.handles(e, true, func(kind mpi.Kind, number int64) {
		switch {
		case leftOut:
			if w.strangers == nil {
				w.strangers = map[mpi.Kind]map[int64]bool{}
			}
			if w.strangers[kind] == nil {
				w.strangers[kind] = map[int64]bool{}
			}
			w.strangers[kind][number] = true
		default:
			delete(w.strangers[kind], number)
		}
	})
}

// strange reports whether a call uses an object that was created by a call that is left out.
func (w *walker) strange(e *trace.Event) (strange bool) {
	if len(w.strangers) > 0 {
		w.handles(e, false, func(kind mpi.Kind, number int64) { strange = strange || w.strangers[kind][number] })
	}
	return strange
}

// handles visits the objects in the outputs, or inputs, of a call.
func (w *walker) handles(e *trace.Event, out bool, f func(kind mpi.Kind, number int64)) {
	function := mpi.ByID(e.Function.ID)
	if function == nil {
		return
	}
	values := e.In
	if out {
		values = e.Out
	}
	k := 0
	for i := range min(len(function.Params), len(e.Function.Parameters)) {
		d := e.Function.Parameters[i].Direction
		if out && d == trace.In || !out && d == trace.Out {
			continue
		}
		if kind := function.Params[i].Kind; kind.IsHandle() && k < len(values) && (!out || d == trace.Out) {
			list := values[k].List
			if values[k].Form != trace.List {
				list = values[k : k+1]
			}
			for j := range list {
				if x := w.scalar(kind, &list[j]); x.name == "" {
					f(kind, x.number)
				}
			}
		}
		k++
	}
}

func (w *walker) list(list []*step, outermost bool) error {
	for _, s := range list {
		trips := s.Trips(w.class)
		if trips == nil {
			continue
		}
		b := s.ranks[w.row]
		if b == nil {
			b = &behavior{terms: map[int32]int32{}, own: -2, comm: -2}
			s.ranks[w.row] = b
		}
		n := trips[w.come[s.Number]%len(trips)]
		w.come[s.Number]++
		if w.vary(&b.trips, int32(min(n, 1<<31-1))) {
			return errVaried(s)
		}
		shortened := outermost && (len(s.body) > 0 || n > 1) && w.messages.scale < 1
		if shortened {
			w.messages.begin(w, s, n)
		}
		for k := range n {
			var err error
			if len(s.body) > 0 {
				err = w.list(s.body, false)
			} else {
				err = w.call(s, b)
			}
			if err != nil {
				return err
			}
			if shortened {
				w.messages.iterated(w, s, k+1, n)
			}
		}
	}
	return w.ctx.Err()
}

func (w *walker) vary(s *series, v int32) bool {
	before := len(s.list)
	s.add(v)
	w.varied += len(s.list) - before
	return w.varied > maxVaried
}

func errVaried(s *step) error {
	return fmt.Errorf("%w: at %s, among others, more than %d arguments differ from call to call", program.ErrIrregular, s.text(), maxVaried)
}

func (w *walker) call(s *step, b *behavior) error {
	e := w.next()
	if e == nil {
		if err := w.cursor.Err(); err != nil {
			return err
		}
		return fmt.Errorf("rank %d makes fewer calls than its program", w.rank)
	}
	calls := s.Calls(w.class)
	if want := calls[w.made[s.Number]%len(calls)]; e.Terminal != want {
		return fmt.Errorf("rank %d: call %d is not that of its program", w.rank, e.Index)
	}
	w.made[s.Number]++
	b.computed += w.computed
	w.computed = 0
	if b.own == -2 {
		b.own, b.comm = e.OwnRank, e.Comm
		if e.Comm >= 0 {
			b.size = w.trace.Communicators()[e.Comm].Members.Len()
		}
	} else if b.comm != e.Comm {
		if b.own != e.OwnRank || e.Comm < 0 || b.size != w.trace.Communicators()[e.Comm].Members.Len() {
			b.own = -1
		}
		b.comm = -1
	}
	if failed(e) {
		s.failed++
	}
	w.follow(e)
	id, known := b.terms[e.Terminal]
	if !known || e.Signature.HasStreams() || e.Comm != b.comm || len(w.strangers) > 0 {
		v := w.vector(s, e)
		v.skipped = v.skipped || failed(e)
		if w.strange(e) {
			if s.meaning.Operation != semantics.DatatypeFree && !s.meaning.IsLocalQuery() {
				return fmt.Errorf("%w: %s has an object that a call makes which cannot be in a skeleton", ErrUnsupported, s.text())
			}
			v.skipped = true
		}
		if v.skipped {
			for _, list := range [][]argument{v.in, v.out} {
				for i := range list {
					list[i] = argument{values: []scalar{{name: insignificant}}}
				}
			}
		}
		w.meet(e, false)
		key := v.key()
		if id, known = s.known[key]; !known {
			id = int32(len(s.vectors))
			s.known[key] = id
			s.vectors = append(s.vectors, v)
		}
		b.terms[e.Terminal] = id
	}
	w.memory.see(w, e)
	if w.vary(&b.calls, id) {
		return errVaried(s)
	}
	return nil
}

// failed reports whether a call returned an error.
func failed(e *trace.Event) bool {
	return e.Return.Form != trace.Absent && !e.Succeeded() && !waits(e.Semantics)
}

// waits reports whether calls complete requests: then their errors are about these.
func waits(f *semantics.Function) bool {
	switch f.Operation {
	case semantics.Wait, semantics.WaitAll, semantics.WaitAny, semantics.WaitSome:
		return true
	}
	return false
}

// text names a step for people.
func (s *step) text() string { return callsite.At(s.name, s.site) }

// vector returns the arguments of a call.
func (w *walker) vector(s *step, e *trace.Event) vector {
	v := vector{in: make([]argument, len(e.In)), out: make([]argument, len(e.Out))}
	in, out := 0, 0
	for i := range e.Function.Parameters {
		p := &e.Function.Parameters[i]
		if p.Direction != trace.Out && in < len(e.In) {
			v.in[in] = w.argument(s, i, &e.In[in])
			in++
		}
		if p.Direction != trace.In && out < len(e.Out) {
			if p.Kind != "status" {
				v.out[out] = w.argument(s, i, &e.Out[out])
			}
			out++
		}
	}
	v.skipped = failedPoll(e.Semantics, e.Out)
	return v
}

// failedPoll reports whether a call is an unsuccessful poll.
func failedPoll(f *semantics.Function, out []trace.Value) bool {
	if f == nil || !f.Polls {
		return false
	}
	if at := f.Out[semantics.Flag]; at >= 0 && int(at) < len(out) {
		return out[at].Form == trace.Int && out[at].Int == 0
	}
	if at := f.Out[semantics.OutCount]; at >= 0 && int(at) < len(out) {
		return out[at].Form == trace.Int && out[at].Int == 0
	}
	return false
}

// argument returns the value of the i-th parameter.
func (w *walker) argument(s *step, i int, v *trace.Value) argument {
	kind := mpi.KindNone
	if s.function != nil && i < len(s.function.Params) {
		kind = s.function.Params[i].Kind
	}
	if v.Form != trace.List {
		return argument{values: []scalar{w.scalar(kind, v)}}
	}
	a := argument{list: true, values: make([]scalar, len(v.List))}
	for i := range v.List {
		a.values[i] = w.scalar(kind, &v.List[i])
	}
	return a
}

// scalar returns a value, with the rank's own number of a handle.
func (w *walker) scalar(kind mpi.Kind, v *trace.Value) scalar {
	x := scalarOf(v)
	if !kind.IsHandle() || x.name != "" {
		return x
	}
	known := w.objects[kind]
	if known == nil {
		known = map[int64]int64{}
		w.objects[kind] = known
	}
	number, there := known[x.number]
	if !there {
		number = int64(len(known))
		known[x.number] = number
	}
	return scalar{number: number}
}

func scalarOf(v *trace.Value) scalar {
	switch v.Form {
	case trace.Int, trace.Handle, trace.Float:
		return scalar{number: v.Int}
	case trace.Name:
		return scalar{name: v.Text}
	case trace.Text:
		return scalar{name: quoted(v.Text)}
	case trace.Null:
		return scalar{name: "NULL"}
	case trace.Pointer:
		return scalar{name: memory}
	}
	return scalar{name: insignificant}
}

// key is equal for equal vectors.
func (v *vector) key() string {
	b := fmt.Append(nil, v.skipped)
	for _, list := range [][]argument{v.in, v.out} {
		for _, a := range list {
			b = fmt.Append(b, a.list, len(a.values))
			for _, x := range a.values {
				b = fmt.Append(b, " ", x.name, ":", x.number)
			}
		}
	}
	return string(b)
}
