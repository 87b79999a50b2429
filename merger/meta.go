package merger

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// metas joins what the inputs say about themselves. Every rule is associative
// and commutative, and so are the notes: they name no numbers that a tree of
// merges would see in another order.
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
		j.Timing = trace.TimingSettings{Mode: trace.TimingLossless}
	}
	if !slices.Equal(j.Excluded, meta.Excluded) {
		m.notes = append(m.notes, "not all ranks were recorded with the same groups of functions left out")
		j.Excluded = slices.Concat(j.Excluded, meta.Excluded)
		slices.Sort(j.Excluded)
		j.Excluded = slices.Compact(j.Excluded)
	}
	j.CreatedBy = max(j.CreatedBy, meta.CreatedBy)
}

// join keeps the value that sorts first of those that are known.
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

// describe sets what c says of itself; its ranks are there already.
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
		if n := len(c.Ranks); n > 0 && c.Ranks[n-1].Rank >= c.Meta.WorldSize {
			all = append(all, "there are ranks beyond the size of the world")
		}
	}
	slices.Sort(all)
	c.Meta.Notes = slices.Compact(all)
}

// missing lists the ranks of the world that c lacks.
func missing(c *trace.Content) trace.RankList {
	present := make(map[int]bool, len(c.Ranks))
	for i := range c.Ranks {
		present[c.Ranks[i].Rank] = true
	}
	var absent []int
	for rank := range c.Meta.WorldSize {
		if !present[rank] {
			absent = append(absent, rank)
		}
	}
	return trace.NewRankList(absent)
}
