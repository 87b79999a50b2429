package merger

import (
	"errors"
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
)

// add interns the content of c and adds its processes to `to`. If whole is false, c will grow, and
// is added unchanged.
func (p *internTable) add(c *trace.Content, to *processes, whole bool) error {
	// a reader may have accepted bytes whose parts are inconsistent
	if err := c.Validate(); err != nil {
		return err
	}
	if whole {
		var err error
		if c, err = separate(c); err != nil {
			return err
		}
	}
	for i := range c.Functions {
		if err := p.addFunction(&c.Functions[i]); err != nil {
			return err
		}
	}
	a := importer{table: p, from: c, signatures: make([]*imported, len(c.Signatures)), roots: map[int]*root{}}
	for _, s := range c.Sites {
		if s.Caller > 0 { // an earlier one
			s.Caller = uint32(a.sites[s.Caller-1]) + 1
		}
		a.sites = append(a.sites, p.addSite(s))
	}
	for _, s := range c.Allocations {
		if s.Site > 0 {
			s.Site = uint32(a.sites[s.Site-1]) + 1
		}
		a.allocations = append(a.allocations, p.addAllocation(s))
	}
	for _, comm := range c.Communicators {
		a.communicators = append(a.communicators, p.addCommunicator(comm))
	}
	// all steps that can fail come before the intern table's columns grow
	if err := a.findShapes(); err != nil {
		return err
	}
	a.addRows()
	a.addProcesses(to)
	return nil
}

// An importer maps the numbers of one trace to those of the intern table.
type importer struct {
	table *internTable
	from  *trace.Content

	sites, allocations, communicators []int32
	signatures                        []*imported
	sequences                         []int64 // code of each sequence + 1; 0: not interned yet
	roots                             map[int]*root
	order                             []int // roots in order of first use
}

// imported is a signature split into template and values.
type imported struct {
	template  int32
	own       int32
	slots     []trace.Value
	constants []*trace.Value
}

// A root is a rule that is the root of some threads.
type root struct {
	local    localGrammar
	shape    int32
	counts   map[int32]uint64
	threads  codec.Numbers // rows in the input
	places   codec.Numbers // Thread.InShape of each: its index in the columns of the input
	greatest int           // maximum of places
	row      int           // row of the next thread in the columns of the shape
}

func (a *importer) signature(terminal int32) *imported {
	if s := a.signatures[terminal]; s != nil {
		return s
	}
	s := a.from.Signatures[terminal]
	s = withAllocations(s.WithSites(func(site uint32) uint32 { return uint32(a.sites[site-1]) + 1 }), a.allocations)
	t, slots, constants := templateOf(s, a.table.functions[s.Function])
	made := &imported{template: a.table.addTemplate(t), own: s.OwnRank, slots: slots, constants: constants}
	a.signatures[terminal] = made
	return made
}

// findShapes finds the shape of every thread, and checks that the columns have a value for each.
func (a *importer) findShapes() error {
	c := a.from
	places := c.Threads.InShape().Lookup()
	ranks := c.Threads.Ranks().Lookup()
	for i, number := range c.Threads.Roots().All() {
		r := a.roots[int(number)]
		if r == nil {
			r = &root{local: localize(c.Grammar, int(number))}
			templates := make([]int32, len(r.local.terminals))
			for k, terminal := range r.local.terminals {
				s := a.signature(terminal)
				templates[k] = s.template
				if err := a.check(s, places(i)); err != nil {
					return fmt.Errorf("rank %d: %w", ranks(i), err)
				}
			}
			r.shape = a.table.shapeOf(&r.local, templates)
			a.roots[int(number)] = r
			a.order = append(a.order, int(number))
		}
		r.threads.Push(int64(i))
		r.places.Push(places(i))
		r.greatest = max(r.greatest, int(places(i)))
	}
	for _, number := range a.order {
		r := a.roots[number]
		for _, terminal := range r.local.terminals {
			if err := a.check(a.signatures[terminal], int64(r.greatest)); err != nil {
				return fmt.Errorf("place %d: %w", r.greatest, err)
			}
		}
	}
	return nil
}

