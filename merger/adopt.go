package merger

import (
	"fmt"

	"github.com/cairn-mpi/cairn/trace"
)

// A process is one rank.
type process struct {
	rank    trace.Rank // CommunicatorsOwn are pooled communicators
	threads []thread
}

// calls is the number of calls on all threads.
func (p *process) calls() uint64 {
	var n uint64
	for i := range p.threads {
		n += p.threads[i].calls
	}
	return n
}

type thread struct {
	number          int
	shape           int32
	row             int
	calls           uint64
	firstTick       int64
	endTick         int64
	insideTicks     int64
	gaps, durations []int64
	timing          trace.TimingSource
	joined          bool              // signatures that timing tells apart
	aggregates      []trace.Aggregate // of the shape's terminals
}

// adopt puts the content of c into the pool and returns its processes.
func (p *pool) adopt(c *trace.Content) ([]*process, error) {
	// a reader may have accepted bytes whose parts do not fit together
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = separate(c)
	for i := range c.Functions {
		if err := p.addFunction(&c.Functions[i]); err != nil {
			return nil, err
		}
	}
	a := adoption{pool: p, from: c, signatures: make([]*adopted, len(c.Signatures)), roots: map[int]*root{}}
	for _, s := range c.Sites {
		if s.Caller > 0 { // an earlier one
			s.Caller = uint32(a.sites[s.Caller-1]) + 1
		}
		a.sites = append(a.sites, p.addSite(s))
	}
	for _, s := range c.Segments {
		if s.Site > 0 {
			s.Site = uint32(a.sites[s.Site-1]) + 1
		}
		a.segments = append(a.segments, p.addSegment(s))
	}
	for _, comm := range c.Communicators {
		a.communicators = append(a.communicators, p.addCommunicator(comm))
	}
	// everything that can fail comes before the pool's columns grow
	threads, err := a.threads()
	if err != nil {
		return nil, err
	}
	a.addRows(threads)
	return a.processes(threads), nil
}

// An adoption maps the numbers of one trace to those of the pool.
type adoption struct {
	pool *pool
	from *trace.Content

	sites, segments, communicators []int32
	signatures                     []*adopted
	sequences                      []int64 // code of each sequence + 1, 0: not pooled yet
	roots                          map[int]*root
	order                          []int // roots in order of first sight
}

// adopted is a signature taken apart.
type adopted struct {
	template  int32
	own       int32
	slots     []trace.Value
	constants []*trace.Value
}

// A root is a rule that threads have as their root.
type root struct {
	local  localGrammar
	shape  int32
	counts map[int32]uint64
	rows   []int // threads of the input
}

func (a *adoption) signature(terminal int32) *adopted {
	if s := a.signatures[terminal]; s != nil {
		return s
	}
	s := a.from.Signatures[terminal]
	s = withSegments(mapSites(s, func(site uint32) uint32 { return uint32(a.sites[site-1]) + 1 }), a.segments)
	t, slots, constants := templateOf(s, a.pool.functions[s.Function])
	made := &adopted{template: a.pool.addTemplate(t), own: s.OwnRank, slots: slots, constants: constants}
	a.signatures[terminal] = made
	return made
}

// threads finds the shape of every thread.
func (a *adoption) threads() ([]thread, error) {
	c := a.from
	threads := make([]thread, len(c.Threads))
	for i := range c.Threads {
		t := &c.Threads[i]
		r := a.roots[t.Root]
		if r == nil {
			r = &root{local: localize(c.Grammar, t.Root)}
			templates := make([]int32, len(r.local.terminals))
			for k, terminal := range r.local.terminals {
				s := a.signature(terminal)
				templates[k] = s.template
				if err := a.check(s, t); err != nil {
					return nil, fmt.Errorf("rank %d: %w", t.Rank, err)
				}
			}
			r.shape = a.pool.shapeOf(&r.local, templates)
			a.roots[t.Root] = r
			a.order = append(a.order, t.Root)
		}
		r.rows = append(r.rows, i)
		threads[i] = thread{
			number: t.Thread, shape: r.shape, calls: t.Calls,
			firstTick: t.FirstTick, gaps: t.Gaps, durations: t.Durations,
			endTick: t.EndTick, insideTicks: t.InsideTicks, timing: t.Timing, joined: t.SignaturesJoined,
			aggregates: localAggregates(t.Aggregates, r.local.terminals),
		}
	}
	for _, number := range a.order {
		r := a.roots[number]
		last := &c.Threads[r.rows[len(r.rows)-1]] // the one with the greatest place of those that share the root
		for _, terminal := range r.local.terminals {
			if err := a.check(a.signatures[terminal], last); err != nil {
				return nil, fmt.Errorf("rank %d: %w", last.Rank, err)
			}
		}
	}
	return threads, nil
}

