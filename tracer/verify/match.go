package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// A match is the state of the comparison of one process.
type match struct {
	rank     int
	ended    bool // early: the log may lack the last call of each thread
	process  *process
	sites    []trace.Site
	renaming map[mpi.Kind]*renaming
	times    times
	readings float64 // permitted error in seconds of what MPI_Wtime returned
}

func newMatch(rank int, p *process, sites []trace.Site) *match {
	return &match{rank: rank, process: p, sites: sites, renaming: map[mpi.Kind]*renaming{}}
}

func (m *match) handles(kind mpi.Kind) *renaming {
	r := m.renaming[kind]
	if r == nil {
		r = newRenaming(kind == mpi.KindRequest)
		m.renaming[kind] = r
	}
	return r
}

// A comparison is one call, from its entry to its return.
type comparison struct {
	*match
	call          *loggedCall
	spec          *mpi.Function
	index         uint64
	name          string
	in, out       []trace.Value
	result        trace.Value
	badTimes      string // how the times differ, "" if they do not
	ownRank       int
	ignored       bool // according to the trace the program passed MPI_STATUS(ES)_IGNORE
	generalized   bool // the recorder's limit of memory left out arguments
	wrongFunction bool
	disagreements []Disagreement
}

// begin copies the event, which is overwritten by the thread's next call, which may be
// nested in this one.
func (m *match) begin(e *trace.Event, c *loggedCall) *comparison {
	return &comparison{
		match: m, call: c, spec: mpi.ByName(c.function), index: e.Index, name: e.Function.Name,
		in: clone(e.In), out: clone(e.Out), result: e.Return, badTimes: m.times.compare(c, e), ownRank: e.OwnRank,
		ignored:     e.Signature != nil && e.Signature.StatusIgnored,
		generalized: e.Signature != nil && e.Signature.Generalized,
	}
}

func clone(values []trace.Value) []trace.Value {
	copied := slices.Clone(values)
	for i := range copied {
		copied[i].List = clone(copied[i].List)
	}
	return copied
}

func (c *comparison) disagree(argument string, v trace.Value, reference, reason string) {
	c.disagreements = append(c.disagreements, Disagreement{
		Rank: c.rank, Thread: c.call.thread, Index: c.index, Function: c.name, Argument: argument,
		Trace: describe(v), Reference: reference, Reason: reason,
	})
}

// succeeded reports whether the outputs of the call are defined. A call that returns no error
// code cannot fail.
func (c *comparison) succeeded() bool {
	return c.spec.Return != mpi.KindErrorCode || c.call.result == 0 ||
		c.process.isConstant("errorclass", "MPI_ERR_IN_STATUS", c.call.result) ||
		c.process.isConstant("", "MPI_ERR_IN_STATUS", c.call.result)
}

// enter compares the inputs of the call and releases the handles that it frees, since another
// thread may get them before it returns.
func (c *comparison) enter() bool {
	if c.name != c.call.function || c.spec == nil {
		c.wrongFunction = true
		c.disagreements = append(c.disagreements, Disagreement{
			Rank: c.rank, Thread: c.call.thread, Index: c.index, Function: c.name, Trace: c.name, Reference: c.call.function,
		})
		return false
	}
	c.section(c.in, c.call.in, mpi.Direction.IsIn, true)
	c.release()
	return len(c.disagreements) == 0
}

// leave compares the outputs of the call.
func (c *comparison) leave() bool {
	if c.wrongFunction {
		return false
	}
	c.returned()
	if c.badTimes != "" {
		c.disagreements = append(c.disagreements, Disagreement{
			Rank: c.rank, Thread: c.call.thread, Index: c.index, Function: c.name, Argument: "time", Reason: c.badTimes,
		})
	}
	c.section(c.out, c.call.out, mpi.Direction.IsOut, false)
	return len(c.disagreements) == 0
}

// section compares the values before or after the call.
func (c *comparison) section(values []trace.Value, arguments []argument, has func(mpi.Direction) bool, in bool) {
	next := 0
	for i := range c.spec.Params {
		p := &c.spec.Params[i]
		if !has(p.Direction) {
			continue
		}
		if next >= len(values) || next >= len(arguments) || arguments[next].name != p.Name {
			c.disagree(p.Name, trace.Value{}, "", "the argument is missing")
			return
		}
		v, a := values[next], arguments[next]
		next++
		if p.Kind == mpi.KindStatus && p.Direction == mpi.Out && a.value.ignored != c.ignored {
			c.disagree(p.Name, v, a.raw, fmt.Sprintf("ignored by the program in the trace: %t", c.ignored))
		}
		if v.Form == trace.Absent {
			if reason := c.absence(p, a.value, in); reason != "" {
				c.disagree(p.Name, v, a.raw, reason)
			}
			continue
		}
		if reason := c.value(p, v, a.value, in); reason != "" {
			c.disagree(p.Name, v, a.raw, reason)
		}
	}
	if next != len(values) || next != len(arguments) {
		c.disagree("", trace.Value{}, "", fmt.Sprintf("%d arguments in the trace, %d in the log, %d in the standard", len(values), len(arguments), next))
	}
}

