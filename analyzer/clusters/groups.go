package clusters

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// Thresholds for distinguishing times, as shares of the mean.
const (
	leastSpread  = 0.1  // minimum spread of a cluster that is divided
	outlierFar   = 0.25 // minimum distance of an outlier from the lead …
	outlierScale = 6    // … and relative to the usual distance in the group
	maxOutliers  = 16
)

func group(ranks []int) Group {
	lead := ranks[0]
	sorted := slices.Sorted(slices.Values(ranks))
	return Group{Lead: lead, Ranks: trace.NewRankList(sorted).String(), Size: len(ranks)}
}

// byPeers divides the ranks of a cluster by their peers. Each group has leads for ranks with
// similar computation.
func (f *Findings) byPeers(ranks []int, at map[int]point, computation map[int]float64, o Options) (list []Group, leads []int) {
	points := make(map[int]point, len(ranks))
	for _, rank := range ranks {
		if p, talks := at[rank]; talks {
			points[rank] = p
		} else {
			points[rank] = point{0, 0}
		}
	}
	list = []Group{}
	tolerance := computationTolerance * longest(computation)
	if f.leads == nil {
		f.leads = map[int]int{}
	}
	for i, members := range divide(points, o.K, o.Method) {
		g := group(members)
		for _, same := range alike(members, computation, tolerance) {
			leads = append(leads, same[0])
			for _, rank := range same {
				f.leads[rank] = same[0]
			}
		}
		if i > 0 {
			p, first := points[members[0]], points[list[0].Lead]
			g.Distinction = fmt.Sprintf("destinations %+.3g of the world away on average, not %+.3g; sources %+.3g, not %+.3g", p[0], first[0], p[1], first[1])
		}
		list = append(list, g)
	}
	return list, leads
}

// byTiming divides ranks by how they spent their time, and returns those that differ from their
// group.
func byTiming(ranks []int, times map[int]spent, k int, how Method) ([]Group, []Outlier) {
	list, outliers := []Group{}, []Outlier{}
	points := spentTimes(times, ranks)
	if len(points) == 0 {
		return list, outliers
	}
	if k == 0 && spread(points) < leastSpread {
		k = 1
	}
	for i, members := range divide(points, k, how) {
		g := group(members)
		s := times[g.Lead]
		g.Computation, g.MPI, g.Waiting = &s.computation, &s.mpi, &s.waiting
		if s.sums {
			g.Waiting = nil
		}
		if i > 0 {
			g.Distinction = differs(s, times[list[0].Lead])
			if len(members) == 1 && len(ranks) > 3 {
				outliers = append(outliers, Outlier{g.Lead, list[0].Lead, outlierText(g.Lead, list[0].Lead, g.Distinction)})
			}
		}
		list = append(list, g)
		outliers = append(outliers, far(members, points, times)...)
	}
	slices.SortFunc(outliers, func(a, b Outlier) int { return a.Rank - b.Rank })
	return list, outliers[:min(len(outliers), maxOutliers)]
}

// spread returns the largest range of the coordinates.
func spread(points map[int]point) float64 {
	var least, most point
	for _, p := range points {
		if least == nil {
			least, most = slices.Clone(p), slices.Clone(p)
		}
		for i, x := range p {
			least[i], most[i] = min(least[i], x), max(most[i], x)
		}
	}
	widest := 0.0
	for i := range least {
		widest = max(widest, most[i]-least[i])
	}
	return widest
}

// far returns the members of a group that are much farther from its lead than most.
func far(members []int, points map[int]point, times map[int]spent) []Outlier {
	if len(members) < 4 {
		return nil
	}
	distances := make([]float64, len(members))
	for i, rank := range members {
		distances[i] = distance(points[rank], points[members[0]])
	}
	limit := max(outlierFar, outlierScale*middle(distances))
	var list []Outlier
	for i, rank := range members {
		if distances[i] > limit {
			list = append(list, Outlier{rank, members[0], outlierText(rank, members[0], differs(times[rank], times[members[0]]))})
		}
	}
	return list
}

func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func outlierText(rank, lead int, how string) string {
	return fmt.Sprintf("Rank %d %s than rank %d, which represents its group.", rank, how, lead)
}

// differs describes what differs between two ranks' times by a fifth or more, largest first.
func differs(a, b spent) string {
	type part struct {
		name string
		a, b float64
	}
	parts := []part{{"computes", a.computation, b.computation}, {"waits", a.waiting, b.waiting}, {"spends in MPI", a.mpi - a.waiting, b.mpi - b.waiting}}
	slices.SortStableFunc(parts, func(x, y part) int {
		switch dx, dy := math.Abs(x.a-x.b), math.Abs(y.a-y.b); {
		case dx > dy:
			return -1
		case dx < dy:
			return 1
		}
		return 0
	})
	var words []string
	for i, p := range parts {
		if i > 0 && math.Abs(p.a-p.b) < 0.2*math.Abs(parts[0].a-parts[0].b) {
			break
		}
		how := "longer"
		if p.a < p.b {
			how = "shorter"
		}
		words = append(words, fmt.Sprintf("%s %s %s", p.name, wording.Duration(math.Abs(p.a-p.b)), how))
	}
	return strings.Join(words, " and ")
}
