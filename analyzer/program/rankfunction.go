package program

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A sample is a number that a rank has for a parameter: its rank in the communicator, and in the world.
type sample struct {
	rank, world int
	number      int64
}

// minEvidence is how many ranks a function of the rank must describe to be more than chance: two numbers are a
// function of anything.
const minEvidence = 3

// rankFunction words one function of the rank that gives all samples: a constant, rank+1, (rank+1) mod 8, rank XOR 1,
// a neighbour in a grid. size is the number of ranks of the communicator, 0 if there are several sizes; false: none is
// known. Simple ones come first.
func rankFunction(samples []sample, size int, rank string) (string, bool) {
	all := func(f func(r int64) int64) bool {
		return !slices.ContainsFunc(samples, func(s sample) bool { return f(int64(s.rank)) != s.number })
	}
	first := samples[0]
	r, x, n := int64(first.rank), first.number, int64(size)
	switch {
	case all(func(int64) int64 { return x }):
		return fmt.Sprint(x), true
	case all(func(r int64) int64 { return r + x - int64(first.rank) }):
		return offsetOf(rank, x-r), true
	case len(samples) < minEvidence:
		return "", false
	case x < n && all(func(q int64) int64 { return floorMod(q+x-r, n) }):
		return fmt.Sprintf("(%s) mod %d", offsetOf(rank, nearest(x-r, n)), n), true
	case all(func(q int64) int64 { return x + r - q }):
		return linear(x+r, -1, rank), true
	case x >= 0 && all(func(q int64) int64 { return q ^ x ^ r }):
		return fmt.Sprintf("%s XOR %d", rank, x^r), true
	}
	if text, found := steps(samples, all, rank); found {
		return text, true
	}
	if text, found := turned(samples, n, all, rank); found {
		return text, true
	}
	if text, found := gridNeighbour(first, size, all, rank); found {
		return text, true
	}
	return transposed(size, all, rank)
}

// nearest is the shortest way around a ring of n.
func nearest(b, n int64) int64 {
	if b = floorMod(b, n); 2*b > n {
		b -= n
	}
	return b
}

func floorMod(x, n int64) int64 { return ((x % n) + n) % n }

// steps are a + b·rank, a + b·(rank div c), and these modulo something. c and b are what the first step has; there must be
// two steps, and two periods, to be sure.
func steps(samples []sample, all func(func(int64) int64) bool, rank string) (string, bool) {
	first := samples[0]
	i := slices.IndexFunc(samples, func(s sample) bool { return s.number != first.number })
	if i < 0 {
		return "", false
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
				return "", false // two numbers for one rank
			}
			if height = b / apart; height == 0 {
				continue
			}
		}
		a := first.number - height*(int64(first.rank)/step)
		term := rank
		if step > 1 {
			term = fmt.Sprintf("(%s div %d)", rank, step)
		}
		last := int64(samples[len(samples)-1].rank)
		if last/step >= 2 && all(func(r int64) int64 { return a + height*(r/step) }) {
			return linear(a, height, term), true
		}
		period := (most-least)/max(height, -height) + 1
		if period < 2 || last+1 < 2*period*step {
			continue // it does not come back
		}
		a = first.number - height*(int64(first.rank)/step%period)
		if all(func(r int64) int64 { return a + height*(r/step%period) }) {
			return linear(a, height, fmt.Sprintf("(%s mod %d)", term, period)), true
		}
	}
	return "", false
}

// turned is a multiple of the rank, around: (3·rank+1) mod 16.
func turned(samples []sample, n int64, all func(func(int64) int64) bool, rank string) (string, bool) {
	for i := 1; i < len(samples) && n >= minEvidence; i++ {
		if samples[i].rank != samples[0].rank+i || samples[i].number >= n {
			return "", false
		}
		if i < minEvidence-1 {
			continue
		}
		a := floorMod(samples[1].number-samples[0].number, n)
		b := floorMod(samples[0].number-a*int64(samples[0].rank), n)
		if !all(func(r int64) int64 { return floorMod(a*r+b, n) }) {
			return "", false
		}
		return fmt.Sprintf("(%s) mod %d", offsetOf(fmt.Sprintf("%d·%s", a, rank), b), n), true
	}
	return "", false
}

// linear words a + b·term.
func linear(a, b int64, term string) string {
	switch {
	case b == -1:
		return fmt.Sprintf("%d-%s", a, term)
	case b != 1:
		term = fmt.Sprintf("%d·%s", b, term)
	}
	if a == 0 {
		return term
	}
	return fmt.Sprintf("%d+%s", a, term)
}

// gridNeighbour is the rank at a distance in a periodic grid of two or three dimensions, numbered row by row: of all such
// grids, in which it is nearest. The distance is what the first sample has.
func gridNeighbour(first sample, size int, all func(func(int64) int64) bool, rank string) (string, bool) {
	if first.number < 0 || first.number >= int64(size) {
		return "", false
	}
	text, least := "", int64(size)
	for _, extents := range grids(size) {
		from, to := coordinates(int64(first.rank), extents), coordinates(first.number, extents)
		shift, farthest := make([]int64, len(extents)), int64(0)
		for i := range shift {
			shift[i] = nearest(to[i]-from[i], extents[i])
			farthest = max(farthest, shift[i], -shift[i])
		}
		if farthest < least && all(func(r int64) int64 { return shifted(r, extents, shift) }) {
			text, least = gridText(extents, shift, rank), farthest
		}
	}
	return text, text != ""
}

