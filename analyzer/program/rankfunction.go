package program

import (
	"cmp"
	"slices"
)

// A sample is the number that a rank has for a parameter, with its rank in the communicator and in
// the world.
type sample struct {
	rank, world int
	number      int64
}

// minEvidence is the minimum number of ranks that a function must describe to be more than chance:
// two numbers are a function of anything.
const minEvidence = 3

// rankFunction returns a function of the rank that gives all samples: a constant, rank+1, (rank+1)
// mod 8, rank XOR 1, a neighbor in a grid. size is the number of ranks of the communicator, 0 if
// there are several sizes; false: none is known. Simple ones are preferred.
func rankFunction(samples []sample, size int, rank string) (*Function, bool) {
	all := func(f func(r int64) int64) bool {
		return !slices.ContainsFunc(samples, func(s sample) bool { return f(int64(s.rank)) != s.number })
	}
	first := samples[0]
	r, x, n := int64(first.rank), first.number, int64(size)
	switch {
	case all(func(int64) int64 { return x }):
		return constantFunction(x), true
	case all(func(r int64) int64 { return r + x - int64(first.rank) }):
		return &Function{Kind: Linear, Of: rank, A: x - r, B: 1}, true
	case len(samples) < minEvidence:
		return nil, false
	case x < n && all(func(q int64) int64 { return floorMod(q+x-r, n) }):
		return &Function{Kind: Modulo, Of: rank, A: nearest(x-r, n), B: 1, D: n}, true
	case all(func(q int64) int64 { return x + r - q }):
		return &Function{Kind: Linear, Of: rank, A: x + r, B: -1}, true
	case x >= 0 && all(func(q int64) int64 { return q ^ x ^ r }):
		return &Function{Kind: XOR, Of: rank, A: x ^ r}, true
	}
	if f, found := steps(samples, all, rank); found {
		return f, true
	}
	if f, found := turned(samples, n, all, rank); found {
		return f, true
	}
	if f, found := gridNeighbor(first, size, all, rank); found {
		return f, true
	}
	return transposed(size, all, rank)
}

// nearest returns the shortest way around a ring of n.
func nearest(b, n int64) int64 {
	if b = floorMod(b, n); 2*b > n {
		b -= n
	}
	return b
}

func floorMod(x, n int64) int64 { return ((x % n) + n) % n }

// steps returns a + b·rank or a + b·(rank div c), possibly modulo something. c and b are those of
// the first step; there must be two steps, and two periods, to be sure.
func steps(samples []sample, all func(func(int64) int64) bool, rank string) (*Function, bool) {
	first := samples[0]
	i := slices.IndexFunc(samples, func(s sample) bool { return s.number != first.number })
	if i < 0 {
		return nil, false
	}
	least, most := samples[0].number, samples[0].number
	for _, s := range samples {
		least, most = min(least, s.number), max(most, s.number)
	}
	// c is the length of a step, b its height
	c, b := int64(samples[i].rank), samples[i].number-first.number
	for _, step := range []int64{1, c} {
		if step < 1 {
			continue
		}
		height := b
		if step == 1 {
			apart := int64(samples[i].rank - first.rank)
			if apart == 0 {
				return nil, false // two numbers for one rank
			}
			if height = b / apart; height == 0 {
				continue
			}
		}
		a := first.number - height*(int64(first.rank)/step)
		f := &Function{Kind: Linear, Of: rank, A: a, B: height}
		if step > 1 {
			f.C = step
		}
		last := int64(samples[len(samples)-1].rank)
		if last/step >= 2 && all(func(r int64) int64 { return a + height*(r/step) }) {
			return f, true
		}
		period := (most-least)/max(height, -height) + 1
		if period < 2 || last+1 < 2*period*step {
			continue // it is not periodic
		}
		a = first.number - height*(int64(first.rank)/step%period)
		if all(func(r int64) int64 { return a + height*(r/step%period) }) {
			f.A, f.D = a, period
			return f, true
		}
	}
	return nil, false
}

