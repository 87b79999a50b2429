package clusters

import (
	"math"
	"slices"
)

// A point is the coordinates of a rank among those that it is compared with.
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
	// Medoids: the lead of a group is the member with the smallest total distance to the others.
	Medoids Method = "medoids"
	// Farthest: the leads are points as far from each other as possible; the others join the
	// nearest.
	Farthest Method = "farthest"
)

const (
	// maxGroups is the maximum k if it is not given.
	maxGroups = 9
	// strong is the silhouette from which on a structure is strong (Kaufman and Rousseeuw, "Finding
	// groups in data", 1990, table 4). Random points, and points evenly spaced on a line, are
	// below.
	strong = 0.71
	// sample is the number of different points among which medoids are searched for; the others
	// join the nearest one: CLARA (Kaufman and Rousseeuw, chapter 3).
	sample = 256
)

// A weighted point represents all ranks with its coordinates.
type weighted struct {
	point
	members []int
	weight  float64
}

// divide divides points into k groups. With k = 0 it uses the smallest k with a strong structure,
// or 1 if there is none, and a larger k only if that halves the silhouette's distance from 1. It
// returns the groups, largest first, each with its lead first and the others in order.
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

// distinct joins ranks with equal coordinates, in order of ranks.
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

// A matrix has the distances of points.
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

// center returns the point with the smallest total distance to all others.
func (m *matrix) center() int {
	all := make([]int, len(m.points))
	for i := range all {
		all[i] = i
	}
	return m.medoid(all)
}

// medoid returns the point of a group with the smallest total distance to its other points.
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

// leads returns k points that are as far apart as possible and, for Medoids, then moved to the
// middle of their groups.
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

// groups assigns every point to the nearest lead.
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

// silhouette returns the mean over all ranks of (b − a) / max(a, b): a is the mean distance of a
// rank to the others of its group, b that to those of the nearest other group. A rank alone in its
// group counts as 0.
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