func gridText(extents, shift []int64, rank string) string {
	sizes, way := make([]string, len(extents)), make([]string, len(extents))
	for i := range extents {
		sizes[i], way[i] = fmt.Sprint(extents[i]), fmt.Sprintf("%+d", shift[i])
	}
	text := fmt.Sprintf("coordinates(%s) of %s", strings.Join(way, ", "), strings.Join(sizes, "x"))
	if rank != "rank" {
		return rank + ": " + text
	}
	return text
}

// grids are the ways to lay ranks out in two and in three dimensions of at least two.
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

// transposed is the partner in a square of ranks, or, as NPB CG has it with twice as many columns as rows, of pairs.
func transposed(size int, all func(func(int64) int64) bool, rank string) (string, bool) {
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
		if wide == 1 {
			return fmt.Sprintf("%s transposed in %dx%d", rank, q, q), true
		}
		return fmt.Sprintf("%s transposed in %dx%d pairs", rank, q, q), true
	}
	return "", false
}

// offsetOf is a rank at a distance.
func offsetOf(rank string, b int64) string {
	if b == 0 {
		return rank
	}
	return fmt.Sprintf("%s%+d", rank, b)
}

// maxCases are the functions that are told apart by rank before the rest is summed up.
const maxCases = 4

// sorted are samples by their ranks.
func sorted(samples []sample) []sample {
	return slices.SortedFunc(slices.Values(samples), func(a, b sample) int { return cmp.Or(a.rank-b.rank, a.world-b.world) })
}

// cover words samples as functions of the rank, each with its ranks: one for all if there is one, else those that most
// ranks have, else how much the numbers differ. size is the number of ranks of the communicator.
func cover(samples []sample, size int, rank string) []group {
	samples = sorted(samples)
	if text, found := rankFunction(samples, size, rank); found {
		one := groupOf(text, samples)
		if number, err := strconv.ParseInt(text, 10, 64); err == nil {
			one.number, one.isNumber = number, true
		}
		return []group{one}
	}
	constants := byKey(samples, func(s sample) int64 { return s.number })
	var cases []group
	rest := samples
	for len(cases) < maxCases-1 && len(rest) >= minEvidence {
		text, have, others := commonest(rest, size, rank)
		if len(have) < minEvidence || len(have) <= len(samples)/4 {
			break // by chance
		}
		cases, rest = append(cases, groupOf(text, have)), others
	}
	switch left := byKey(rest, func(s sample) int64 { return s.number }); {
	case len(constants) <= maxCases && len(constants) <= len(cases)+len(left):
		cases, rest = nil, samples
		fallthrough
	case len(cases)+len(left) <= maxCases:
		for _, same := range byKey(rest, func(s sample) int64 { return s.number }) {
			one := groupOf(fmt.Sprint(same[0].number), same)
			one.number, one.isNumber = same[0].number, true
			cases = append(cases, one)
		}
	default:
		var of spread
		for _, s := range rest {
			of.add(s.number)
		}
		cases = append(cases, groupOf("differs by rank"+of.text(), rest))
	}
	return cases
}

func groupOf(text string, samples []sample) group {
	g := group{atom: atom{text: text}}
	for _, s := range samples {
		g.ranks = append(g.ranks, s.world)
	}
	return g
}

// commonest is the simple function that most samples follow, with these samples and the others.
func commonest(samples []sample, size int, rank string) (text string, have, others []sample) {
	n := int64(max(1, size))
	isRank := func(s sample) bool { return s.number >= 0 && s.number < n }
	always := func(sample) bool { return true }
	around := func(s sample) int64 { return floorMod(s.number-int64(s.rank), n) }
	// the more functions of a kind there are, the more of the samples one of them follows by chance
	for _, f := range []struct {
		least   float64 // share of the samples
		applies func(sample) bool
		key     func(sample) int64
		word    func(int64) string
	}{
		{0, always, func(s sample) int64 { return s.number }, func(x int64) string { return fmt.Sprint(x) }},
		{0, always, func(s sample) int64 { return s.number - int64(s.rank) }, func(b int64) string { return offsetOf(rank, b) }},
		{0.5, isRank, around, func(b int64) string { return fmt.Sprintf("(%s) mod %d", offsetOf(rank, nearest(b, n)), n) }},
		{0.75, always, func(s sample) int64 { return s.number ^ int64(s.rank) }, func(k int64) string {
			return fmt.Sprintf("%s XOR %d", rank, k)
		}},
	} {
		for _, same := range byKey(samples, f.key) {
			if same = slices.DeleteFunc(same, func(s sample) bool { return !f.applies(s) }); len(same) > len(have) && float64(len(same)) >= f.least*float64(len(samples)) {
				text, have = f.word(f.key(same[0])), same
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
	return text, have, others
}

// byKey puts samples with equal keys together, in order of first sight.
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