// turned returns a multiple of the rank, modulo n: (3·rank+1) mod 16.
func turned(samples []sample, n int64, all func(func(int64) int64) bool, rank string) (*Function, bool) {
	for i := 1; i < len(samples) && n >= minEvidence; i++ {
		if samples[i].rank != samples[0].rank+i || samples[i].number >= n {
			return nil, false
		}
		if i < minEvidence-1 {
			continue
		}
		a := floorMod(samples[1].number-samples[0].number, n)
		b := floorMod(samples[0].number-a*int64(samples[0].rank), n)
		if !all(func(r int64) int64 { return floorMod(a*r+b, n) }) {
			return nil, false
		}
		return &Function{Kind: Modulo, Of: rank, A: b, B: a, D: n}, true
	}
	return nil, false
}

// gridNeighbor returns the rank at a displacement in a periodic grid of two or three dimensions,
// numbered row by row. Of all such grids it chooses the one with the smallest displacement. The
// displacement is that of the first sample.
func gridNeighbor(first sample, size int, all func(func(int64) int64) bool, rank string) (*Function, bool) {
	if first.number < 0 || first.number >= int64(size) {
		return nil, false
	}
	least := int64(size)
	var f *Function
	for _, extents := range grids(size) {
		from, to := coordinates(int64(first.rank), extents), coordinates(first.number, extents)
		shift, farthest := make([]int64, len(extents)), int64(0)
		for i := range shift {
			shift[i] = nearest(to[i]-from[i], extents[i])
			farthest = max(farthest, shift[i], -shift[i])
		}
		if farthest < least && all(func(r int64) int64 { return shifted(r, extents, shift) }) {
			f, least = &Function{Kind: Grid, Of: rank, Extents: extents, Shift: shift}, farthest
		}
	}
	return f, f != nil
}

// grids returns the ways to arrange ranks in two and in three dimensions of at least two.
func grids(size int) [][]int64 {
	var flat, deep [][]int64
	for a := 2; a <= size/2; a++ {
		if size%a != 0 {
			continue
		}
		flat = append(flat, []int64{int64(a), int64(size / a)})
		for b := 2; b <= size/a/2; b++ {
			if size/a%b == 0 {
				deep = append(deep, []int64{int64(a), int64(b), int64(size / a / b)})
			}
		}
	}
	return append(flat, deep...)
}

func coordinates(r int64, extents []int64) [3]int64 {
	var at [3]int64
	for i := len(extents) - 1; i >= 0; i-- {
		at[i] = r % extents[i]
		r /= extents[i]
	}
	return at
}

func shifted(r int64, extents, shift []int64) int64 {
	at, to := coordinates(r, extents), int64(0)
	for i, n := range extents {
		to = to*n + floorMod(at[i]+shift[i], n)
	}
	return to
}

// transposed returns the partner in a square of ranks, or of pairs, as in NPB CG with twice as many
// columns as rows.
func transposed(size int, all func(func(int64) int64) bool, rank string) (*Function, bool) {
	for _, wide := range []int64{1, 2} {
		q := int64(1)
		for q*q*wide < int64(size) {
			q++
		}
		if q < 2 || q*q*wide != int64(size) {
			continue
		}
		if !all(func(r int64) int64 { return wide*(r/wide%q*q+r/wide/q) + r%wide }) {
			continue
		}
		return &Function{Kind: Transposed, Of: rank, C: q, D: wide}, true
	}
	return nil, false
}

// maxCases is the maximum number of functions that are distinguished by rank before the rest is
// summarized.
const maxCases = 4

// sorted returns samples by their ranks.
func sorted(samples []sample) []sample {
	return slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Or(a.rank-b.rank, a.world-b.world) })
}

