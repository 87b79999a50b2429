//go:build mpi

package mpi

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLateRankInTrees: in late/trees.c one rank is late for collectives of all kinds and of two
// sizes, in which others wait for it in the middle of trees. All lost time is caused by that rank:
// it is on the critical path for all the time that it is late, most delays are its own, and it is
// blamed. With -short it is late at the root, inside and at the edge of a tree.
func TestLateRankInTrees(t *testing.T) {
	for _, implementation := range implementations {
		program := compileLate(t, implementation, "trees")
		cases := []struct{ ranks, late int }{{4, 0}, {5, 3}, {8, 6}, {4, 1}, {4, 2}, {4, 3}, {5, 1}, {5, 4}, {8, 5}, {8, 7}}
		if testing.Short() {
			cases = cases[:3]
		}
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s/%d of %d", implementation, c.late, c.ranks), func(t *testing.T) {
				command := launch(implementation, c.ranks, "trees", strconv.Itoa(c.late))
				command[len(command)-2] = program
				oneOfThree(t, func(t testing.TB) {
					r := trace(t, nil, command...)
					require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
					report, planted := readLateness(t, r.dir), printedSeconds(t, r.stdout, "planted")
					assert.Greater(t, report.Ranks[c.late].Path, 0.8*planted)
					all := 0.0
					for _, rank := range report.Ranks {
						all += rank.DelayCost
					}
					assert.Greater(t, report.Ranks[c.late].DelayCost, 0.6*all)
					assert.Contains(t, computesLonger, report.Verdict.Blames)
					assert.Equal(t, c.late, report.Verdict.Rank)
				})
			})
		}
	}
}
