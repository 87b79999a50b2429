package reexecution

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Compare compares the canonical calls of a run with those of its replay, thread by thread:
// functions, arguments, what receives matched, new communicators' members. Handles are the same if
// they were created by the same calls. It returns the number of equal calls, and the first
// difference of each rank.
//
// It does not compare addresses, clock readings, texts and error codes that MPI returned, and
// functions of the program. Of queries it compares only the inputs if the two MPIs have different
// ABIs.
func Compare(ctx context.Context, run, again timeline.Trace) (calls uint64, differences []string, err error) {
	if a, b := run.Meta().WorldSize, again.Meta().WorldSize; a != b {
		return 0, []string{fmt.Sprintf("the run had %d ranks, the re-execution %d", a, b)}, nil
	}
	c := comparison{run: run, again: again, sameABI: run.Meta().ABI == again.Meta().ABI}
	second := map[[2]int]int{}
	for i, l := range timeline.Locations(again) {
		second[[2]int{l.Rank, l.Thread}] = i
	}
	rank := -1
	for i, l := range timeline.Locations(run) {
		if l.Rank != rank {
			rank = l.Rank
			c.handles = map[handle][]int64{}
		}
		j, found := second[[2]int{l.Rank, l.Thread}]
		if !found {
			differences = append(differences, fmt.Sprintf("rank %d: thread %d made no calls in the re-execution", l.Rank, l.Thread))
			continue
		}
		n, difference, err := c.threads(ctx, i, j)
		if err != nil {
			return calls, nil, err
		}
		calls += n
		if difference != "" {
			differences = append(differences, fmt.Sprintf("rank %d, thread %d: %s", l.Rank, l.Thread, difference))
		}
	}
	return calls, differences, nil
}

// A handle is one of a run.
type handle struct {
	kind mpi.Kind
	id   int64
}

type comparison struct {
	run, again timeline.Trace
	sameABI    bool
	// handles maps the run's ids to those of the replay: several if MPI returned the same handle
	// more than once, to be freed as often. The last one counts.
	handles map[handle][]int64
}

var errStop = errors.New("enough")

// calls yields the calls of a location. An error that ends it early is in *failure.
func calls(ctx context.Context, t timeline.Trace, location int, failure *error) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		err := Each(ctx, t, location, func(c *Call) error {
			if !yield(c) {
				return errStop
			}
			return nil
		})
		if !errors.Is(err, errStop) {
			*failure = err
		}
	}
}

// threads compares two locations, up to the first difference.
func (c *comparison) threads(ctx context.Context, i, j int) (n uint64, difference string, err error) {
	var failed, failedAgain error
	next, stop := iter.Pull(calls(ctx, c.again, j, &failedAgain))
	defer stop()
	for a := range calls(ctx, c.run, i, &failed) {
		b, more := next()
		if !more {
			difference = fmt.Sprintf("the run's call %d, %s, is missing in the re-execution", a.Index, a.Function.Name)
			break
		}
		if d := c.calls(a, b); d != "" {
			difference = fmt.Sprintf("the run's call %d, %s: %s (call %d of the re-execution)", a.Index, a.Function.Name, d, b.Index)
			break
		}
		n++
	}
	if err := errors.Join(failed, failedAgain); err != nil || difference != "" {
		return n, difference, err
	}
	if b, more := next(); more {
		difference = fmt.Sprintf("the re-execution's call %d, %s, is not in the run", b.Index, b.Function.Name)
	}
	return n, difference, failedAgain
}

// calls describes how two calls differ, "" if they do not.
func (c *comparison) calls(a, b *Call) string {
	if a.Function != b.Function {
		return "it is " + b.Function.Name
	}
	if a.MayFail != b.MayFail {
		return "one of the two failed"
	}
	in, out := 0, 0
	for i := range a.Function.Params {
		p := &a.Function.Params[i]
		if p.Direction.IsIn() {
			x, y := at(a.In, int8(in)), at(b.In, int8(in))
			in++
			if p.Kind == mpi.KindString && NamesFile(a.Semantics) {
				if x.Form == trace.Text && y.Form == trace.Text && ScratchName(x.Text) == path.Base(y.Text) {
					continue
				}
			}
			if d := c.values(p, x, y); d != "" {
				return fmt.Sprintf("argument %d is %s", i+1, d)
			}
			if p.Effect == mpi.EffectFreed && x.Form == trace.Handle {
				h := handle{p.Kind, x.Int}
				c.handles[h] = c.handles[h][:len(c.handles[h])-1]
			}
		}
		if p.Direction.IsOut() {
			x, y := at(a.Out, int8(out)), at(b.Out, int8(out))
			out++
			if !c.comparesResult(a.Semantics, p) || p.Kind == mpi.KindStatus && isNamed(at(a.In, a.Semantics.In[semantics.Source]), "MPI_PROC_NULL") {
				continue
			}
			if p.Effect == mpi.EffectNew || p.Effect == mpi.EffectExisting {
				c.bind(p, x, y)
			}
			if d := c.values(p, x, y); d != "" {
				return fmt.Sprintf("result %d is %s", i+1, d)
			}
		}
	}
	return c.communicators(a, b)
}

