package clusters

import (
	"math"
	"slices"
)

// A point is a rank's place among those that it is compared with.
type point []float64

func distance(a, b point) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum)
}

// Method is how points are grouped.
type Method string

// Methods, both of Chameleon (§III, Algorithm 2).
const (
	// Medoids: every group has a member from which the others of the group are least far in all.
	Medoids Method = "medoids"
	// Farthest: the leads are points as far from each other as can be, the others go to the nearest.
	Farthest Method = "farthest"
)

const (
	// maxGroups bounds k where it is chosen.
	maxGroups = 9
	// strong is the silhouette from which on a structure is a strong one (Kaufman and Rousseeuw, "Finding groups in
	// data", 1990, table 4). Points at chance, or evenly on a line, stay below.
	strong = 0.71
	// sample is how many different points medoids are searched among, the rest being given to the nearest: CLARA
	// (Kaufman and Rousseeuw, chapter 3).
	sample = 256
)

// A weighted point stands for all ranks that are there.
type weighted struct {
	point
	members []int
	weight  float64
}

// divide puts points into k groups, or with k = 0 into the fewest that make a strong structure, one if none does, and
// into more only where that halves what the silhouette lacks to 1. It gives the groups, each with its lead first and the
// others in order; groups largest first.
func divide(points map[int]point, k int, how Method) [][]int {
	all := distinct(points)
	some := all
	if len(some) > sample {
		some = make([]weighted, sample)
		for i := range some {
			some[i] = all[i*len(all)/sample]
		}
	}
	m := newMatrix(some)
	leads := []int{m.center()}
	if k > 1 {
		leads = m.leads(min(k, len(some)), how)
	}
	rest := 2 * (1 - strong)
	for n := 2; k == 0 && n <= min(maxGroups, len(some)); n++ {
		found := m.leads(n, how)
		if r := 1 - m.silhouette(found); r <= rest/2 {
			leads, rest = found, r
		}
	}
	groups := make([][]int, len(leads))
	for i, lead := range leads {
		groups[i] = append(groups[i], some[lead].members[0])
	}
	for _, p := range all {
		nearest := 0
		for i, lead := range leads {
			if distance(p.point, some[lead].point) < distance(p.point, some[leads[nearest]].point) {
				nearest = i
			}
		}
		for _, rank := range p.members {
			if rank != groups[nearest][0] {
				groups[nearest] = append(groups[nearest], rank)
			}
		}
	}
	for _, g := range groups {
		slices.Sort(g[1:])
	}
	slices.SortStableFunc(groups, func(a, b []int) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return a[0] - b[0]
	})
	return groups
}

// distinct puts ranks at one place together, in order of ranks.
func distinct(points map[int]point) []weighted {
	ranks := make([]int, 0, len(points))
	for rank := range points {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	at := map[string]int{}
	var all []weighted
	var key []byte
	for _, rank := range ranks {
		key = key[:0]
		for _, x := range points[rank] {
			bits := math.Float64bits(x)
			for shift := 0; shift < 64; shift += 8 {
				key = append(key, byte(bits>>shift))
			}
		}
		i, known := at[string(key)]
		if !known {
			i = len(all)
			at[string(key)] = i
			all = append(all, weighted{point: points[rank]})
		}
		all[i].members = append(all[i].members, rank)
		all[i].weight++
	}
	return all
}

// A matrix holds the distances of points.
type matrix struct {
	points []weighted
	of     []float64
}

func newMatrix(points []weighted) *matrix {
	n := len(points)
	m := &matrix{points, make([]float64, n*n)}
	for i := range n {
		for j := range i {
			d := distance(points[i].point, points[j].point)
			m.of[i*n+j], m.of[j*n+i] = d, d
		}
	}
	return m
}

func (m *matrix) between(i, j int) float64 { return m.of[i*len(m.points)+j] }

// center is the point from which all are least far.
func (m *matrix) center() int {
	all := make([]int, len(m.points))
	for i := range all {
		all[i] = i
	}
	return m.medoid(all)
}

// medoid is the point of a group from which the others are least far in all.
func (m *matrix) medoid(group []int) int {
	best, least := 0, math.Inf(1)
	for _, i := range group {
		sum := 0.0
		for _, j := range group {
			sum += m.points[j].weight * m.between(i, j)
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return best
}

// leads are k points: as far apart as can be and, for Medoids, then moved to the middle of those around them.
func (m *matrix) leads(k int, how Method) []int {
	leads := []int{m.center()}
	nearest := make([]float64, len(m.points))
	for i := range nearest {
		nearest[i] = m.between(i, leads[0])
	}
	for len(leads) < k {
		farthest := 0
		for i, d := range nearest {
			if d > nearest[farthest] {
				farthest = i
			}
		}
		leads = append(leads, farthest)
		for i := range nearest {
			nearest[i] = min(nearest[i], m.between(i, farthest))
		}
	}
	const rounds = 20
	for range rounds {
		if how == Farthest {
			break
		}
		moved := false
		for i, group := range m.groups(leads) {
			if center := m.medoid(group); len(group) > 0 && center != leads[i] {
				leads[i], moved = center, true
			}
		}
		if !moved {
			break
		}
	}
	return leads
}

// groups gives every point to the nearest lead.
func (m *matrix) groups(leads []int) [][]int {
	groups := make([][]int, len(leads))
	for i := range m.points {
		nearest := 0
		for k, lead := range leads {
			if m.between(i, lead) < m.between(i, leads[nearest]) {
				nearest = k
			}
		}
		groups[nearest] = append(groups[nearest], i)
	}
	return groups
}

// silhouette is the mean over all ranks of (b − a) / max(a, b): a is how far a rank is from the others of its group on
// average, b from those of the nearest other group. A rank alone in its group counts 0.
func (m *matrix) silhouette(leads []int) float64 {
	groups := m.groups(leads)
	weights := make([]float64, len(groups))
	total := 0.0
	for g, group := range groups {
		for _, i := range group {
			weights[g] += m.points[i].weight
		}
		total += weights[g]
	}
	sum := 0.0
	for g, group := range groups {
		if weights[g] <= 1 {
			continue
		}
		for _, i := range group {
			a, b := 0.0, math.Inf(1)
			for h, other := range groups {
				far := 0.0
				for _, j := range other {
					far += m.points[j].weight * m.between(i, j)
				}
				if h == g {
					a = far / (weights[g] - 1)
				} else if weights[h] > 0 {
					b = min(b, far/weights[h])
				}
			}
			if most := max(a, b); most > 0 && !math.IsInf(b, 1) {
				sum += m.points[i].weight * (b - a) / most
			}
		}
	}
	return sum / total
}
