package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// Groups of processes: MPI_Win_post and MPI_Win_start name their partners by a group, which is made by local calls. The
// class of a function does not tell these from each other, so this goes by name.

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
	if len(c.event.Out) == 0 || c.event.Out[len(c.event.Out)-1].Form != trace.Handle {
		return
	}
	var rows []int32
	first := m.members(row, argument(c.event.In, 0))
	switch c.Function.Name {
	case "MPI_Comm_group", "MPI_Comm_remote_group":
		g := m.group(c.comm)
		if g == nil {
			return
		}
		rows = g.local
		if g.second(row, c.event.OwnRank) != (c.Function.Name == "MPI_Comm_remote_group") {
			rows = g.other
		}
	case "MPI_Win_get_group", "MPI_File_get_group":
		if o := m.ranks[row].objects[objectKey{c.Function.Name == "MPI_Win_get_group", argument(c.event.In, 0).Int}]; o != nil && m.group(o.comm) != nil {
			rows = m.group(o.comm).local
		}
	case "MPI_Group_union":
		rows = slices.Clone(first)
		for _, r := range m.members(row, argument(c.event.In, 1)) {
			if !slices.Contains(first, r) {
				rows = append(rows, r)
			}
		}
	case "MPI_Group_intersection", "MPI_Group_difference":
		second := m.members(row, argument(c.event.In, 1))
		for _, r := range first {
			if slices.Contains(second, r) == (c.Function.Name == "MPI_Group_intersection") {
				rows = append(rows, r)
			}
		}
	case "MPI_Group_incl", "MPI_Group_range_incl":
		for _, i := range listed(c) {
			if i >= 0 && i < int64(len(first)) {
				rows = append(rows, first[i])
			}
		}
	case "MPI_Group_excl", "MPI_Group_range_excl":
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
	(*groups)[c.event.Out[len(c.event.Out)-1].Int] = rows
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
	if c.Function.Name == "MPI_Group_incl" || c.Function.Name == "MPI_Group_excl" {
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
