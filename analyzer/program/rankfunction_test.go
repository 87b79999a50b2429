package program

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// on are the numbers that a function of the rank gives on all ranks, in an order of chance.
func on(ranks int, f func(r int) int) []sample {
	var samples []sample
	for _, r := range rand.New(rand.NewPCG(1, uint64(ranks))).Perm(ranks) {
		samples = append(samples, sample{r, r, int64(f(r))})
	}
	return samples
}

func textOf(groups []group) string {
	g := grouping{groups: groups}
	for _, one := range groups {
		g.total += len(one.ranks)
	}
	text := ""
	for _, v := range g.values() {
		text += v.Text + prefixed(" on ", v.Ranks) + "; "
	}
	return text
}

// TestRankFunctions: the functions that programs give their peers, keys, colors, tags and counts.
func TestRankFunctions(t *testing.T) {
	for _, c := range []struct {
		want  string
		ranks int
		f     func(r int) int
	}{
		{"5; ", 16, func(int) int { return 5 }},
		{"rank; ", 16, func(r int) int { return r }},
		{"rank+3; ", 16, func(r int) int { return r + 3 }},
		{"rank-1; ", 16, func(r int) int { return r - 1 }},
		{"(rank+1) mod 16; ", 16, func(r int) int { return (r + 1) % 16 }},
		{"(rank-1) mod 16; ", 16, func(r int) int { return (r + 15) % 16 }},
		{"rank XOR 4; ", 16, func(r int) int { return r ^ 4 }},
		{"15-rank; ", 12, func(r int) int { return 15 - r }},
		{"3+2·rank; ", 12, func(r int) int { return 2*r + 3 }},
		{"(rank div 3); ", 12, func(r int) int { return r / 3 }},
		{"(rank mod 4); ", 12, func(r int) int { return r % 4 }},
		{"100+8·(rank mod 3); ", 12, func(r int) int { return 100 + 8*(r%3) }},
		{"((rank div 2) mod 3); ", 12, func(r int) int { return r / 2 % 3 }},
		{"(7·rank+3) mod 16; ", 16, func(r int) int { return (7*r + 3) % 16 }},
		// NPB BT on 3 x 4: the successors in a row, and along the diagonal
		{"coordinates(+0, +1) of 3x4; ", 12, func(r int) int { return r/4*4 + (r+1)%4 }},
		{"coordinates(+1, +1) of 3x4; ", 12, func(r int) int { return (r/4+1)%3*4 + (r+1)%4 }},
		{"coordinates(+0, -1, +0) of 3x4x2; ", 24, func(r int) int { return r/8*8 + (r/2+3)%4*2 + r%2 }},
		// NPB CG: the transposed rank
		{"rank transposed in 4x4; ", 16, func(r int) int { return r%4*4 + r/4 }},
		{"rank transposed in 4x4 pairs; ", 32, func(r int) int { return 2*(r/2%4*4+r/8) + r%2 }},
		// one that is otherwise, and a pipeline whose ends are
		{"rank on 0-2, 4-15; 17 on 3; ", 16, func(r int) int {
			if r == 3 {
				return 17
			}
			return r
		}},
		{"0 on 0-7; 4096 on 8-15; ", 16, func(r int) int { return r / 8 * 4096 }},
		// nothing at all: squares
		{"differs by rank (0 to 225, 16 values); ", 16, func(r int) int { return r * r }},
		{"differs by rank (0 to 8, 5 values); ", 9, func(r int) int { return []int{3, 0, 7, 7, 0, 3, 8, 8, 1}[r] }},
	} {
		assert.Equal(t, c.want, textOf(cover(on(c.ranks, c.f), c.ranks, "rank")), c.want)
	}
}

// Two numbers are no function, but for a distance.
func TestFewRanksAreNoEvidence(t *testing.T) {
	assert.Equal(t, "1 on 0; 0 on 1; ", textOf(cover(on(2, func(r int) int { return 1 - r }), 2, "rank")))
	assert.Equal(t, "rank+4; ", textOf(cover(on(2, func(r int) int { return r + 4 }), 2, "rank")))
}

