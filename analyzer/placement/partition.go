package placement

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/traffic"
)

// A graph has for each rank its edges to communication partners.
type graph [][]edge

type edge struct {
	to     int
	weight int64
}

// graphOf returns the graph with the bytes of an edge as its weight, ties resolved by messages.
// Without bytes, messages are the weight.
func graphOf(traffic []traffic.Pair, row map[int]int, order int) graph {
	bytes, messages := 0.0, 0.0
	for _, one := range traffic {
		bytes, messages = bytes+float64(one.Bytes), messages+float64(one.Messages)
	}
	// A byte weighs more than all messages, if that fits.
	const largest = 1 << 61 // of all weights together
	scale := math.Floor(max(1, min(messages+1, largest/(bytes+1))))
	message := min(1, scale/(messages+1))
	if bytes == 0 {
		message = 1
	}
	sums := make([]map[int]int64, order)
	add := func(a, b int, weight int64) {
		if sums[a] == nil {
			sums[a] = map[int]int64{}
		}
		sums[a][b] += weight
	}
	for _, one := range traffic {
		weight := int64(one.Bytes)*int64(scale) + int64(float64(one.Messages)*message)
		add(row[one.Source], row[one.Dest], weight)
		add(row[one.Dest], row[one.Source], weight)
	}
	g := make(graph, order)
	for a, sum := range sums {
		for b, weight := range sum {
			g[a] = append(g[a], edge{b, weight})
		}
		slices.SortFunc(g[a], func(x, y edge) int { return x.to - y.to })
	}
	return g
}

// size returns the number of edges, each counted from both sides.
func (g graph) size() int {
	n := 0
	for _, edges := range g {
		n += len(edges)
	}
	return n
}

// cut returns the weight of the edges between nodes.
func (g graph) cut(node []int) int64 {
	sum := int64(0)
	for rank, edges := range g {
		for _, e := range edges {
			if rank < e.to && node[rank] != node[e.to] {
				sum += e.weight
			}
		}
	}
	return sum
}

const (
	// maxRefined is the number of tilings that are improved: those with the smallest cuts.
	maxRefined = 3
	// Limits of edges visited by a search: minWork, a tenth of a second, plus workPerMessage for
	// each message of the run, which is a small part of the time for reading it; at most maxWork, a
	// few seconds.
	minWork        = 10_000_000
	workPerMessage = 10
	maxWork        = 300_000_000
	// perturbWork is the number of edge visits for perturbations after all candidates have been
	// improved: some hundred tries. maxPerturbed is the size (edges, each counted from both sides)
	// up to which graphs are perturbed.
	perturbWork  = 1_000_000
	maxPerturbed = 1000
)

// best returns a partition into nodes of the same sizes with a small cut, never larger than that of
// now. orders are sequences of the ranks that keep connected ones together; messages is the number
// of messages of the run.
func (g graph) best(now []int, nodes int, orders iter.Seq[[]int], messages uint64) []int {
	s := newSearch(g, now, nodes)
	s.limit = int(min(minWork+workPerMessage*messages, maxWork))
	best, least := slices.Clone(now), g.cut(now)
	try := func(at []int) {
		s.refine(at)
		if cut := g.cut(at); cut < least {
			best, least = slices.Clone(at), cut
		}
	}
	try(slices.Clone(now)) // first: of equal partitions, the one in which most ranks stay
	type candidate struct {
		at  []int
		cut int64
	}
	var tiled []candidate
	for order := range orders {
		at := s.fill(order)
		tiled = append(tiled, candidate{at, g.cut(at)})
		slices.SortStableFunc(tiled, func(a, b candidate) int { return cmp.Compare(a.cut, b.cut) })
		tiled = tiled[:min(len(tiled), maxRefined)]
	}
	for _, one := range tiled {
		if one.cut < least {
			best, least = slices.Clone(one.at), one.cut
		}
		try(one.at)
	}
	for _, divide := range []func() []int{s.bisect, s.grow} {
		if s.work < s.limit {
			try(divide())
		}
	}
	s.perturb(best, &least)
	return best
}
