package program

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of the program view.
type Options struct {
	// Peer returns a word for a peer that has the same relative location on every rank ("north"),
	// "" for none; the function may be nil. It is called for each thread (an index into Threads)
	// with a parameter of kind rank of a call.
	Peer func(thread int, terminal int32, parameter int, output bool) string
	// IsDirection reports whether Peer uses a word for a direction in the topology. Lacks reports
	// whether a rank of MPI_COMM_WORLD has no neighbor in that direction. Both are nil without a
	// topology.
	IsDirection func(word string) bool
	Lacks       func(rank int, direction string) bool
	// MaxLines is the maximum number of lines of the text; 0: as many as fit into memory.
	MaxLines int
	// MaxSteps limits the work, and with it the memory; 0: no limit. A step takes 10 to 100 ns. The
	// same trace always takes the same number of steps.
	MaxSteps int
	// Exact adds to each parameter its value in every call of every rank, and keeps all lines and
	// trip counts.
	Exact bool
	// Coordinates are the ranks' coordinates in a topology; arguments may be functions of them.
	Coordinates []Coordinate
}

// A class is the threads with one root: they make the same calls, except for values that differ by
// rank.
type class struct {
	root    int
	threads []int // indices into Threads
	items   []*item
	lines   int // of the items
}

// Analyze returns the program of a trace. It reads grammar and signatures, not single calls.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Exact: o.Exact, Threads: []Thread{}, Parts: []Part{}, Notes: []string{}}
	if !t.Meta().Final {
		f.Notes = append(f.Notes, "The trace is not a final merge: peers are written as the ranks had them.")
	}
	roles, err := timeline.Roles(ctx, t)
	if err != nil {
		return f, err
	}
	var numbers []int
	byNumber := map[int][]int{}
	var all []int
	for i, thread := range t.Threads().All() {
		if byNumber[roles[i]] == nil {
			numbers = append(numbers, roles[i])
		}
		byNumber[roles[i]] = append(byNumber[roles[i]], i)
		f.Calls += thread.Calls
		all = append(all, thread.Rank)
	}
	f.Ranks = ranksText(all)
	slices.Sort(numbers)
	s := newSearch(ctx)
	if o.MaxSteps > 0 {
		s.limit = o.MaxSteps
	}
	w := &writer{search: s, found: &f, trace: t, options: o, signatures: t.Signatures(), columns: t.Columns(), lines: maxLines}
	if o.MaxLines > 0 {
		w.lines = o.MaxLines
	}
	limit := w.lines
	b := newBuilder(s, t.Grammar(), w.kind)
	if o.Exact {
		w.lines, b.room = math.MaxInt/2, math.MaxInt/2
	}
	classes := map[int][]class{}
	for _, number := range numbers {
		one := w.thread(b, byNumber[number])
		one.Thread = number
		f.Threads = append(f.Threads, one)
		classes[number] = w.classes
	}
	written := map[int]bool{}
	// a part's body may refer to further parts
	for len(b.parts) > len(written) && w.lines > 0 && b.err == nil {
		var rules []int
		for rule := range b.parts {
			if !written[rule] {
				rules = append(rules, rule)
			}
		}
		slices.Sort(rules)
		for _, rule := range rules {
			if w.lines <= 0 || b.err != nil {
				break
			}
			written[rule] = true
			for _, number := range numbers {
				if threads := b.threadsOf(rule, classes[number]); len(threads) > 0 {
					w.classes = []class{{root: rule, threads: threads}}
					body := w.nodes(b.nodesOf(b.body(rule).items, 0), []int{0})
					f.Parts = append(f.Parts, Part{rule, number, w.ranks([]int{0}), body})
				}
			}
		}
	}
	if b.err != nil {
		return f, b.err
	}
	f.Notes = append(f.Notes, b.notes()...)
	if w.cut || len(b.parts) > len(written) {
		f.MaxLines = limit
		f.Notes = append(f.Notes, fmt.Sprintf("The program is longer than the first %d lines, which are given (cairn program gives up to %d).", limit, maxLines))
	}
	slices.SortFunc(f.Parts, func(a, b Part) int { return cmp.Or(cmp.Compare(a.Part, b.Part), cmp.Compare(a.Thread, b.Thread)) })
	if !o.Exact {
		return f, nil
	}
	f.Streams, err = w.lookUp(ctx, roles)
	return f, err
}

// thread returns the program of some threads.
func (w *writer) thread(b *builder, threads []int) Thread {
	at, rankOf := map[int]int{}, w.trace.Threads().Ranks().Lookup()
	rootOf := w.trace.Threads().Roots().Lookup()
	w.classes = nil
	var ranks []int
	for _, i := range threads {
		root := int(rootOf(i))
		k, known := at[root]
		if !known {
			k = len(w.classes)
			at[root] = k
			w.classes = append(w.classes, class{root: root})
		}
		w.classes[k].threads = append(w.classes[k].threads, i)
		ranks = append(ranks, int(rankOf(i)))
	}
	// the program of most ranks first, then by lines: the additional nodes of others are merged
	// into it
	for k := range w.classes {
		w.classes[k].items = b.program(w.classes[k].root)
		w.classes[k].lines = newLevel(w.classes[k].items).size
	}
	slices.SortStableFunc(w.classes, func(a, b class) int {
		return cmp.Or(cmp.Compare(len(b.threads), len(a.threads)), cmp.Compare(b.lines, a.lines))
	})
	var program []*node
	everybody := make([]int, len(w.classes))
	for k, c := range w.classes {
		everybody[k] = k
		nodes := b.nodesOf(c.items, k)
		if k == 0 {
			program = nodes
		} else {
			program = b.over(program, nodes)
		}
	}
	one := Thread{Ranks: ranksText(ranks), Sequences: len(w.classes), Body: w.nodes(program, everybody)}
	one.Programs = w.programs(program)
	return one
}