// check returns an error unless all columns of a signature have a value for a place
// (Thread.InShape).
func (a *importer) check(s *imported, place int64) error {
	if s.own < -1 {
		if _, err := a.element(trace.Value{Form: trace.Column, Int: -2 - int64(s.own)}, int(place)); err != nil {
			return err
		}
	}
	for _, v := range s.slots {
		if _, err := a.element(v, int(place)); err != nil {
			return err
		}
	}
	for _, v := range s.constants {
		if v != nil {
			if _, err := a.element(*v, int(place)); err != nil {
				return err
			}
		}
	}
	return nil
}

// element returns the code of a slot of a shard for the thread with a place (Thread.InShape).
func (a *importer) element(v trace.Value, place int) (int64, error) {
	column := func(k int64) (int64, error) {
		if k < 0 || k >= int64(len(a.from.Columns)) || place >= a.from.Columns[k].Len() {
			return 0, fmt.Errorf("column %d has no element %d", k, place)
		}
		return a.from.Columns[k].At(place), nil
	}
	switch v.Form {
	case trace.Int:
		return numberCode(v.Int), nil
	case trace.Name:
		return nameCode(a.table.addName(v.Text)), nil
	case trace.Column:
		x, err := column(v.Int)
		return numberCode(x), err
	case trace.Elastic:
		if trace.Operator(v.Int) != trace.Cases || len(v.List) < 2 {
			break
		}
		which, err := column(v.List[0].Int)
		if err != nil {
			return 0, err
		}
		if which < 0 || which >= int64(len(v.List)-1) || v.List[1+which].Form == trace.Elastic {
			break
		}
		return a.element(v.List[1+which], place)
	}
	return 0, errElement
}

var errElement = errors.New("an elastic value is none that shards have, or has nothing for a thread")

// addRows appends a row for every thread to the columns of its shape.
func (a *importer) addRows() {
	a.sequences = make([]int64, len(a.from.Sequences))
	for _, number := range a.order {
		r := a.roots[number]
		s := &a.table.shapes[r.shape]
		r.row = s.rows
		for k, terminal := range r.local.terminals {
			a.addSignatureRows(s.columns[s.first[k]:], r, terminal)
		}
		s.addExponents(r.local.rules, r.threads.Len())
	}
}

// addSignatureRows appends to the columns of one signature.
func (a *importer) addSignatureRows(columns []codec.Numbers, r *root, terminal int32) {
	s := a.signatures[terminal]
	if s.own >= -1 {
		a.pushValue(&columns[0], r, trace.Value{Form: trace.Int, Int: int64(s.own)})
	} else {
		a.pushValue(&columns[0], r, trace.Value{Form: trace.Column, Int: -2 - int64(s.own)})
	}
	k := 1
	for _, v := range s.slots {
		a.pushValue(&columns[k], r, v)
		k++
	}
	t := a.table.templates[s.template]
	for i, number := range t.streams {
		if s.constants[i] != nil {
			a.pushValue(&columns[k], r, *s.constants[i])
		} else {
			a.pushStream(&columns[k], r, terminal, number, true)
		}
		k++
	}
	for _, number := range t.others {
		a.pushStream(&columns[k], r, terminal, number, false)
		k++
	}
}

// pushValue appends the values of the threads in a slot, which has been checked.
func (a *importer) pushValue(to *codec.Numbers, r *root, v trace.Value) {
	switch v.Form {
	case trace.Int, trace.Name:
		code, _ := a.element(v, 0)
		to.PushRun(code, 0, r.places.Len())
	case trace.Column:
		for run, count := range a.from.Columns[v.Int].RunsAt(&r.places) {
			to.PushRun(numberCode(run.First), numberCode(run.Step), count)
		}
	default:
		code := a.lookup(v)
		for _, place := range r.places.All() {
			to.Push(code(int(place)))
		}
	}
}