// absence returns why a value must not be missing in the trace, "" if it may.
func (c *comparison) absence(p *mpi.Param, t token, in bool) string {
	switch {
	case t.form == undefined, c.generalized:
		return ""
	case p.UnlessInPlace > 0 && (c.inPlace(p) || !c.call.finished):
		// MPI_IN_PLACE may be recorded only after the call
		return ""
	case !in && !c.succeeded():
		return ""
	case !in && p.Effect == mpi.EffectCompleted:
		// It follows from the rest of the call; release has checked that.
		return ""
	}
	return "the trace has no value"
}

func (c *comparison) inPlace(p *mpi.Param) bool {
	buffer := c.spec.Params[p.UnlessInPlace-1].Name
	for _, a := range slices.Concat(c.call.in, c.call.out) {
		if a.name == buffer {
			return c.process.isConstant("buffer", "MPI_IN_PLACE", a.value.number)
		}
	}
	return false
}

func (c *comparison) returned() {
	t := token{form: number, number: c.call.result}
	p := mpi.Param{Kind: c.spec.Return}
	if c.spec.ReturnType == "void" {
		return
	}
	if c.spec.Return == mpi.KindErrorCode {
		agree := c.result.Form == trace.Int && int32(c.result.Int) == int32(c.call.result)
		if c.result.Form == trace.Name {
			agree = c.process.isConstant(mpi.KindErrorCode.String(), c.result.Text, c.call.result)
		}
		if !agree {
			c.disagree("result", c.result, strconv.FormatInt(c.call.result, 10), "")
		}
		return
	}
	if c.isNear() {
		return
	}
	if reason := c.value(&p, c.result, t, false); reason != "" {
		c.disagree("result", c.result, strconv.FormatInt(c.call.result, 10), reason)
	}
}

// isNear reports whether the call read the clock and its result in the trace is within the
// permitted error of time stamps, beyond which only the last bits of the two numbers may differ.
func (c *comparison) isNear() bool {
	if c.spec.Name != "MPI_Wtime" || c.result.Form != trace.Float || c.readings == 0 {
		return false
	}
	traced, logged := math.Float64frombits(uint64(c.result.Int)), math.Float64frombits(uint64(c.call.result))
	last := math.Nextafter(math.Abs(logged), math.Inf(1)) - math.Abs(logged)
	return math.Abs(traced-logged) <= c.readings+2*last
}

const differs = "the values differ"

// value compares one value; "" if it agrees.
func (c *comparison) value(p *mpi.Param, v trace.Value, t token, in bool) string {
	if t.form == undefined {
		// In the trace an empty status stream means that there is no status.
		if v.Form == trace.List && len(v.List) == 0 {
			return ""
		}
		// A scalar that is written whatever the flag is, or whose significance the recorder cannot
		// know, because it did not see the creation of the communicator.
		if p.UnlessInPlace > 0 && c.inPlace(p) || p.RootOnly && c.ownRank < 0 {
			return ""
		}
		return "the value is not defined"
	}
	if p.Kind == mpi.KindStatus {
		return statuses(v, t)
	}
	switch v.Form {
	case trace.Null:
		if t.form == null || t.form == number && t.number == 0 || t.form == sentinel && t.number == 0 {
			return ""
		}
	case trace.Int:
		// A number that the application did not want is 0.
		if t.form == number && t.number == v.Int || t.form == null && v.Int == 0 {
			return ""
		}
	case trace.Float:
		if t.form == number && t.number == v.Int {
			return ""
		}
	case trace.Text:
		if t.form == text && t.text == v.Text {
			return ""
		}
	case trace.Name:
		if (t.form == number || t.form == sentinel) && c.process.isConstant(p.Kind.String(), v.Text, t.number) {
			return ""
		}
		if t.form == null && c.process.isConstant(p.Kind.String(), v.Text, 0) {
			return ""
		}
	case trace.Handle:
		if t.form != number {
			return differs
		}
		return c.handle(p, v.Int, t.number, in)
	case trace.Code:
		if t.form == number && c.isFunction(v, t.number) {
			return ""
		}
	case trace.Pointer:
		if (t.form == number || t.form == sentinel) && t.number != 0 && !c.process.hasName(p.Kind.String(), t.number) {
			return ""
		}
	case trace.List:
		if t.form != list || len(v.List) != len(t.list) {
			return differs
		}
		for i := range v.List {
			if reason := c.value(p, v.List[i], t.list[i], in); reason != "" {
				return fmt.Sprintf("element %d: %s", i, reason)
			}
		}
		return ""
	}
	return differs
}