// TestPlantedFunctions: whichever function, sizes and distances: one that gives exactly these
// numbers is found, for all ranks or, if some do otherwise, for the others.
func TestPlantedFunctions(t *testing.T) {
	const cases = 3000
	for seed := range uint64(cases) {
		random := rand.New(rand.NewPCG(seed, 2))
		a, b, c := 2+random.IntN(7), 2+random.IntN(7), 2+random.IntN(4)
		n, k := a*b*c, random.IntN(50)
		f := []func(r int) int{
			func(int) int { return k },
			func(r int) int { return r - k },
			func(r int) int { return (r + k) % n },
			func(r int) int { return r ^ k },
			func(r int) int { return k + c*r },
			func(r int) int { return k - c*r },
			func(r int) int { return k + a*(r/c) },
			func(r int) int { return k + c*(r%a) },
			func(r int) int { return k + (r/a)%b },
			func(r int) int { return (r/b+1)%(a*c)*b + (r+k)%b },
			func(r int) int { return (r/(b*c)+k)%a*b*c + (r/c+1)%b*c + (r+1)%c },
		}
		which := int(seed) % len(f)
		samples := on(n, f[which])
		got := cover(samples, n, "rank")
		require.Len(t, got, 1, "seed %d, function %d: %s", seed, which, textOf(got))
		if n < 16 || which > 3 {
			continue
		}
		// up to three ranks do something else
		other := 1 + random.IntN(3)
		for i := range other {
			samples[i].number = int64(1000 + 100*i*i)
		}
		got = cover(samples, n, "rank")
		require.Len(t, got, 1+other, "seed %d, function %d: %s", seed, which, textOf(got))
		longest := 0
		for _, g := range got {
			longest = max(longest, len(g.ranks))
		}
		require.Equal(t, n-other, longest, "seed %d", seed)
	}
}

// What is no function of the rank is not taken for one.
func TestNumbersOfChanceAreNoFunction(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 3))
		n := 12 + random.IntN(50)
		of := make([]int, n)
		for i := range of {
			of[i] = random.IntN(100 * n)
		}
		got := textOf(cover(on(n, func(r int) int { return of[r] }), n, "rank"))
		require.Contains(t, got, "differs by rank (", "seed %d", seed)
		require.LessOrEqual(t, len(cover(on(n, func(r int) int { return of[r] }), n, "rank")), 2, "seed %d: %s", seed, got)
	}
}

func numbered(list ...int) []atom {
	atoms := make([]atom, len(list))
	for i, n := range list {
		atoms[i] = atom{text: fmt.Sprint(n), isNumber: true, number: int64(n)}
	}
	return atoms
}

func varied(list ...int64) atom {
	of := &spread{}
	for _, x := range list {
		of.add(x)
	}
	return atom{text: varying + of.text(), varies: of}
}

// TestInTurn: what one call is given time after time is said once.
func TestInTurn(t *testing.T) {
	heavy := []atom{varied(8, 59185, 11), varied(8, 59185, 40), varied(8, 59185)}
	for range 9 {
		heavy = append(heavy, varied(8, 100, 59185), varied(9, 11))
	}
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = 3 + 2*i
	}
	for _, c := range []struct {
		want  string
		atoms []atom
	}{
		{"4", numbered(4, 4, 4)},
		{"1024, 64 in turn", numbered(1024, 64, 1024, 64)},
		{"6 (3 times), 7 (3 times), 8 in turn", numbered(6, 6, 6, 7, 7, 7, 8)},
		{"3, 5, …, 201 in turn", numbered(hundred...)},
		{"varies (1 to 90, 12 values)", numbered(1, 5, 2, 80, 17, 3, 90, 4, 6, 22, 41, 11)},
		// the least 8, the most 59185; 9, 11, 40 and 100 between
		{"varies (8 to 59185, 6 values)", heavy},
		{"varies (1 to 3)", []atom{varied(1, 2), varied(2, 3), {text: "1", isNumber: true, number: 1}}},
		{"varies", []atom{varied(1, 2), {text: varying, varies: &spread{}}}},
		{"a, b in turn", []atom{{text: "a"}, {text: "b"}}},
	} {
		assert.Equal(t, c.want, inTurn(c.atoms).text)
	}
}

// Values that vary on some ranks and not on others are one range; texts are listed separately.
func TestVaryingOnRanks(t *testing.T) {
	rows := []row{
		{0, caller{}, []atom{varied(1, 7)}}, {1, caller{}, []atom{varied(0, 6)}}, {2, caller{}, numbered(3)},
		{3, caller{}, []atom{{text: "MPI_PROC_NULL"}}},
	}
	g := groupRows(rows, 4)
	assert.Equal(t, "varies (0 to 7, 5 values) on 0-2; MPI_PROC_NULL on 3; ", textOf(g.groups))
}
