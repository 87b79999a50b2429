package merger

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEncountersAreMatched has known answers for who met whom.
func TestEncountersAreMatched(t *testing.T) {
	const ms = int64(1e6)
	boot := []string{"a"}
	spawn := func(world, local, remote int, from, to int64) *encounter {
		return &encounter{world: world, side: parentSide, local: local, remote: remote, from: from * ms, to: to * ms, boots: boot}
	}
	child := func(world, local, remote int, from, to int64) *encounter {
		e := spawn(world, local, remote, from, to)
		e.side = childSide
		return e
	}
	port := func(how side, world, size int, name string, from, to int64) *encounter {
		return &encounter{world: world, side: how, local: size, remote: 1, port: name, from: from * ms, to: to * ms, boots: boot}
	}
	elsewhere := func(e *encounter) *encounter {
		e.boots = []string{"b"}
		return e
	}
	cases := map[string]struct {
		all  []*encounter
		want [][]int // worlds that fit, by encounter
	}{
		"a spawn":                        {[]*encounter{spawn(0, 2, 3, 10, 20), child(1, 3, 2, 15, 16)}, [][]int{{1}, {0}}},
		"sizes that differ":              {[]*encounter{spawn(0, 2, 3, 10, 20), child(1, 4, 2, 15, 16)}, [][]int{nil, nil}},
		"a world that began before":      {[]*encounter{spawn(0, 2, 3, 10, 20), child(1, 3, 2, 1, 2)}, [][]int{nil, nil}},
		"a world of its own is no other": {[]*encounter{spawn(0, 2, 2, 10, 20), child(0, 2, 2, 15, 16)}, [][]int{nil, nil}},
		"one after the other": {
			[]*encounter{spawn(0, 2, 3, 10, 20), spawn(0, 2, 3, 22, 30), child(2, 3, 2, 25, 26), child(1, 3, 2, 15, 16)},
			[][]int{{1}, {2}, {0}, {0}},
		},
		"rounded times, the other one fits exactly": {
			[]*encounter{spawn(0, 2, 3, 10, 20), spawn(0, 2, 3, 22, 30), child(2, 3, 2, 25, 26), child(1, 3, 2, 21, 21)},
			[][]int{{1}, {2}, {0}, {0}},
		},
		"at the same time by sizes": {
			[]*encounter{spawn(0, 2, 3, 10, 20), spawn(1, 2, 4, 10, 20), child(2, 4, 2, 15, 16), child(3, 3, 2, 15, 16)},
			[][]int{{3}, {2}, {1}, {0}},
		},
		"two at the same time": {
			[]*encounter{spawn(0, 2, 3, 10, 20), spawn(1, 2, 3, 11, 21), child(2, 3, 2, 15, 16), child(3, 3, 2, 15, 16)},
			[][]int{{2, 3}, {2, 3}, {0, 1}, {0, 1}},
		},
		"two of one parent: the parent is known, which child is which is not": {
			[]*encounter{spawn(0, 2, 3, 10, 20), spawn(0, 2, 3, 11, 21), child(2, 3, 2, 15, 16), child(3, 3, 2, 15, 16)},
			[][]int{{2, 3}, {2, 3}, {0}, {0}},
		},
		"clocks of two nodes":     {[]*encounter{spawn(0, 2, 3, 10, 20), elsewhere(child(1, 3, 2, 700, 701))}, [][]int{{1}, {0}}},
		"too far for two clocks":  {[]*encounter{spawn(0, 2, 3, 10, 20), elsewhere(child(1, 3, 2, 1700, 1701))}, [][]int{nil, nil}},
		"a port":                  {[]*encounter{port(acceptSide, 0, 1, "p", 10, 20), port(connectSide, 1, 1, "p", 19, 20)}, [][]int{{1}, {0}}},
		"ports by name":           {[]*encounter{port(acceptSide, 0, 1, "p", 10, 20), port(acceptSide, 1, 1, "q", 10, 20), port(connectSide, 2, 1, "q", 19, 20), port(connectSide, 3, 1, "p", 19, 20)}, [][]int{{3}, {2}, {1}, {0}}},
		"two that accept":         {[]*encounter{port(acceptSide, 0, 1, "p", 10, 20), port(acceptSide, 1, 1, "p", 10, 20)}, [][]int{nil, nil}},
		"sockets have no name":    {[]*encounter{port(joinSide, 0, 1, "", 10, 20), port(joinSide, 1, 1, "", 11, 20)}, [][]int{{1}, {0}}},
		"three sockets at a time": {[]*encounter{port(joinSide, 0, 1, "", 10, 20), port(joinSide, 1, 1, "", 11, 20), port(joinSide, 2, 1, "", 12, 20)}, [][]int{{1, 2}, {0, 2}, {0, 1}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			matchEncounters(c.all)
			for i, e := range c.all {
				assert.Equal(t, c.want[i], e.worlds, "encounter %d", i)
			}
		})
	}
}
