package skeleton

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// result returns the variable for a number that a call returns.
func (c *caller) result(p *mpi.Param, of func(*vector) *argument) string {
	s := c.step
	if s.name == "MPI_Comm_rank" && c.comm() == "MPI_COMM_WORLD" {
		return "&rank"
	}
	if s.name == "MPI_Comm_size" && c.comm() == "MPI_COMM_WORLD" {
		return "&size"
	}
	if !p.IsArray() && p.Kind == mpi.KindRank && c.reachedOnce(s) && c.always(s) {
		one := &symbol{name: c.unique(fmt.Sprintf("%s_%d", p.Name, s.Number)), kind: p.Kind, call: s.Number, values: map[int]scalar{}, comms: map[int]int{}}
		for _, col := range c.columns(of, scalarIn) {
			if len(col.values) == 1 {
				one.values[col.world] = col.values[0]
				one.comms[col.world] = c.comms()[col.world]
			}
		}
		c.symbols = append(c.symbols, one)
		return "&" + one.name
	}
	return c.ignore()
}

// ignore returns memory for an unused result.
func (c *caller) ignore() string {
	c.helpers["ignored"] = true
	c.ignored++
	return fmt.Sprintf("(void *)ignored[%d]", c.ignored-1)
}

// dimensions returns a variable for the result of MPI_Dims_create, which depends on the number of
// ranks.
func (c *caller) dimensions(p *mpi.Param, of func(*vector) *argument, about *subject, length int) (string, error) {
	one := &symbol{name: c.unique(fmt.Sprintf("%s_%d", p.Name, c.step.Number)), kind: p.Kind, call: c.step.Number, values: map[int]scalar{}, length: length}
	given, err := c.elements(p, of, about)
	if err != nil {
		return "", err
	}
	out := nth(true, 0)
	for _, col := range c.columns(out, func(a *argument) scalar { return scalar{name: fmt.Sprint(a.values)} }) {
		one.values[col.world] = col.values[0]
	}
	c.symbols = append(c.symbols, one)
	c.helpers["string"] = true
	c.before = append(c.before, fmt.Sprintf("memcpy(%s, %s, sizeof %s);", one.name, given, one.name))
	return one.name, nil
}

// listSymbol returns the variable with a list, "" if there is none.
func (c *caller) listSymbol(of func(*vector) *argument, length int) string {
	columns := c.columns(of, func(a *argument) scalar { return scalar{name: fmt.Sprint(a.values)} })
	for _, s := range c.symbols {
		if s.length == length && !slices.ContainsFunc(columns, func(col column) bool {
			return len(shortest(col.values)) > 1 || s.values[col.world] != col.values[0]
		}) {
			s.used = true
			return s.name
		}
	}
	if c.shape.isGrid() && c.step.meaning.Operation == semantics.CommunicatorCreate && !slices.ContainsFunc(columns, func(col column) bool {
		return len(shortest(col.values)) > 1 || col.values[0].name != c.shape.list()
	}) {
		return "dims"
	}
	return ""
}
