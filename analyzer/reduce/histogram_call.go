package reduce

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/histogram"
)

// noCall is the previous call if it is unknown.
var noCall = call{}

// callHistograms collects the calls of a function from a call site.
type callHistograms struct {
	call
	calls, unsized   uint64
	durations, bytes histogram.Builder
	gaps             map[call]*histogram.Builder // by the previous call
	payload          volume.Payload
	arguments        []argumentHistogram
	sites            []trace.Site
	communicators    []trace.Communicator
}

// newCallHistograms starts with a histogram for each argument that is kept: not for buffers, which
// are addresses, nor for requests, whose numbers mean nothing without the order of calls.
func newCallHistograms(k call, of *trace.Reader) *callHistograms {
	f, means := of.Function(k.function), of.Semantics(k.function)
	c := &callHistograms{
		call: k, gaps: map[call]*histogram.Builder{}, payload: volume.PayloadOf(means),
		sites: of.Sites(), communicators: of.Communicators(),
	}
	c.durations.Coarse = true
	in, out := 0, 0
	for i := range f.Parameters {
		p := &f.Parameters[i]
		role := semantics.NoRole
		if i < len(means.Roles) {
			role = means.Roles[i]
		}
		a := argumentHistogram{name: p.Name, kind: p.Kind, list: p.List, kept: role != semantics.Buffer && role != semantics.Request}
		switch role {
		case semantics.Destination, semantics.Source, semantics.Root, semantics.Target:
			a.rank = true
		}
		if p.Direction != trace.Out {
			a.position, a.result = in, false
			c.arguments = append(c.arguments, a)
			in++
		}
		if p.Direction != trace.In {
			a.position, a.result = out, true
			if role == semantics.Status {
				for _, field := range statusFields {
					a.name, a.kind, a.field, a.rank = p.Name+"."+field.name, "status", field.position, field.rank
					c.arguments = append(c.arguments, a)
				}
			} else {
				c.arguments = append(c.arguments, a)
			}
			out++
		}
	}
	c.arguments = append(c.arguments, argumentHistogram{name: "return", kind: f.Return, result: true, position: ofResult,
		kept: means.Operation != semantics.Time})
	return c
}

func (c *callHistograms) gap(after call) *histogram.Builder {
	if c.gaps[after] == nil {
		c.gaps[after] = &histogram.Builder{Coarse: true}
	}
	return c.gaps[after]
}

func (c *callHistograms) add(e *trace.Event) {
	c.calls++
	switch size := c.payload.Of(e, c.communicators); {
	case size.Known:
		c.bytes.Add(int64(size.Bytes), 1)
	case size.Moves:
		c.unsized++
	}
	for i := range c.arguments {
		if a := &c.arguments[i]; a.kept {
			a.call(e, c.sites)
		}
	}
}

func (c *callHistograms) histograms(index map[call]int) trace.CallHistogram {
	made := trace.CallHistogram{Function: c.function, Site: c.site, Calls: c.calls,
		Durations: c.durations.Histogram(), Bytes: c.bytes.Histogram(), Unsized: c.unsized}
	c.joinRareGaps()
	for _, after := range slices.SortedFunc(maps.Keys(c.gaps), func(a, b call) int { return cmp.Compare(index[a], index[b]) }) {
		made.Gaps = append(made.Gaps, trace.GapHistogram{After: index[after], Gaps: c.gaps[after].Histogram()})
	}
	for i := range c.arguments {
		if a, ok := c.arguments[i].histogram(); ok {
			made.Arguments = append(made.Arguments, a)
		}
	}
	return made
}

// maxBefore is the maximum number of previous calls that are distinguished: the most frequent ones.
const maxBefore = 8

// joinRareGaps joins the gaps after all other calls: in a program in which any call may follow any
// other one, there would be many more of them than calls.
func (c *callHistograms) joinRareGaps() {
	order := slices.SortedFunc(maps.Keys(c.gaps), func(a, b call) int {
		return cmp.Or(cmp.Compare(c.gaps[b].Count(), c.gaps[a].Count()), compareCalls(a, b))
	})
	for _, after := range order[min(len(order), maxBefore):] {
		if after != noCall {
			c.gap(noCall).Merge(c.gaps[after])
			delete(c.gaps, after)
		}
	}
}

