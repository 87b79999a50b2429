package clusters

import (
	"context"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/topology"
	"github.com/cairn-mpi/cairn/trace"
)

// Options of the analysis.
type Options struct {
	Topology topology.Options
}

// behaviour is what a rank does, by the three degrees of likeness.
type behaviour struct {
	path, sequence, signature hash
	calls                     uint64
	root                      []int // of each thread
}

// Analyze groups the ranks of a trace.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Clusters: []Cluster{}, Notes: []string{}}
	if !t.Meta().Final {
		f.Notes = append(f.Notes, "The trace is not a final merge: peers are absolute, so ranks that differ only in their place count as variants.")
	}
	shape, err := topology.Analyze(ctx, t, o.Topology)
	if err != nil {
		return f, err
	}
	f.Topology = &shape
	f.Notes = append(f.Notes, shape.Notes...)
	signatures, grammar := t.Signatures(), t.Grammar()
	site := func(terminal int32) uint64 {
		s := &signatures[terminal]
		return uint64(s.Function)<<32 | uint64(s.Site)
	}
	bySite := hashes(grammar, site)
	byTerminal := hashes(grammar, func(terminal int32) uint64 { return uint64(terminal) })
	paths := pathFinder{grammar: grammar, site: site, seen: make([]int, len(grammar.Rules)), of: map[int][]uint64{}}

	byRank := map[int]*behaviour{}
	for _, thread := range t.Threads() {
		b := byRank[thread.Rank]
		if b == nil {
			b = &behaviour{path: empty, sequence: empty, signature: empty}
			byRank[thread.Rank] = b
		}
		b.calls += thread.Calls
		b.root = append(b.root, thread.Root)
		for _, call := range paths.path(thread.Root) {
			b.path = b.path.then(one(call))
		}
		// threads follow each other, told apart by a symbol that no call has
		b.path = b.path.then(one(1 << 60))
		b.sequence = b.sequence.then(bySite[thread.Root]).then(one(1 << 60))
		b.signature = b.signature.then(byTerminal[thread.Root]).then(one(1 << 60))
	}
	groups := map[hash][]int{}
	sequences, signaturesSeen := map[hash]bool{}, map[hash]bool{}
	for _, r := range t.Ranks() {
		if b := byRank[r.Rank]; b != nil {
			groups[b.path] = append(groups[b.path], r.Rank)
			sequences[b.sequence] = true
			signaturesSeen[b.signature] = true
		}
	}
	f.Sequences, f.Behaviours = len(sequences), len(signaturesSeen)
	order := make([][]int, 0, len(groups))
	for _, ranks := range groups {
		order = append(order, ranks)
	}
	sortGroups(order)
	w := words{trace: t, paths: &paths}
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