// check tells whether all columns of a signature have a value for a thread.
func (a *adoption) check(s *adopted, t *trace.Thread) error {
	if s.own < -1 {
		if _, err := a.element(trace.Value{Form: trace.Column, Int: -2 - int64(s.own)}, t.Place); err != nil {
			return err
		}
	}
	for _, v := range s.slots {
		if _, err := a.element(v, t.Place); err != nil {
			return err
		}
	}
	for _, v := range s.constants {
		if v != nil {
			if _, err := a.element(*v, t.Place); err != nil {
				return err
			}
		}
	}
	return nil
}

// element is the code that a slot of a shard has for the thread at a place.
func (a *adoption) element(v trace.Value, place int) (int64, error) {
	column := func(k int64) (int64, error) {
		if k < 0 || k >= int64(len(a.from.Columns)) || place >= len(a.from.Columns[k]) {
			return 0, fmt.Errorf("column %d has no element %d", k, place)
		}
		return a.from.Columns[k][place], nil
	}
	switch v.Form {
	case trace.Int:
		return numberCode(v.Int), nil
	case trace.Name:
		return nameCode(a.pool.addName(v.Text)), nil
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
	return 0, fmt.Errorf("an elastic value is none that shards have")
}

// addRows appends a row for every thread to the columns of its shape.
func (a *adoption) addRows(threads []thread) {
	a.sequences = make([]int64, len(a.from.Sequences))
	for _, number := range a.order {
		r := a.roots[number]
		s := &a.pool.shapes[r.shape]
		for i, row := range r.rows {
			threads[row].row = s.rows + i
		}
		s.rows += len(r.rows)
		for k, terminal := range r.local.terminals {
			a.addSignatureRows(s.columns[s.first[k]:], r, terminal)
		}
		column := s.exponents
		for _, body := range r.local.rules {
			for _, symbol := range body {
				s.columns[column].pushAll(int64(symbol.Count), len(r.rows))
				column++
			}
		}
	}
}

// addSignatureRows fills the columns of one signature.
func (a *adoption) addSignatureRows(columns []column, r *root, terminal int32) {
	s := a.signatures[terminal]
	push := func(k int, v trace.Value) {
		if v.Form == trace.Int || v.Form == trace.Name {
			code, _ := a.element(v, 0)
			columns[k].pushAll(code, len(r.rows))
			return
		}
		for _, row := range r.rows {
			code, _ := a.element(v, a.from.Threads[row].Place) // checked
			columns[k].push(code)
		}
	}
	if s.own >= -1 {
		push(0, trace.Value{Form: trace.Int, Int: int64(s.own)})
	} else {
		push(0, trace.Value{Form: trace.Column, Int: -2 - int64(s.own)})
	}
	k := 1
	for _, v := range s.slots {
		push(k, v)
		k++
	}
	t := &a.pool.templates[s.template]
	for i, number := range t.streams {
		if s.constants[i] != nil {
			push(k, *s.constants[i])
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

// noStream is the code of a stream that a thread lacks.
const noStream = -1

// pushStream appends what the threads have in one stream.
func (a *adoption) pushStream(c *column, r *root, terminal, number int32, fold bool) {
	if r.counts == nil {
		r.counts = map[int32]uint64{}
		for _, o := range a.from.Grammar.Counts(a.from.Threads[r.rows[0]].Root) {
			r.counts[o.Terminal] = o.Count
		}
	}
	for _, row := range r.rows {
		code := int64(noStream)
		if ref, ok := a.from.Threads[row].Stream(terminal, number); ok {
			values := a.from.Sequences[ref.Sequence]
			if fold && uint64(len(values)) == r.counts[terminal] && isConstant(values) {
				code = numberCode(values[0])
			} else {
				code = a.sequence(ref.Sequence)
			}
		}
		c.push(code)
	}
}

func isConstant(values []int64) bool {
	if len(values) == 0 || !codeFits(values[0]) {
		return false
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return false
		}
	}
	return true
}

// sequence is the code of a sequence of the input.
func (a *adoption) sequence(i int32) int64 {
	if a.sequences[i] == 0 {
		a.sequences[i] = nameCode(a.pool.addSequence(a.from.Sequences[i])) + 1
	}
	return a.sequences[i] - 1
}

func (a *adoption) processes(threads []thread) []*process {
	processes := make([]*process, len(a.from.Ranks))
	shared := map[*uint32][]uint32{} // equal lists are one in what a reader gives
	at := 0
	for i, r := range a.from.Ranks {
		if len(r.CommunicatorsOwn) > 0 {
			own, known := shared[&r.CommunicatorsOwn[0]]
			if !known || len(own) != len(r.CommunicatorsOwn) {
				own = make([]uint32, len(r.CommunicatorsOwn))
				for k, id := range r.CommunicatorsOwn {
					own[k] = uint32(a.communicators[id])
				}
				shared[&r.CommunicatorsOwn[0]] = own
			}
			r.CommunicatorsOwn = own
		}
		processes[i] = &process{rank: r}
		first := at
		for at < len(threads) && a.from.Threads[at].Rank == r.Rank {
			at++
		}
		processes[i].threads = threads[first:at:at]
	}
	return processes
}