// statusFields are the fields of a status that are kept, with their indices.
var statusFields = []struct {
	name     string
	position int
	rank     bool
}{{"source", 0, true}, {"tag", 1, false}, {"bytes", 4, false}}

// ofResult is the position of the result of a function.
const ofResult = -1

// manyNames is the number of names of an argument from which on others are only counted.
const manyNames = 1 << 10

// An argumentHistogram collects the values of an argument, or of a field of a status.
type argumentHistogram struct {
	name, kind string
	position   int // in Event.In or, for results, Event.Out
	result     bool
	list       bool
	kept       bool
	rank       bool // it is a rank in the call's communicator
	field      int  // of a status

	numbers, relative, lengths histogram.Builder
	unplaced                   bool // the caller's own rank was unknown at least once
	names                      map[string]uint64
	others                     uint64
}

func (a *argumentHistogram) call(e *trace.Event, sites []trace.Site) {
	values := e.In
	switch {
	case a.position == ofResult:
		a.value(&e.Return, e.OwnRank, sites)
		return
	case a.result:
		values = e.Out
	}
	if a.position >= len(values) {
		return
	}
	v := &values[a.position]
	if a.list && v.Form == trace.List {
		a.lengths.Add(int64(len(v.List)), 1)
	}
	a.value(v, e.OwnRank, sites)
}

func (a *argumentHistogram) value(v *trace.Value, own int, sites []trace.Site) {
	if x, number := v.Number(a.kind); number {
		a.numbers.Add(x, 1)
		if a.rank && own >= 0 {
			a.relative.Add(x-int64(own), 1)
		}
		a.unplaced = a.unplaced || own < 0
		return
	}
	switch v.Form {
	case trace.Absent, trace.Pointer, trace.Float:
	case trace.List:
		for i := range v.List {
			a.value(&v.List[i], own, sites)
		}
	case trace.Status:
		if a.field < len(v.List) {
			a.value(&v.List[a.field], own, sites)
		}
	case trace.Code:
		a.text(callsite.Name(&sites[v.Int-1]))
	default:
		a.text(trace.TextOf(v, a.kind))
	}
}

func (a *argumentHistogram) text(name string) {
	if a.names == nil {
		a.names = map[string]uint64{}
	}
	if _, known := a.names[name]; !known && len(a.names) == manyNames {
		a.others++
		return
	}
	a.names[name]++
}

// histogram returns what was collected; false if that is nothing, or only that calls succeeded.
// Ranks are relative to the caller if that makes fewer bins.
func (a *argumentHistogram) histogram() (trace.ArgumentHistogram, bool) {
	made := trace.ArgumentHistogram{Name: a.name, Result: a.result, Numbers: a.numbers.Histogram(), Lengths: a.lengths.Histogram(), Others: a.others}
	if a.rank && !a.unplaced {
		if relative := a.relative.Histogram(); fewer(&relative, &made.Numbers) {
			made.Numbers, made.Relative = relative, true
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(a.names), func(x, y string) int {
		return cmp.Or(cmp.Compare(a.names[y], a.names[x]), cmp.Compare(x, y))
	}) {
		if len(made.Names) == trace.MaxNames {
			made.Others += a.names[name]
			continue
		}
		made.Names = append(made.Names, trace.NameCount{Name: name, Count: a.names[name]})
	}
	if a.position == ofResult {
		if x, constant := made.Numbers.Constant(); constant && x == 0 && len(made.Names) == 0 {
			return made, false
		}
	}
	return made, made.Numbers.Count+made.Lengths.Count+made.Others > 0 || len(made.Names) > 0
}

// fewer reports whether a is more precise with fewer bins than b.
func fewer(a, b *histogram.Histogram) bool {
	return cmp.Or(cmp.Compare(boolInt(a.Binned), boolInt(b.Binned)), cmp.Compare(len(a.Bins), len(b.Bins))) < 0
}
