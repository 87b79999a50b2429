package trace

import (
	"math"
	"slices"
)

// The sections of the file that all ranks share: one pair of functions each, append and decode. What a section holds
// is in docs/format.md; the order of the fields there is the order here.

func (s *sectionWriter) rankList(l RankList) {
	s.number(uint64(len(l)))
	for _, r := range l {
		s.signed(int64(r.Start))
		s.number(uint64(r.Count))
		s.signed(int64(r.Stride))
	}
}

func (d *decoder) rankList() RankList {
	n := d.length(24)
	if n == 0 {
		return nil
	}
	l := make(RankList, n)
	total := 0
	for i := range l {
		l[i] = Run{
			Start:  int(d.int32()),
			Count:  d.int(),
			Stride: int(d.int32()),
		}
		if total += l[i].Count; total > math.MaxInt32 {
			d.fail(errNumber)
		}
	}
	return l
}

func appendMeta(m *Meta) []byte {
	s := newSection()
	s.flag(m.Final)
	s.text(m.World)
	s.number(uint64(m.WorldSize))
	s.text(m.Implementation)
	s.text(m.Version)
	s.text(m.ABI)
	s.text(m.CreatedBy)
	s.text(m.CallSites)
	s.text(string(m.Timing.Mode))
	s.number(uint64(m.Timing.ErrorPercent))
	s.number(uint64(len(m.Timing.Functions)))
	for _, f := range m.Timing.Functions {
		s.text(f.Function)
		s.number(uint64(f.ErrorPercent))
	}
	s.number(uint64(m.Attempt))
	s.number(uint64(m.Run))
	s.rankList(m.MissingRanks)
	s.number(uint64(len(m.Notes)))
	for _, note := range m.Notes {
		s.text(note)
	}
	return s.bytes()
}

func (d *decoder) meta() Meta {
	m := Meta{
		Final: d.flag(), World: d.text(), WorldSize: d.int(), Implementation: d.text(), Version: d.text(),
		ABI: d.text(), CreatedBy: d.text(), CallSites: d.text(), Timing: d.timingSettings(), Attempt: d.int(), Run: d.int(),
		MissingRanks: d.rankList(),
	}
	if n := d.length(16); n > 0 {
		m.Notes = make([]string, n)
		for i := range m.Notes {
			m.Notes[i] = d.text()
		}
	}
	return m
}

func (d *decoder) timingSettings() TimingSettings {
	t := TimingSettings{Mode: TimingMode(d.text()), ErrorPercent: d.int()}
	if n := d.length(24); n > 0 {
		t.Functions = make([]FunctionError, n)
		for i := range t.Functions {
			t.Functions[i] = FunctionError{d.text(), d.int()}
		}
	}
	return t
}

func appendFunctions(functions []Function) []byte {
	s := newSection()
	s.number(uint64(len(functions)))
	for _, f := range functions {
		s.number(uint64(f.ID))
		s.text(f.Name)
		s.text(f.Class)
		s.text(f.Return)
		s.number(uint64(len(f.Parameters)))
		for _, p := range f.Parameters {
			s.text(p.Name)
			s.text(p.Kind)
			x := uint64(p.Direction) << 1
			if p.List {
				x |= 1
			}
			s.number(x)
		}
	}
	return s.bytes()
}

func (d *decoder) functions() []Function {
	n := d.length(80)
	if n == 0 {
		return nil
	}
	functions := make([]Function, n)
	for i := range functions {
		f := &functions[i]
		f.ID, f.Name, f.Class, f.Return = uint16(d.uvarintUpTo(math.MaxUint16)), d.text(), d.text(), d.text()
		k := d.length(40)
		if k == 0 {
			continue
		}
		f.Parameters = make([]Parameter, k)
		for j := range f.Parameters {
			p := &f.Parameters[j]
			p.Name, p.Kind = d.text(), d.text()
			x := d.uvarintUpTo(uint64(InOut)<<1 | 1)
			p.Direction, p.List = Direction(x>>1), x&1 == 1
		}
	}
	return functions
}

func appendSites(sites []Site) []byte {
	s := newSection()
	n := len(sites)
	s.number(uint64(n))
	s.texts(n, func(i int) string { return sites[i].BuildID })
	s.texts(n, func(i int) string { return sites[i].Module })
	s.column(n, func(i int) int64 { return int64(sites[i].Offset) })
	s.texts(n, func(i int) string { return sites[i].Function })
	s.texts(n, func(i int) string { return sites[i].File })
	s.column(n, func(i int) int64 { return int64(sites[i].Line) })
	// without call paths there is no such column
	if slices.ContainsFunc(sites, func(s Site) bool { return s.Caller > 0 }) {
		s.column(n, func(i int) int64 { return int64(sites[i].Caller) })
	}
	return s.bytes()
}