// kind identifies a call's function and call site.
func (w *writer) kind(terminal int32) uint64 {
	s := &w.signatures[terminal]
	return uint64(s.Function)<<32 | uint64(s.Site)
}

// nodes writes what some classes do, as far as there is room for it.
func (w *writer) nodes(list []*node, around []int) []Node {
	nodes := make([]Node, 0, min(len(list), max(0, w.lines)+1))
	for i, n := range list {
		if w.lines <= 0 || !w.search.step(1) {
			w.cut = true
			return append(nodes, Node{Omitted: len(list) - i})
		}
		w.lines--
		one := Node{Omitted: n.omitted}
		w.cut = w.cut || n.omitted > 0
		if !slices.Equal(n.classes, around) {
			one.Ranks = w.ranks(n.classes)
		}
		once := len(n.trips) == 1 && len(n.trips[0].trips) == 1 && n.trips[0].trips[0] == 1
		if !once || len(n.body) > 0 {
			one.Trips = w.allTrips(n)
		}
		switch {
		case n.omitted > 0:
		case n.part >= 0:
			one.Part = n.part
		case len(n.calls) > 0:
			at := w.callAt(n)
			one.Function, one.CallSite = at.Function, at.CallSite
			one.Parameters = w.parameters(n)
		default:
			one.Body = w.nodes(n.body, n.classes)
		}
		nodes = append(nodes, one)
	}
	return nodes
}

// callAt returns the function and the call site of a call.
func (w *writer) callAt(n *node) CallAt {
	s, at := &w.signatures[n.calls[0].cycle[0]], CallAt{Function: "?"}
	if f := w.trace.Function(s.Function); f != nil {
		at.Function = f.Name
	}
	if sites := w.trace.Sites(); s.Site > 0 && int(s.Site) <= len(sites) {
		at.CallSite = callsite.Name(&sites[s.Site-1])
	}
	return at
}

// maxListed is the maximum number of listed numbers of a cycle.
const maxListed = 64

// allTrips returns the trip counts of a node: one function of the rank if there is one, else each
// with its ranks.
func (w *writer) allTrips(n *node) []Trips {
	if of := w.tripsByRank(n); of != nil {
		return []Trips{*of}
	}
	list := make([]Trips, len(n.trips))
	for i, t := range n.trips {
		list[i] = w.trips(t, n, len(n.trips) > 1)
	}
	return list
}

// tripsByRank returns trip counts that are a function of the rank; nil: they are not, or there are
// only a few.
func (w *writer) tripsByRank(n *node) *Trips {
	if len(n.trips) < minEvidence {
		return nil
	}
	var samples []sample
	var by []caller
	for _, t := range n.trips {
		if len(t.trips) > 1 {
			return nil
		}
		for _, c := range t.classes {
			for _, thread := range w.classes[c].threads {
				rank := w.rank(thread)
				samples = append(samples, sample{rank, rank, int64(t.trips[0])})
				by = append(by, caller{rank, w.trace.Meta().WorldSize, true})
			}
		}
	}
	groups := functionsOf(samples, by, w.trace.Meta().WorldSize, w.options.Coordinates)
	if len(groups) != 1 || groups[0].function == nil {
		return nil
	}
	f := *groups[0].function
	f.Numbering = w.numbering(&f, samples, by)
	return &Trips{Text: f.String() + " times", Count: &Term{Function: &f}}
}

func (w *writer) trips(t tripsOf, n *node, several bool) Trips {
	one := Trips{Cycle: t.trips}
	one.Text, one.Summary = tripsText(t.trips)
	if len(one.Cycle) > maxListed && !w.options.Exact {
		one.Omitted = len(one.Cycle) - maxListed
		one.Cycle = one.Cycle[:maxListed]
	}
	if several && !slices.Equal(t.classes, n.classes) {
		one.Ranks = w.ranks(t.classes)
	}
	return one
}

// ranks returns the ranks of the threads of some classes.
func (w *writer) ranks(classes []int) string {
	var list []int
	for _, k := range classes {
		for _, i := range w.classes[k].threads {
			list = append(list, w.rank(i))
		}
	}
	text := ranksText(list)
	w.lines -= len(text) / longLine
	return text
}

// longLine is the number of bytes of a list of ranks that counts as a line.
const longLine = 1024

// ranksText formats ranks like ScalaTrace's rank lists: "0-62 step 2, 63".
func ranksText(ranks []int) string {
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	return listText(trace.NewRankList(ranks))
}