// isFunction reports whether the function in the trace is the one that the program passed.
func (c *comparison) isFunction(v trace.Value, address int64) bool {
	if v.Int < 1 || v.Int > int64(len(c.sites)) {
		return false
	}
	place := c.sites[v.Int-1]
	place.Offset-- // the recorder looks up return addresses, which are behind the call
	return c.process.mayHave(uint64(address), &place)
}

func (c *comparison) handle(p *mpi.Param, id, raw int64, in bool) string {
	if c.process.hasName(p.Kind.String(), raw) {
		return "a predefined handle has an id of its own"
	}
	var err error
	if !in && p.Effect == mpi.EffectNew {
		err = c.handles(p.Kind).create(id, raw)
	} else {
		err = c.handles(p.Kind).use(id, raw)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// statuses compares one status or several. Statuses that may be missing are a list of
// numbers in the trace.
func statuses(v trace.Value, t token) string {
	var want, have []int64
	switch t.form {
	case status:
		want = numbers(want, t)
	case list:
		for _, s := range t.list {
			want = numbers(want, s)
		}
	case null:
	default:
		return differs
	}
	flatten(&have, v)
	if !slices.Equal(want, have) {
		return differs
	}
	return ""
}

func numbers(to []int64, t token) []int64 {
	for _, n := range t.list {
		to = append(to, n.number)
	}
	return to
}

func flatten(to *[]int64, v trace.Value) {
	switch v.Form {
	case trace.List, trace.Status:
		for i := range v.List {
			flatten(to, v.List[i])
		}
	case trace.Int:
		*to = append(*to, v.Int)
	}
}

// release ends what the call ends: freed and consumed handles, and the requests that were
// MPI_REQUEST_NULL when it returned.
func (c *comparison) release() {
	next := 0
	for i := range c.spec.Params {
		p := &c.spec.Params[i]
		if !p.Direction.IsIn() {
			continue
		}
		if next >= len(c.in) {
			return
		}
		v := c.in[next]
		next++
		switch {
		case p.Effect == mpi.EffectCompleted:
			c.complete(p, v) // a call that fails may have completed some requests
		case c.succeeded() && (p.Effect == mpi.EffectFreed || p.Effect == mpi.EffectConsumed):
			c.free(p.Kind, v)
		}
	}
}

func (c *comparison) free(kind mpi.Kind, v trace.Value) {
	switch v.Form {
	case trace.Handle:
		c.handles(kind).free(v.Int)
	case trace.List:
		for i := range v.List {
			c.free(kind, v.List[i])
		}
	}
}

func (c *comparison) complete(p *mpi.Param, v trace.Value) {
	if !c.call.finished {
		return // the process ended in it: the log has nothing of what it returned
	}
	before, after := argumentOf(c.call.in, p.Name), argumentOf(c.call.out, p.Name)
	ids, was, is := []trace.Value{v}, []token{before}, []token{after}
	if v.Form == trace.List {
		ids, was, is = v.List, before.list, after.list
	}
	for i := range ids {
		if ids[i].Form != trace.Handle || i >= len(was) || i >= len(is) {
			continue
		}
		switch {
		case c.process.isConstant("request", "MPI_REQUEST_NULL", is[i].number):
			c.handles(p.Kind).free(ids[i].Int)
		case is[i].number != was[i].number:
			c.disagree(p.Name, ids[i], strconv.FormatInt(is[i].number, 10), "a request became another one")
		}
	}
}

func argumentOf(arguments []argument, name string) token {
	for _, a := range arguments {
		if a.name == name {
			return a.value
		}
	}
	return token{}
}

// describe formats a value of the trace for people.
func describe(v trace.Value) string {
	switch v.Form {
	case trace.Absent:
		return "nothing"
	case trace.Null:
		return "NULL"
	case trace.Int:
		return strconv.FormatInt(v.Int, 10)
	case trace.Float:
		return "double " + strconv.FormatInt(v.Int, 10)
	case trace.Text:
		return strconv.Quote(v.Text)
	case trace.Name:
		return v.Text
	case trace.Handle:
		return "handle " + strconv.FormatInt(v.Int, 10)
	case trace.Code:
		return "function " + strconv.FormatInt(v.Int, 10)
	case trace.Pointer:
		return "a pointer"
	case trace.List, trace.Status:
		var parts []string
		for i := range v.List {
			if i == 16 {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, describe(v.List[i]))
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("form %d", v.Form)
}
