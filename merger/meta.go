package merger

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// metas joins the metadata of the inputs. Every rule is associative and commutative, and so are the
// notes: they contain no numbers that would depend on the order of merges.
type metas struct {
	joined trace.Meta
	any    bool
	notes  []string
}

func (m *metas) compatible(meta *trace.Meta) error {
	if m.any && meta.World != m.joined.World {
		return fmt.Errorf("this is a trace of another MPI world (%q, not %q)", meta.World, m.joined.World)
	}
	return nil
}

func (m *metas) add(meta *trace.Meta) {
	m.notes = append(m.notes, meta.Notes...)
	if !m.any {
		m.joined, m.any = *meta, true
		return
	}
	j := &m.joined
	if meta.WorldSize != j.WorldSize && meta.WorldSize != 0 && j.WorldSize != 0 {
		m.notes = append(m.notes, "ranks disagree on the size of the world; the largest counts")
	}
	j.WorldSize = max(j.WorldSize, meta.WorldSize)
	m.join(&j.Implementation, meta.Implementation, "ranks disagree on the MPI implementation")
	m.join(&j.Version, meta.Version, "ranks disagree on the version of MPI")
	m.join(&j.ABI, meta.ABI, "ranks disagree on the MPI ABI")
	m.join(&j.CallSites, meta.CallSites, "not all ranks have call sites")
	if !j.Timing.Equal(&meta.Timing) {
		m.notes = append(m.notes, "the ranks' times were kept in different ways or with different errors; what there is is kept as it is")
		j.Timing = timing.Settings{Mode: timing.Lossless}
	}
	j.Clustering = moreVotes(j.Clustering, meta.Clustering)
	if !slices.Equal(j.Excluded, meta.Excluded) {
		m.notes = append(m.notes, "not all ranks were recorded with the same groups of functions left out")
		j.Excluded = slices.Concat(j.Excluded, meta.Excluded)
		slices.Sort(j.Excluded)
		j.Excluded = slices.Compact(j.Excluded)
	}
	j.CreatedBy = max(j.CreatedBy, meta.CreatedBy)
}

// moreVotes returns the clustering with more votes: a rank that ended early has seen
// a prefix of them.
func moreVotes(a, b *trace.Clustering) *trace.Clustering {
	switch {
	case a == nil:
		return b
	case b == nil || slices.CompareFunc(a.Votes, b.Votes, compareVotes) == 0:
		return a
	case cmp.Or(cmp.Compare(len(a.Votes), len(b.Votes)), slices.CompareFunc(a.Votes, b.Votes, compareVotes)) < 0:
		return b
	}
	return a
}

func compareVotes(a, b trace.Vote) int {
	return cmp.Or(cmp.Compare(a.Ordinal, b.Ordinal), cmp.Compare(a.State, b.State), slices.Compare(a.Leads, b.Leads))
}

// leaderless reports whether the times of some calls are to be extrapolated from a rank that c
// lacks.
func leaderless(c *trace.Content) bool {
	present := map[int]bool{}
	for _, t := range c.Threads.All() {
		for i := range t.Extrapolations {
			lead := t.Extrapolations[i].Lead
			if _, known := present[lead]; !known {
				present[lead] = c.Ranks.Find(lead) >= 0
			}
			if !present[lead] {
				return true
			}
		}
	}
	return false
}

// join keeps the known value that sorts first.
func (m *metas) join(have *string, more, conflict string) {
	switch {
	case more == *have || more == "":
	case *have == "":
		*have = more
	default:
		m.notes = append(m.notes, conflict)
		*have = min(*have, more)
	}
}

// describe sets the metadata of c, which has its ranks already.
func (m *metas) describe(c *trace.Content, o Options, notes []string) {
	all := slices.Concat(m.notes, notes, c.Meta.Notes)
	c.Meta = m.joined
	c.Meta.Final = o.Final
	c.Meta.Attempt, c.Meta.Run = o.Attempt, o.Run
	c.Meta.MissingRanks = nil
	if o.CreatedBy != "" {
		c.Meta.CreatedBy = o.CreatedBy
	}
	if o.Final {
		c.Meta.MissingRanks = missing(c)
		if leaderless(c) {
			all = append(all, "lead ranks are missing: the times extrapolated from them are spread evenly there")
		}
		if n := c.Ranks.Len(); n > 0 && c.Ranks.At(n-1).Rank >= c.Meta.WorldSize {
			all = append(all, "there are ranks beyond the size of the world")
		}
	}
	slices.Sort(all)
	c.Meta.Notes = slices.Compact(all)
}

// missing lists the ranks of the world that c lacks.
func missing(c *trace.Content) trace.RankList {
	var absent []int
	next := 0
	for _, rank := range c.Ranks.Numbers().All() { // sorted
		for ; next < min(int(rank), c.Meta.WorldSize); next++ {
			absent = append(absent, next)
		}
		next = int(rank) + 1
	}
	for ; next < c.Meta.WorldSize; next++ {
		absent = append(absent, next)
	}
	return trace.NewRankList(absent)
}
