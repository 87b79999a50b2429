package trace

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Columns of what was measured come back, whatever is alike and however far from it they are.
func TestMeasuredColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		n := random.IntN(60)
		groups, values := make([]int64, n), make([]int64, n)
		kinds := 1 + random.Int64N(5)
		for i := range groups {
			groups[i] = random.Int64N(kinds)
			values[i] = random.Int64N(1<<random.IntN(50)) - random.Int64N(1<<random.IntN(10))
		}
		list := NewNumbers(values...)
		g := groupRows(groups)
		s := newSection()
		s.measured(&list, &g)
		d := &decoder{b: s.b, budget: newBudget(1 << 20)}
		read := d.grouping(n, func() []int64 { return groups })
		got := d.measured(read, -1<<62, 1<<62)
		require.NoError(t, d.err)
		require.Empty(t, d.b)
		require.Equal(t, values, append([]int64{}, got.Values(nil)...))
		if n > 0 {
			d = &decoder{b: s.b, budget: newBudget(1 << 20)}
			d.measured(&g, 1<<62, 1<<63-1)
			require.Error(t, d.err, "out of range")
		}
	}
}

// Rows of a group stand together, groups by their first rows.
func TestGroupRows(t *testing.T) {
	g := groupRows([]int64{7, 3, 7, 9, 3})
	require.Equal(t, []int32{0, 2, 1, 4, 3}, g.order)
	require.Equal(t, []int{2, 4, 5}, g.ends)
	expected, tell := g.expect()
	for i, step := range [][2]int64{{0, 10}, {10, 13}, {11, 100}, {100, 103}, {101, -5}} {
		require.Equal(t, step[0], expected(), i)
		tell(step[1])
	}
	require.EqualValues(t, -5, expected())
}

// What was measured of many ranks, with threads of all kinds, comes back rounded.
func TestEvidenceOfManyRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	ns := func() int64 { return random.Int64N(1<<random.IntN(40)) >> 13 << 13 }
	var ranks []Rank
	for i := range 40 {
		r := Rank{Rank: i, PID: 100 + i, BootID: string(rune('a' + i%3))}
		for k := range random.IntN(6) {
			r.Threads = append(r.Threads, ThreadUsage{TID: r.PID + random.IntN(9) - 4, Name: "t", CPUNS: RoundedNS(ns()), RunDelayNS: RoundedNS(ns()), CallsMPI: k == 0, Tool: k%3 == 1})
		}
		for k := range random.IntN(6) {
			wall := RoundedNS(ns() + 1<<20)
			off := RoundedNS(random.Int64N(wall))
			r.Evidence = append(r.Evidence, EvidenceRow{
				EvidencePlace: EvidencePlace{Thread: k, Before: CallPlace{Function: uint16(1 + random.IntN(3))}}, Count: uint64(Rounded(1 + random.Int64N(1000))),
				WallNS: wall, CPUNS: wall - off, RunDelayNS: RoundedNS(random.Int64N(off + 1)), OtherCPUNS: RoundedNS(ns()),
				IOBytes: Rounded(ns()), IOCalls: Rounded(random.Int64N(500) - 1), DataNS: RoundedNS(ns()),
			})
		}
		ranks = append(ranks, r)
	}
	c := &Content{Ranks: NewRankTable(ranks...)}
	s := appendEvidence(c)
	d := sectionDecoder(s, newBudget(1<<20))
	got := &Content{Ranks: NewRankTable(ranks...)}
	got.Ranks.evidence = evidenceTable{}
	d.evidence(got)
	require.NoError(t, d.err)
	require.Empty(t, d.b)
	for i, r := range got.Ranks.All() {
		require.Equal(t, ranks[i].Evidence, r.Evidence)
		require.Equal(t, ranks[i].Threads, r.Threads)
	}
}
