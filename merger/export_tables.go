package merger

import (
	"cmp"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// addTables writes the functions, sites and allocations that the signatures and the ranks' evidence
// use.
func (e *exporter) addTables() {
	p, c := e.table, e.c
	used := map[uint16]bool{}
	use := func(id uint16) {
		if !used[id] {
			used[id] = true
			c.Functions = append(c.Functions, *p.functions[id])
		}
	}
	for i := range c.Signatures {
		use(c.Signatures[i].Function)
	}
	for call := range c.Ranks.EvidenceCalls() {
		use(call.Function)
	}
	slices.SortFunc(c.Functions, func(a, b trace.Function) int { return cmp.Compare(a.ID, b.ID) })
	p.exportSites(c, &e.sources)
}

// addCommunicators writes the communicators of the processes, in the order in which the lowest rank
// got them, and returns their new numbers.
func (e *exporter) addCommunicators(of *processes, order []int32) map[int32]int32 {
	p, c := e.table, e.c
	place := map[int32]int32{}
	enter := func(id int32) {
		if _, ok := place[id]; !ok {
			place[id] = int32(len(c.Communicators))
			c.Communicators = append(c.Communicators, p.communicators[id])
		}
	}
	var last *uint32 // ranks with equal lists share one
	list := of.ranks.CommunicatorsOwn()
	for _, process := range order {
		own := list(int(process))
		if len(own) == 0 || &own[0] == last {
			continue
		}
		last = &own[0]
		for _, id := range own {
			enter(int32(id))
		}
	}
	c.Meta.Notes = append(c.Meta.Notes, membershipConflicts(c.Communicators)...)
	return place
}

// membershipConflicts finds communicators with the same name and different members: their names
// were not globally unique. The two sides of an intercommunicator have their groups exchanged,
// which is correct.
func membershipConflicts(communicators []trace.Communicator) []string {
	var notes []string
	byName := map[string]int{}
	for i := range communicators {
		c := &communicators[i]
		if c.GlobalName == "MPI_COMM_SELF" {
			continue // one name, an instance for each rank
		}
		j, ok := byName[c.GlobalName]
		if !ok {
			byName[c.GlobalName] = i
			continue
		}
		other := &communicators[j]
		if len(c.Remote) > 0 && slices.Equal(c.Members, other.Remote) && slices.Equal(c.Remote, other.Members) {
			continue
		}
		notes = append(notes, "ranks disagree on the members of communicator "+c.GlobalName)
	}
	return notes
}
