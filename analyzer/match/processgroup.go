package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Groups of processes: MPI_Win_post and MPI_Win_start name their partners by a group, which is made by local calls.

// groups keeps a rank's groups, by handle, as rows.
type processGroups map[int64][]int32

// members are the rows of a group, nil where they are not known.
func (m *Matcher) members(row int, v *trace.Value) []int32 {
	if v.Form != trace.Handle {
		return nil // MPI_GROUP_EMPTY
	}
	return m.ranks[row].groups[v.Int]
}

// makeGroup handles a call that makes a group.
func (m *Matcher) makeGroup(c *Call, row int) {
	made := c.plan.out(c.event, semantics.Group)
	if made.Form != trace.Handle {
		return
	}
	var rows []int32
	first := m.members(row, c.plan.in(c.event, semantics.Group))
	switch how := c.Semantics.Group; how {
	case semantics.GroupOfCommunicator, semantics.GroupOfRemote:
		g := m.group(c.comm)
		if g == nil {
			return
		}
		rows = g.local
		if g.second(row, c.event.OwnRank) != (how == semantics.GroupOfRemote) {
			rows = g.other
		}
	case semantics.GroupOfWindow, semantics.GroupOfFile:
		of := semantics.Window
		if how == semantics.GroupOfFile {
			of = semantics.File
		}
		if o := m.ranks[row].objects[objectKey{of, c.plan.in(c.event, of).Int}]; o != nil && m.group(o.comm) != nil {
			rows = m.group(o.comm).local
		}
	case semantics.GroupUnion:
		rows = slices.Clone(first)
		for _, r := range m.members(row, c.plan.in(c.event, semantics.SecondGroup)) {
			if !slices.Contains(first, r) {
				rows = append(rows, r)
			}
		}
	case semantics.GroupIntersection, semantics.GroupDifference:
		second := m.members(row, c.plan.in(c.event, semantics.SecondGroup))
		for _, r := range first {
			if slices.Contains(second, r) == (how == semantics.GroupIntersection) {
				rows = append(rows, r)
			}
		}
	case semantics.GroupInclude, semantics.GroupIncludeRanges:
		for _, i := range listed(c) {
			if i >= 0 && i < int64(len(first)) {
				rows = append(rows, first[i])
			}
		}
	case semantics.GroupExclude, semantics.GroupExcludeRanges:
		out := listed(c)
		for i, r := range first {
			if !slices.Contains(out, int64(i)) {
				rows = append(rows, r)
			}
		}
	}
	groups := &m.ranks[row].groups
	if *groups == nil {
		*groups = processGroups{}
	}
	(*groups)[made.Int] = rows
}

// listed are the ranks that a call lists, one by one or as ranges (first, last, stride).
func listed(c *Call) []int64 {
	list := argument(c.event.In, 2)
	var values []int64
	for i := range list.List {
		if v := &list.List[i]; v.Form == trace.List {
			for k := range v.List {
				values = append(values, number(&v.List[k]))
			}
		} else {
			values = append(values, number(v))
		}
	}
	if how := c.Semantics.Group; how == semantics.GroupInclude || how == semantics.GroupExclude {
		return values
	}
	var ranks []int64
	for i := 0; i+2 < len(values); i += 3 {
		first, last, stride := values[i], values[i+1], values[i+2]
		for r := first; stride != 0 && (stride > 0) == (last >= r) && r >= 0 && len(ranks) < maxGroup; r += stride {
			ranks = append(ranks, r)
			if r == last {
				break
			}
		}
	}
	return ranks
}