// cover describes samples as functions of the rank, each with its ranks: one for all if there is
// one, else those of most ranks, else the spread of the numbers. size is the number of ranks of the
// communicator.
func cover(samples []sample, size int, rank string, coordinates ...Coordinate) []group {
	samples = sorted(samples)
	f, found := rankFunction(samples, size, rank)
	if !found {
		f, found = ofCoordinate(samples, coordinates)
	}
	if !found {
		f, found = byCoordinate(samples, size, rank)
	}
	if found {
		return []group{functionGroup(f, samples)}
	}
	constants := byKey(samples, func(s sample) int64 { return s.number })
	var cases []group
	rest := samples
	for len(cases) < maxCases-1 && len(rest) >= minEvidence {
		f, have, others := commonest(rest, size, rank)
		if len(have) < minEvidence || len(have) <= len(samples)/4 {
			break // by chance
		}
		cases, rest = append(cases, functionGroup(f, have)), others
	}
	switch left := byKey(rest, func(s sample) int64 { return s.number }); {
	case len(constants) <= maxCases && len(constants) <= len(cases)+len(left):
		cases, rest = nil, samples
		fallthrough
	case len(cases)+len(left) <= maxCases:
		for _, same := range byKey(rest, func(s sample) int64 { return s.number }) {
			cases = append(cases, functionGroup(constantFunction(same[0].number), same))
		}
	default:
		var of spread
		for _, s := range rest {
			of.add(s.number)
		}
		one := groupOf(differsByRank+of.text(), rest)
		one.sums = true
		cases = append(cases, one)
	}
	return cases
}

// functionGroup returns the ranks of samples with the function that gives their numbers.
func functionGroup(f *Function, samples []sample) group {
	g := groupOf(f.String(), samples)
	g.function = f
	g.number, g.isNumber = f.constant()
	return g
}

func groupOf(text string, samples []sample) group {
	g := group{atom: atom{text: text}}
	for _, s := range samples {
		g.ranks = append(g.ranks, s.world)
	}
	return g
}

// commonest returns the simple function that most samples follow, with these samples and the
// others.
func commonest(samples []sample, size int, rank string) (f *Function, have, others []sample) {
	n := int64(max(1, size))
	isRank := func(s sample) bool { return s.number >= 0 && s.number < n }
	always := func(sample) bool { return true }
	around := func(s sample) int64 { return floorMod(s.number-int64(s.rank), n) }
	// the more functions of a kind there are, the more samples one of them follows by chance
	for _, family := range []struct {
		least   float64 // minimum share of the samples
		applies func(sample) bool
		key     func(sample) int64
		of      func(int64) *Function
	}{
		{0, always, func(s sample) int64 { return s.number }, constantFunction},
		{0, always, func(s sample) int64 { return s.number - int64(s.rank) }, func(b int64) *Function {
			return &Function{Kind: Linear, Of: rank, A: b, B: 1}
		}},
		{0.5, isRank, around, func(b int64) *Function {
			return &Function{Kind: Modulo, Of: rank, A: nearest(b, n), B: 1, D: n}
		}},
		{0.75, always, func(s sample) int64 { return s.number ^ int64(s.rank) }, func(k int64) *Function {
			return &Function{Kind: XOR, Of: rank, A: k}
		}},
	} {
		for _, same := range byKey(samples, family.key) {
			if same = slices.DeleteFunc(same, func(s sample) bool { return !family.applies(s) }); len(same) > len(have) && float64(len(same)) >= family.least*float64(len(samples)) {
				f, have = family.of(family.key(same[0])), same
			}
		}
	}
	taken := map[int]bool{}
	for _, s := range have {
		taken[s.world] = true
	}
	for _, s := range samples {
		if !taken[s.world] {
			others = append(others, s)
		}
	}
	return f, have, others
}

// byKey groups samples with equal keys, in order of first use.
func byKey(samples []sample, key func(sample) int64) [][]sample {
	at := map[int64]int{}
	var all [][]sample
	for _, s := range samples {
		i, known := at[key(s)]
		if !known {
			i = len(all)
			at[key(s)] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], s)
	}
	return all
}
