package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
)

// What getrusage counted is in a section of its own, since readers of files without it must read
// files with it: columns for the sums and for the instances of the evidence.
const (
	usageMinorFaults = iota
	usageMajorFaults
	usageVoluntary
	usageInvoluntary
	usageSystem
	usageCounts
)

func (u *Usage) codes() []int64 {
	return []int64{
		codec.RoundedCode(u.MinorFaults), codec.RoundedCode(u.MajorFaults), codec.RoundedCode(u.VoluntarySwitches),
		codec.RoundedCode(u.InvoluntarySwitches), codec.RoundedNSCode(u.SystemNS),
	}
}

// usageOf returns the usage in the columns from first on.
func usageOf(at func(column int) int64, first int) Usage {
	return Usage{
		MinorFaults: codec.Unrounded(at(first + usageMinorFaults)), MajorFaults: codec.Unrounded(at(first + usageMajorFaults)),
		VoluntarySwitches: codec.Unrounded(at(first + usageVoluntary)), InvoluntarySwitches: codec.Unrounded(at(first + usageInvoluntary)),
		SystemNS: codec.UnroundedNS(at(first + usageSystem)),
	}
}

// tablesOfUsage are the tables with columns of usage, and the first of these.
func (t *evidenceTable) tablesOfUsage() []tableOfUsage {
	return []tableOfUsage{{&t.rows, rowUsage}, {&t.instances, instanceUsage}}
}

type tableOfUsage struct {
	*codec.Ragged
	first int
}

// forgetUsage makes the usage unknown.
func (t *evidenceTable) forgetUsage() {
	for _, table := range t.tablesOfUsage() {
		for k := table.first; table.N > 0 && k < len(table.Columns); k++ {
			table.Columns[k] = codec.Numbers{}
			table.Columns[k].PushRun(Unknown, 0, table.N)
		}
	}
}

// hasUsage reports whether any usage is known.
func (t *evidenceTable) hasUsage() bool {
	for _, table := range t.tablesOfUsage() {
		for k := table.first; table.N > 0 && k < len(table.Columns); k++ {
			if !table.Columns[k].Within(Unknown, 0) {
				return true
			}
		}
	}
	return false
}

func appendUsage(c *Content) []byte {
	s := newSection()
	for _, table := range c.Ranks.evidence.tablesOfUsage() {
		s.Number(uint64(table.N))
		if table.N > 0 {
			s.measuredFrom(table.Ragged, table.first, c.Ranks.usageGroups(table))
		}
	}
	return s.Body
}

// usageGroups groups the rows of a table: sums of one activity are alike, and so are all instances.
func (t *RankTable) usageGroups(table tableOfUsage) codec.Grouping {
	if table.Ragged == &t.evidence.rows {
		return codec.GroupRows(table.Columns[rowKey].Values(nil))
	}
	return codec.GroupRows(make([]int64, table.N))
}

// usage reads what appendUsage wrote. The evidence must have been read.
func (d *decoder) usage(c *Content) {
	t := c.Ranks.evidence
	for _, table := range t.tablesOfUsage() {
		if d.Uvarint() != uint64(table.N) {
			d.Fail(codec.ErrNumber)
			return
		}
		if table.N == 0 {
			continue
		}
		alike := d.Grouping(table.N, func() []int64 {
			if table.first == rowUsage {
				return table.Columns[rowKey].Values(nil)
			}
			return make([]int64, table.N)
		})
		for k := range usageCounts {
			limit := int64(codec.MaxRounded)
			if k == usageSystem {
				limit = codec.MaxRoundedNS
			}
			table.Columns[table.first+k] = d.Measured(alike, Unknown, limit+1)
		}
	}
	if d.Err == nil {
		c.Ranks.evidence = t
	}
}
