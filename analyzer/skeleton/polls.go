package skeleton

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// waiting maps functions that test to functions that wait.
var waiting = map[string]string{
	"MPI_Test": "MPI_Wait", "MPI_Testall": "MPI_Waitall", "MPI_Testany": "MPI_Waitany", "MPI_Testsome": "MPI_Waitsome",
	"MPI_Iprobe": "MPI_Probe", "MPI_Improbe": "MPI_Mprobe", "MPI_Win_test": "MPI_Win_wait",
}

// withoutFlag removes the flag of a function that polls.
func (c *caller) withoutFlag(arguments []string) []string {
	var list []string
	for i, a := range arguments {
		if c.step.meaning.Roles[i] != semantics.Flag {
			list = append(list, a)
		}
	}
	return list
}

// skips returns the condition of a poll that sometimes fails, "" if it always succeeds.
func (c *caller) skips() (string, error) {
	if !slices.ContainsFunc(c.step.vectors, func(v vector) bool { return v.skipped }) {
		return "", nil
	}
	var columns []column
	for row, b := range c.step.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		one := column{world: c.ranks[row], own: c.ranks[row], size: len(c.ranks), n: b.calls.n}
		for _, id := range b.calls.cycle() {
			x := scalar{number: 1}
			if c.step.vectors[id].skipped {
				x.number = 0
			}
			one.values = append(one.values, x)
		}
		columns = append(columns, one)
	}
	e, err := c.presence(c.step, columns, c.index)
	c.noteRestriction(e)
	return e.text, err
}
