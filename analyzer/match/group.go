package match

import (
	"slices"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A group maps the ranks of one communicator instance to rows of Trace.Ranks.
type group struct {
	members, remote trace.RankList
	local           []int32 // rows by rank; −1: not in the trace
	other           []int32 // rows of an intercommunicator's remote group
	inter           bool
	present         int // number of members that are in the trace
	cart            *trace.Topology
	sources         [][]int32 // for graph topologies: sources by part (neighbors.go)
}

func newGroup(c *trace.Communicator, ranks *trace.RankTable) *group {
	g := &group{members: c.Members, remote: c.Remote, inter: len(c.Remote) > 0}
	g.local = g.translate(c.Members, ranks)
	g.other = g.translate(c.Remote, ranks)
	if nodes := product(c.Topology.Dims); nodes > 0 && nodes == len(g.local) {
		g.cart = &c.Topology
	}
	return g
}

// product returns the product of a grid's dimensions, 0 if there is no grid or it is invalid.
func product(dims []int) int {
	if len(dims) == 0 {
		return 0
	}
	n := 1
	for _, d := range dims {
		if d <= 0 || n > maxGroup {
			return 0
		}
		n *= d
	}
	return n
}

// maxGroup bounds the memory that a corrupt trace can make the analyzer allocate.
const maxGroup = 1 << 22

func (g *group) translate(list trace.RankList, ranks *trace.RankTable) []int32 {
	n := 0
	for _, run := range list {
		if n += run.Count; run.Count < 0 || run.Count > maxGroup || n > maxGroup {
			return nil
		}
	}
	out := make([]int32, 0, n)
	for _, run := range list {
		for k := range run.Count {
			row := int32(ranks.Find(run.Start + k*run.Stride))
			if row >= 0 {
				g.present++
			}
			out = append(out, row)
		}
	}
	return out
}

// second reports whether the caller is in the second group of an intercommunicator.
func (g *group) second(row, own int) bool {
	return g.inter && !(own >= 0 && own < len(g.local) && g.local[own] == int32(row))
}

// peer returns the row of the rank that the caller addresses as rank, −1 if it is not in the trace.
func (g *group) peer(row, own int, rank int64) int {
	list := g.local
	if g.inter && !g.second(row, own) {
		list = g.other
	}
	if rank < 0 || rank >= int64(len(list)) {
		return -1
	}
	return int(list[rank])
}

// part returns the caller's index into Collective.Parts.
func (g *group) part(row, own int) int {
	if g.second(row, own) {
		return len(g.local) + own
	}
	return own
}

// rootPart returns the index into Collective.Parts of the rank that the caller passes as root, −1
// if it is invalid.
func (g *group) rootPart(row, own int, root int64) int {
	if root == rootHere {
		return g.part(row, own)
	}
	if g.inter && !g.second(row, own) {
		root += int64(len(g.local))
	}
	if root < 0 || root >= int64(g.size()) {
		return -1
	}
	return int(root)
}

func (g *group) size() int { return len(g.local) + len(g.other) }

// instances maps each communicator instance to the one under which its operations are matched. An
// intercommunicator has one instance per side, with the groups exchanged and the same global name.
type instances []int32

// comm returns the instance under which operations on a communicator are matched, −1 for none.
func (of instances) comm(instance int) int32 {
	if instance < 0 || instance >= len(of) {
		return -1
	}
	return of[instance]
}

func newInstances(comms []trace.Communicator) instances {
	first := map[string]int32{}
	of := make(instances, len(comms))
	for i := range comms {
		of[i] = int32(i)
		if len(comms[i].Remote) == 0 {
			continue
		}
		if k, ok := first[comms[i].GlobalName]; ok {
			of[i] = k
		} else {
			first[comms[i].GlobalName] = int32(i)
		}
	}
	return of
}

// Groups of processes: MPI_Win_post and MPI_Win_start name their partners by a group, which is
// created by local calls.

// processGroups maps a rank's group handles to rows.
type processGroups map[int64][]int32

// members returns the rows of a group, nil if they are not known.
func (m *Matcher) members(row int, v *trace.Value) []int32 {
	if v.Form != trace.Handle {
		return nil // MPI_GROUP_EMPTY
	}
	return m.ranks[row].groups[v.Int]
}

// makeGroup handles a call that creates a group.
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

// listed returns the ranks that a call lists, one by one or as ranges (first, last, stride).
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
		for r := first; (stride > 0 && r <= last || stride < 0 && r >= last) && r >= 0 && len(ranks) < maxGroup; r += stride {
			ranks = append(ranks, r)
		}
	}
	return ranks
}