// lookup returns a function that does what element does, for many places. The value must have been
// checked at the first and at the last place.
func (a *importer) lookup(v trace.Value) func(place int) int64 {
	switch v.Form {
	case trace.Column:
		at := a.from.Columns[v.Int].Lookup()
		return func(place int) int64 { return numberCode(at(place)) }
	case trace.Elastic:
		which := a.from.Columns[v.List[0].Int].Lookup()
		cases := make([]func(int) int64, len(v.List)-1)
		return func(place int) int64 {
			k := which(place)
			if k < 0 || k >= int64(len(cases)) {
				return numberCode(0) // damaged; Validate does not check every place
			}
			if cases[k] == nil {
				if _, err := a.element(v.List[1+k], place); err != nil {
					return numberCode(0)
				}
				cases[k] = a.lookup(v.List[1+k])
			}
			return cases[k](place)
		}
	}
	code, _ := a.element(v, 0)
	return func(int) int64 { return code }
}

// noStream is the code for a thread without a stream.
const noStream = -1

// pushStream appends the codes of the threads in one stream.
func (a *importer) pushStream(c *codec.Numbers, r *root, terminal, number int32, fold bool) {
	streams := a.from.Threads.Streams()
	if r.counts == nil {
		r.counts = map[int32]uint64{}
		root := a.from.Threads.Roots().At(int(r.threads.At(0)))
		for _, o := range a.from.Grammar.Counts(int(root)) {
			r.counts[o.Terminal] = o.Count
		}
	}
	var last []trace.StreamRef // threads often share a list
	code := int64(noStream)
	for n, row := range r.threads.All() {
		list := streams(int(row))
		if n == 0 || len(list) != len(last) || len(list) > 0 && &list[0] != &last[0] {
			last, code = list, a.streamCode(list, terminal, number, fold, r.counts[terminal])
		}
		c.Push(code)
	}
}

// streamCode returns the code of a stream in a thread's list.
func (a *importer) streamCode(list []trace.StreamRef, terminal, number int32, fold bool, calls uint64) int64 {
	t := trace.Thread{Streams: list}
	ref, ok := t.Stream(terminal, number)
	if !ok {
		return noStream
	}
	values := &a.from.Sequences[ref.Sequence]
	if fold && values.Len() == calls {
		if value, constant := values.Constant(); constant && codeFits(value) {
			return numberCode(value)
		}
	}
	return a.sequence(ref.Sequence)
}

// sequence returns the code of a sequence of the input.
func (a *importer) sequence(i int32) int64 {
	if a.sequences[i] == 0 {
		a.sequences[i] = nameCode(a.table.sequences.Add(a.from.Sequences[i])) + 1
	}
	return a.sequences[i] - 1
}

// addProcesses adds the ranks and threads of the input, with the numbers of the intern table.
func (a *importer) addProcesses(to *processes) {
	shared := map[*uint32][]uint32{} // equal lists of a table share memory
	threads := a.from.Threads.Lookup()
	at := 0
	for _, r := range a.from.Ranks.All() {
		if len(r.CommunicatorsOwn) > 0 {
			own, known := shared[&r.CommunicatorsOwn[0]]
			if !known {
				own = make([]uint32, len(r.CommunicatorsOwn))
				for k, id := range r.CommunicatorsOwn {
					own[k] = uint32(a.communicators[id])
				}
				shared[&r.CommunicatorsOwn[0]] = own
			}
			r.CommunicatorsOwn = own
		}
		r.ReplaceSites(func(site uint32) uint32 { return uint32(a.sites[site-1]) + 1 })
		to.ranks.Append(r)
		to.first.Push(int64(to.threads.Len()))
		for ; at < a.from.Threads.Len(); at++ {
			t := threads(at)
			if t.Rank != r.Rank {
				break
			}
			root := a.roots[t.Root]
			t.Shape, t.InShape = int(root.shape), root.row
			root.row++
			t.Aggregates = localAggregates(t.Aggregates, root.local.terminals)
			t.Chapters = localChapters(t.Chapters, root.local.terminals)
			t.Root, t.Streams = 0, nil
			to.threads.Append(t)
		}
	}
}
