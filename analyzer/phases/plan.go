package phases

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A section is a loop of the program, the same on all ranks that have it.
type section struct {
	classes bits
	trips   uint64         // trip count of the loop that was found first
	votes   map[int]uint64 // number of threads for which a class is a possible anchor
	order   map[int]int
	anchor  int // class; −1: none
}

// A Plan assigns the calls of each location to phases.
type Plan struct {
	trace      timeline.Trace
	locations  []timeline.Location
	numbers    map[class]int
	classes    []class
	sections   []*section
	byRoot     map[int][]*loop
	start, end int64 // bounds of the run
	trackers   []*Tracker
	program    *activity.Program
}

// NewPlan finds the loops in the grammar. clocks may be nil.
func NewPlan(t timeline.Trace, clocks *timeline.Clocks) (*Plan, error) {
	p := &Plan{trace: t, locations: timeline.Locations(t), numbers: map[class]int{}, byRoot: map[int][]*loop{}, start: math.MaxInt64, end: math.MinInt64}
	p.trackers = make([]*Tracker, len(p.locations))
	var err error
	if p.program, err = activity.NewProgram(t); err != nil {
		return nil, err
	}
	f := &finder{grammar: t.Grammar(), class: make([]int, len(t.Signatures()))}
	if f.lengths, err = f.grammar.Lengths(); err != nil {
		return nil, err
	}
	f.sets = make([]bits, len(f.grammar.Rules))
	for i := range t.Signatures() {
		s := &t.Signatures()[i]
		c := class{s.Function, s.Site}
		n, known := p.numbers[c]
		if !known {
			n = len(p.classes)
			p.numbers[c], p.classes = n, append(p.classes, c)
		}
		f.class[i] = n
	}
	f.classes = len(p.classes)
	for i, thread := range t.Threads().All() {
		l := p.locations[i]
		if l.Main != i || thread.Calls == 0 {
			continue
		}
		begin, end := t.Span(i)
		p.start, p.end = min(p.start, clocks.Time(l.Row, begin)), max(p.end, clocks.Time(l.Row, end))
		loops, known := p.byRoot[thread.Root]
		if !known {
			loops = f.loops(thread.Root)
			p.byRoot[thread.Root] = loops
			p.align(loops)
		}
		for _, l := range loops {
			for _, c := range l.anchors() {
				l.phase.votes[c]++
			}
		}
	}
	p.start = min(p.start, p.end)
	for _, s := range p.sections {
		s.anchor = p.elect(s, maps.Keys(s.votes))
	}
	for _, loops := range p.byRoot {
		for _, l := range loops {
			// a rank that never calls the anchor (one at the edge of a grid) has its own
			if l.anchor = l.phase.anchor; l.anchor >= 0 && l.body[l.anchor] == 0 {
				l.anchor = p.elect(l.phase, slices.Values(l.anchors()))
			}
		}
	}
	return p, nil
}

func sortLoops(list []*loop) {
	slices.SortFunc(list, func(a, b *loop) int { return cmp.Compare(a.from, b.from) })
}

// align assigns each loop of a root to a phase, keeping their order.
func (p *Plan) align(loops []*loop) {
	at := 0
	for _, l := range loops {
		found := -1
		for i := at; i < len(p.sections); i++ {
			if p.sections[i].matches(l) {
				found = i
				break
			}
		}
		if found < 0 {
			found = at
			p.sections = slices.Insert(p.sections, at, &section{classes: append(bits(nil), l.classes...), trips: l.trips, votes: map[int]uint64{}, order: map[int]int{}})
		}
		s := p.sections[found]
		s.classes.add(l.classes)
		for c, i := range l.order {
			s.order[c] = max(s.order[c], i)
		}
		l.phase, at = s, found+1
	}
}

// matches reports whether l is this loop on another rank: the call sites agree, or at least half of
// the smaller set does and the trip counts agree up to peeled iterations. In a grid, ranks at
// opposite edges have other neighbors, and other calls for them.
func (s *section) matches(l *loop) bool {
	both, either := common(s.classes, l.classes)
	fewer := min(s.classes.count(), l.classes.count())
	return float64(both) >= sameAcross*float64(either) ||
		both > 0 && float64(both) >= sameAcross*float64(fewer) && max(s.trips, l.trips)-min(s.trips, l.trips) <= peeled
}

// anchors returns the classes that occur once per iteration, or as rarely as any.
func (l *loop) anchors() []int {
	least, all := uint64(math.MaxUint64), uint64(0)
	for _, n := range l.body {
		least, all = min(least, n), all+n
	}
	iterations := least
	for _, n := range l.body {
		within := uint64(0)
		for _, o := range l.body {
			if o%n == 0 {
				within += o
			}
		}
		if n > iterations && float64(min(within, l.repeated)) >= inside*float64(all) && (n <= period*least || l.trips*least < fewTrips) {
			iterations = n
		}
	}
	var list []int
	for c, n := range l.body {
		if n == iterations {
			list = append(list, c)
		}
	}
	return list
}

// elect returns an anchor among candidates, −1 if there is none: most votes, then a collective
// rather than another call, then the last one of the body.
func (p *Plan) elect(s *section, candidates iter.Seq[int]) int {
	anchor := -1
	better := func(a, b int) bool {
		if s.votes[a] != s.votes[b] {
			return s.votes[a] > s.votes[b]
		}
		if x, y := p.collective(a), p.collective(b); x != y {
			return x
		}
		if s.order[a] != s.order[b] {
			return s.order[a] > s.order[b]
		}
		return a < b
	}
	for c := range candidates {
		if anchor < 0 || better(c, anchor) {
			anchor = c
		}
	}
	return anchor
}

func (p *Plan) collective(c int) bool {
	f := p.trace.Semantics(p.classes[c].function)
	return f != nil && f.Collective
}

// phases returns the number of phases: loops, and the parts before, between and after.
func (p *Plan) phases() int { return 2*len(p.sections) + 1 }

func (p *Plan) name(c class) string {
	if f := p.trace.Function(c.function); f != nil {
		return f.Name
	}
	return fmt.Sprintf("function %d", c.function)
}