// comparesResult reports whether an output parameter must be equal.
func (c *comparison) comparesResult(s *semantics.Function, p *mpi.Param) bool {
	switch p.Kind {
	case mpi.KindBuffer, mpi.KindPointer, mpi.KindString, mpi.KindAint, mpi.KindErrorCode, mpi.KindArgc, mpi.KindArgv:
		return false
	case mpi.KindStatus:
		// other fields than the bytes of a file operation's status are undefined
		return s.Operation != semantics.FileAccess
	default:
	}
	if s.Operation == semantics.Query && s.Out[semantics.GraphSources] >= 0 {
		return false // MPI may list neighbors in any order; Open MPI uses that of messages
	}
	if s.Operation == semantics.Query && p.Kind == mpi.KindOffset {
		return false // how large a file is that existed before the run is not in the trace
	}
	return p.Kind.IsHandle() || c.sameABI || !s.IsLocalQuery() && s.Operation != semantics.Pack && s.Operation != semantics.Unpack &&
		s.Operation != semantics.Initialize
}

// bind records the handles that a call creates.
func (c *comparison) bind(p *mpi.Param, a, b *trace.Value) {
	x, y := elements(a), elements(b)
	for i := range min(len(x), len(y)) {
		if x[i].Form != trace.Handle || y[i].Form != trace.Handle {
			continue
		}
		h := handle{p.Kind, x[i].Int}
		if p.Effect == mpi.EffectExisting || p.Kind == mpi.KindRequest || p.Kind == mpi.KindMessage {
			c.handles[h] = c.handles[h][:0] // they are not freed, or not by that
		}
		c.handles[h] = append(c.handles[h], y[i].Int)
	}
}

// values describes how two values of a parameter differ: "what is, not what was", or "".
func (c *comparison) values(p *mpi.Param, a, b *trace.Value) string {
	switch p.Kind {
	case mpi.KindBuffer:
		if x, y := isNamed(a, "MPI_IN_PLACE"), isNamed(b, "MPI_IN_PLACE"); x != y {
			return "another address than MPI_IN_PLACE in one of the two"
		}
		return ""
	case mpi.KindPointer, mpi.KindFunction, mpi.KindArgc, mpi.KindArgv:
		return ""
	default:
	}
	if a == nil || b == nil || a.Form == trace.Absent || a.Form == trace.Null {
		return "" // not significant in the run
	}
	if a.Form == trace.List && b.Form == trace.List {
		if len(a.List) != len(b.List) {
			return fmt.Sprintf("a list of %d, not of %d", len(b.List), len(a.List))
		}
		for i := range a.List {
			if d := c.values(p, &a.List[i], &b.List[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if a.Form == trace.Handle && b.Form == trace.Handle {
		x := handle{p.Kind, a.Int}
		if len(c.handles[x]) == 0 { // another thread created it
			c.handles[x] = []int64{b.Int}
		}
		if ids := c.handles[x]; ids[len(ids)-1] != b.Int {
			return "another handle"
		}
		return ""
	}
	if a.Form == trace.Status && b.Form == trace.Status && len(a.List) == len(b.List) {
		parts := []int{statusCancelled, statusSource, statusTag, statusBytes}
		if number(&a.List[statusCancelled]) > 0 {
			parts = parts[:1] // its other fields are undefined
		}
		for _, part := range parts {
			if !same(&a.List[part], &b.List[part]) {
				return fmt.Sprintf("%s, not %s", text(b), text(a))
			}
		}
		return ""
	}
	if !same(a, b) {
		return fmt.Sprintf("%s, not %s", text(b), text(a))
	}
	return ""
}

func same(a, b *trace.Value) bool { return a.Form == b.Form && a.Int == b.Int && a.Text == b.Text }

// text formats a value for people.
func text(v *trace.Value) string {
	switch v.Form {
	case trace.Int:
		return fmt.Sprint(v.Int)
	case trace.Name, trace.Text:
		return v.Text
	case trace.Status:
		if len(v.List) == statusParts {
			return fmt.Sprintf("a status of source %s, tag %s, %s bytes", text(&v.List[statusSource]), text(&v.List[statusTag]), text(&v.List[statusBytes]))
		}
	default:
	}
	return "something else"
}

// communicators describes how the communicators differ that two calls created.
func (c *comparison) communicators(a, b *Call) string {
	if a.NewComm < 0 || b.NewComm < 0 {
		if a.NewComm != b.NewComm && (a.NewComm < 0) != (b.NewComm < 0) {
			return "one of the two made no communicator"
		}
		return ""
	}
	x, y := &c.run.Communicators()[a.NewComm], &c.again.Communicators()[b.NewComm]
	if !slices.Equal(x.Members, y.Members) || !slices.Equal(x.Remote, y.Remote) {
		return fmt.Sprintf("the new communicator has ranks %s, not %s", y.Members, x.Members)
	}
	return ""
}
