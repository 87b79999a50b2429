package topology

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// trafficOf is traffic along all edges of a pattern, both ways, ranks numbered by a permutation.
func trafficOf(p *Pattern, number []int, calls, bytes uint64) []Traffic {
	var all []Traffic
	for v := range p.Order {
		for _, w := range p.Graph().Neighbors(v) {
			all = append(all, Traffic{number[v], number[w], calls, bytes})
		}
	}
	return all
}

func inOrder(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func gridPattern(periodic bool, dimensions ...int) *Pattern {
	around := make([]bool, len(dimensions))
	for i := range around {
		around[i] = periodic
	}
	return latticePattern(lattice{dimensions, around, straight(len(dimensions))}, straightFamily(dimensions, around))
}

// The paper's Table 4: MG on 16 ranks talks a little (0.46 of 91 kB/s) between ranks that
// are no neighbors.
func TestLittleTrafficIsLeftOutAndCounted(t *testing.T) {
	m := Matrix{Order: 16, Traffic: trafficOf(gridPattern(true, 4, 2, 2), inOrder(16), 1000, 90000)}
	for v := range 4 {
		m.Traffic = append(m.Traffic, Traffic{4 + v, 12 + v, 5, 460}, Traffic{12 + v, 4 + v, 5, 460})
	}
	found := Identify(m, Options{})
	require.NotNil(t, found.Pattern)
	assert.Equal(t, "4 x 2 x 2 torus", found.Name())
	assert.True(t, found.Filtered)
	assert.Equal(t, Volume{40, 3680}, found.Outside)
	assert.Equal(t, Volume{64 * 1000, 64 * 90000}, found.Inside)
	assert.Nil(t, Identify(m, Options{Threshold: -1}).Pattern, "nothing left out, nothing found")
}

func TestAFilterThatTheTrafficDoesNotNeedIsNotUsed(t *testing.T) {
	// the thin direction of a flat box carries 1% of the bytes
	m := Matrix{Order: 12}
	p := gridPattern(false, 4, 3)
	for v := range p.Order {
		for _, w := range p.Graph().Neighbors(v) {
			bytes := uint64(100000)
			if strings.Contains(p.Direction(v, int(w)), "y") {
				bytes = 1000
			}
			m.Traffic = append(m.Traffic, Traffic{v, int(w), 10, bytes})
		}
	}
	found := Identify(m, Options{})
	assert.Equal(t, "4 x 3 grid", found.Name())
	assert.False(t, found.Filtered)
	assert.Zero(t, found.Outside)
}

func TestSeparateGroupsOfOnePattern(t *testing.T) {
	ring := gridPattern(true, 5)
	m := Matrix{Order: 11}
	m.Traffic = append(m.Traffic, trafficOf(ring, []int{0, 2, 4, 6, 8}, 1, 1)...)
	m.Traffic = append(m.Traffic, trafficOf(ring, []int{1, 9, 3, 7, 5}, 1, 1)...)
	found := Identify(m, Options{})
	assert.Equal(t, "2 of: ring of 5", found.Name())
	assert.Equal(t, 1, found.Silent)
	assert.Equal(t, -1, found.Vertex[10])
	assert.False(t, found.Natural)
	assert.Equal(t, found.Copy[1], found.Copy[9])
}

func TestWavefront(t *testing.T) {
	p := gridPattern(false, 3, 4)
	one := Matrix{Order: 12}
	for v := range p.Order {
		for direction, w := range p.Directions(v) {
			if direction[0] == '+' {
				one.Traffic = append(one.Traffic, Traffic{v, w, 1, 8})
			}
		}
	}
	found := Identify(one, Options{})
	assert.Equal(t, "3 x 4 grid, wavefront", found.Name())
	both := one
	both.Traffic = append(both.Traffic, Traffic{1, 0, 1, 8})
	found = Identify(both, Options{})
	assert.Equal(t, "3 x 4 grid", found.Name())
}

func TestDirectionsFollowTheMapping(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	p := gridPattern(false, 4, 8)
	number := random.Perm(32)
	found := Identify(Matrix{32, trafficOf(p, number, 1, 1)}, Options{})
	require.Equal(t, "8 x 4 grid", found.Name(), "sizes of a grid without an order are largest first")
	for v := range p.Order {
		for _, w := range p.Graph().Neighbors(v) {
			a, b := found.Vertex[number[v]], found.Vertex[number[w]]
			there, back := found.Pattern.Direction(a, b), found.Pattern.Direction(b, a)
			require.NotEmpty(t, there)
			require.Equal(t, opposite.Replace(there), back)
		}
	}
}

func TestNothing(t *testing.T) {
	for name, m := range map[string]Matrix{
		"no messages": {Order: 4},
		"irregular":   {Order: 6, Traffic: []Traffic{{0, 1, 1, 1}, {1, 2, 1, 1}, {2, 0, 1, 1}, {2, 3, 1, 1}, {3, 4, 1, 1}, {1, 5, 1, 1}}},
	} {
		found := Identify(m, Options{})
		assert.Equal(t, name, found.Name())
	}
}

func TestUsersPatterns(t *testing.T) {
	own, err := ReadCustom(strings.NewReader(`[
		{"name": "knight", "offsets": [[1, 2], [2, 1]], "periodic": true},
		{"name": "two triangles", "ranks": 5, "edges": [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]]}
	]`))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(6, 6))
	knight := lattice{[]int{5, 7}, []bool{true, true}, [][]int{{1, 2}, {2, 1}}}
	p := latticePattern(knight, UserDefined)
	found := Identify(Matrix{35, trafficOf(p, random.Perm(35), 1, 1)}, Options{Patterns: own})
	assert.Contains(t, found.Name(), "knight")
	triangles := patternsOf(own, 5)
	found = Identify(Matrix{5, trafficOf(triangles[0], random.Perm(5), 1, 1)}, Options{Patterns: own})
	assert.Equal(t, "two triangles", found.Name())

	for text, complaint := range map[string]string{
		`{}`:                                "a list of",
		`[{"offsets": [[1]]}]`:              "name",
		`[{"name": "a"}]`:                   "either offsets or edges",
		`[{"name": "a", "edges": [[0,1]]}]`: "number of ranks",
		`[{"name": "a", "ranks": 2, "edges": [[0,2]]}]`: "ranks are 0 to 1",
		`[{"name": "a", "offsets": [[1,0],[1]]}]`:       "same number of dimensions",
		`[{"name": "a", "offsets": [[0,0]]}]`:           "leads nowhere",
		`[{"name": "a", "offsets": [[1]], "wrong": 1}]`: "wrong",
	} {
		_, err := ReadCustom(strings.NewReader(text))
		assert.ErrorContains(t, err, complaint, text)
	}
}

// NPB MG: ranks two apart in a dimension of four exchange as often as neighbors do, but
// next to nothing.
func TestManySmallMessagesAreFiltered(t *testing.T) {
	m := Matrix{Order: 16}
	for rank := range 16 {
		y, x := rank/4, rank%4
		for _, peer := range []int{y*4 + (x+1)%4, y*4 + (x+3)%4, (y+1)%4*4 + x, (y+3)%4*4 + x} {
			m.Traffic = append(m.Traffic, Traffic{rank, peer, 100, 1_000_000})
		}
		if x == 0 {
			m.Traffic = append(m.Traffic, Traffic{rank, (y+2)%4*4 + x, 20, 3000})
		}
	}
	found := Identify(m, Options{})
	if found.Pattern == nil || !found.Filtered || found.Outside.Calls != 4*20 {
		t.Fatalf("%s, %d calls beside it", found.Name(), found.Outside.Calls)
	}
}
