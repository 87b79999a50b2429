package clusters

import (
	"context"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of the analysis.
type Options struct {
	Topology topology.Options
	// Clock aligns the nodes' clocks. Without it phases are not divided by timing, which takes a
	// pass over all calls.
	Clock *clock.Map
	// Phases are the run's, with the times of each rank in them, if another analysis has them; nil:
	// they are computed in that pass.
	Phases *phases.Plan
	// K is the number of groups that each cluster is divided into by peers and by timing; 0:
	// determined by the structure.
	K int
	// Method divides clusters; "" is Medoids.
	Method Method
	// Ignore names parameters that do not distinguish calls, such as "count" or "tag" (Chameleon's
	// filter).
	Ignore []string
	// Frames is the number of frames in which the call paths of equal calls may differ (ScalaTrace
	// II §3.3).
	Frames int
}

func (o Options) clocks() *timeline.Clocks {
	if o.Clock == nil {
		return nil
	}
	return o.Clock.Clocks
}

// behavior is what a rank does, at the three levels of similarity.
type behavior struct {
	path, sequence, signature hash
	calls                     uint64
	root                      []int // of each thread
}

// Analyze groups the ranks of a trace, and finds its topology and program.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	t, err := timeline.Restrict(ctx, t, o.clocks())
	if err != nil {
		return Findings{}, err
	}
	f, err := Groups(ctx, t, o)
	if err != nil {
		return f, err
	}
	shape, err := topology.Analyze(ctx, t, o.Topology)
	if err != nil {
		return f, err
	}
	f.Topology = &shape
	f.Notes = append(f.Notes, shape.Notes...)
	text, err := program.Analyze(ctx, t, program.Options{MaxLines: program.MaxShown})
	f.Program = &text
	if err != nil {
		return f, err
	}
	if err := f.DividePhases(ctx, t, o); err != nil {
		return f, err
	}
	orders := placement.Options{Shape: shape.Shape}
	if CanBeTimed(t) {
		orders.Clocks = o.clocks()
	}
	where, err := placement.Analyze(ctx, t, orders)
	f.Placement = &where
	return f, err
}

// Groups groups the ranks over the whole run. It reads no single calls.
func Groups(_ context.Context, t timeline.Trace, o Options) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Clusters: []Cluster{}, Leads: []int{}, Phases: []Phase{}, Notes: []string{}}
	if !t.Meta().Final {
		f.Notes = append(f.Notes, "The trace is not a final merge: peers are absolute, so ranks that differ only in their place count as variants.")
	}
	traffic, err := t.Matrix()
	if err != nil {
		return f, fmt.Errorf("communication matrix: %w", err)
	}
	talk, times, computation := peers(traffic, t.Meta().WorldSize), spans(t), Computation(t)
	like, grammar := newLikeness(t, o.Frames), t.Grammar()
	bySite := hashes(grammar, like.site)
	byTerminal := hashes(grammar, like.arguments(t, o.Ignore))
	paths := newPathFinder(grammar, like.site)

	byRank := map[int]*behavior{}
	for _, thread := range t.Threads().All() {
		b := byRank[thread.Rank]
		if b == nil {
			b = &behavior{path: empty, sequence: empty, signature: empty}
			byRank[thread.Rank] = b
		}
		b.calls += thread.Calls
		b.root = append(b.root, thread.Root)
		for _, call := range paths.path(thread.Root) {
			b.path = b.path.then(one(call))
		}
		// threads are concatenated, separated by a symbol that no call has
		b.path = b.path.then(one(1 << 60))
		b.sequence = b.sequence.then(bySite[thread.Root]).then(one(1 << 60))
		b.signature = b.signature.then(byTerminal[thread.Root]).then(one(1 << 60))
	}
	groups := map[hash][]int{}
	sequences, signaturesSeen := map[hash]bool{}, map[hash]bool{}
	for _, r := range t.Ranks().All() {
		if b := byRank[r.Rank]; b != nil {
			groups[b.path] = append(groups[b.path], r.Rank)
			sequences[b.sequence] = true
			signaturesSeen[b.signature] = true
		}
	}
	f.Sequences, f.Behaviors = len(sequences), len(signaturesSeen)
	order := make([][]int, 0, len(groups))
	for _, ranks := range groups {
		order = append(order, ranks)
	}
	sortGroups(order)
	w := words{trace: t, paths: paths}
	for i, ranks := range order {
		c := Cluster{Ranks: trace.NewRankList(ranks).String(), Size: len(ranks), Variants: []Variant{}}
		variants := split(ranks, func(rank int) hash { return byRank[rank].signature })
		for _, v := range variants {
			if len(c.Variants) < maxVariants {
				c.Variants = append(c.Variants, Variant{Lead: v[0], Ranks: trace.NewRankList(v).String(), Size: len(v)})
			}
		}
		c.VariantCount = len(variants)
		c.Lead = variants[0][0]
		lead := byRank[c.Lead]
		c.Calls = lead.calls
		calls := w.calls(lead.root)
		c.CallSites = len(calls)
		if i == 0 {
			c.Distinction = w.first(c, len(order), len(split(ranks, func(rank int) hash { return byRank[rank].sequence })))
			w.reference = calls
		} else {
			c.Distinction = w.difference(calls)
		}
		var leads []int
		c.Peers, leads = f.byPeers(ranks, talk, computation, o)
		c.Timing, c.Outliers = byTiming(ranks, times, o.K, o.Method)
		f.Leads = append(f.Leads, leads...)
		f.Clusters = append(f.Clusters, c)
	}
	return f, nil
}

// maxVariants bounds the list of variants of a cluster.
const maxVariants = 16

// split groups ranks by a key, largest group first.
func split(ranks []int, key func(int) hash) [][]int {
	groups := map[hash][]int{}
	for _, r := range ranks {
		groups[key(r)] = append(groups[key(r)], r)
	}
	list := make([][]int, 0, len(groups))
	for _, g := range groups {
		list = append(list, g)
	}
	sortGroups(list)
	return list
}

func sortGroups(groups [][]int) {
	sort.Slice(groups, func(i, j int) bool {
		return len(groups[i]) > len(groups[j]) || len(groups[i]) == len(groups[j]) && groups[i][0] < groups[j][0]
	})
}