func (d *decoder) sites() []Site {
	n := d.rows(104)
	buildIDs, modules, offsets := d.texts(n), d.texts(n), d.column(n)
	functions, files, lines := d.texts(n), d.texts(n), d.column(n)
	sites := make([]Site, n)
	for i := range sites {
		sites[i] = Site{
			BuildID: buildIDs[i], Module: modules[i], Offset: uint64(offsets[i]),
			Function: functions[i], File: files[i], Line: int(lines[i]),
		}
	}
	if d.err == nil && len(d.b) > 0 {
		for i, caller := range d.column(n) {
			if caller < 0 || caller > int64(i) { // before i: no path goes in a circle
				d.fail(errNumber)
				break
			}
			sites[i].Caller = uint32(caller)
		}
	}
	return sites
}

// appendCommunicators writes columns: a program may have one communicator for each rank, or row of ranks.
func appendCommunicators(communicators []Communicator) []byte {
	s := newSection()
	n := len(communicators)
	s.number(uint64(n))
	s.texts(n, func(i int) string { return communicators[i].GlobalName })
	lists := make([][]int64, n)
	list := func(f func(c *Communicator) []int64) {
		for i := range communicators {
			lists[i] = f(&communicators[i])
		}
		s.lists(lists)
	}
	list(func(c *Communicator) []int64 { return c.Members.numbers() })
	list(func(c *Communicator) []int64 { return c.Remote.numbers() })
	s.texts(n, func(i int) string { return communicators[i].Label })
	s.column(n, func(i int) int64 {
		if communicators[i].Topology.Graph {
			return 1
		}
		return 0
	})
	list(func(c *Communicator) []int64 {
		var extents []int64
		for k, extent := range c.Topology.Dims {
			extents = append(extents, int64(extent)<<1)
			if k < len(c.Topology.Periodic) && c.Topology.Periodic[k] {
				extents[k]++
			}
		}
		return extents
	})
	return s.bytes()
}

func (d *decoder) communicators() []Communicator {
	n := d.rows(144)
	names, members, remotes := d.texts(n), d.rankLists(n), d.rankLists(n)
	labels, graphs, grids := d.texts(n), d.column(n), d.lists()
	if d.err == nil && len(grids) != n {
		d.fail(errNumber)
	}
	if d.err != nil || n == 0 {
		return nil
	}
	communicators := make([]Communicator, n)
	for i := range communicators {
		c := &communicators[i]
		c.GlobalName, c.Members, c.Remote, c.Label = names[i], members[i], remotes[i], labels[i]
		c.Topology.Graph = graphs[i] != 0
		for _, x := range grids[i] {
			if x < 0 || x>>1 > math.MaxInt32 || !d.budget.take(9) {
				d.fail(errNumber)
				return nil
			}
			c.Topology.Dims = append(c.Topology.Dims, int(x>>1))
			c.Topology.Periodic = append(c.Topology.Periodic, x&1 == 1)
		}
	}
	return communicators
}

// numbers are start, count and stride of each run.
func (l RankList) numbers() []int64 {
	var all []int64
	for _, r := range l {
		all = append(all, int64(r.Start), int64(r.Count), int64(r.Stride))
	}
	return all
}

// rankLists reads n lists of runs.
func (d *decoder) rankLists(n int) []RankList {
	lists := d.lists()
	if d.err == nil && len(lists) != n {
		d.fail(errNumber)
	}
	if d.err != nil {
		return make([]RankList, n)
	}
	ranks := make([]RankList, n)
	for i, list := range lists {
		if len(list)%3 != 0 || !d.budget.take(int64(len(list))*8) {
			d.fail(errNumber)
			return ranks
		}
		total := 0
		for ; len(list) > 0; list = list[3:] {
			for _, x := range list[:3] {
				if x < math.MinInt32 || x > math.MaxInt32 {
					d.fail(errNumber)
				}
			}
			if list[1] < 0 || total > math.MaxInt32 {
				d.fail(errNumber)
				return ranks
			}
			total += int(list[1])
			ranks[i] = append(ranks[i], Run{Start: int(list[0]), Count: int(list[1]), Stride: int(list[2])})
		}
	}
	return ranks
}
