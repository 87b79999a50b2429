package trace

import (
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A sectionWriter is a codec.SectionWriter with methods for data of a trace.
type sectionWriter struct{ *codec.SectionWriter }

func newSection() *sectionWriter { return &sectionWriter{codec.NewSectionWriter()} }

// A decoder is a codec.Decoder with methods for data of a trace.
type decoder struct {
	*codec.Decoder
	sequences bool // lists in signatures may be sequences
}

// newDecoder returns a decoder of b with a budget.
func newDecoder(b []byte, m *codec.Budget) *decoder {
	return &decoder{Decoder: &codec.Decoder{Rest: b, Budget: m}}
}

// sectionDecoder returns a decoder of a section, which begins with its strings.
func sectionDecoder(b []byte, m *codec.Budget) *decoder {
	return &decoder{Decoder: codec.NewSectionDecoder(b, m)}
}

// The sections of the file that all ranks share: a pair of functions each, append and decode. The
// contents of a section are described in docs/format-sections.md, with the fields in the same order
// as here.

func (s *sectionWriter) rankList(l RankList) {
	s.Number(uint64(len(l)))
	for _, r := range l {
		s.Signed(int64(r.Start))
		s.Number(uint64(r.Count))
		s.Signed(int64(r.Stride))
	}
}

func (d *decoder) rankList() RankList {
	n := d.Length(24)
	if n == 0 {
		return nil
	}
	l := make(RankList, n)
	total := 0
	for i := range l {
		l[i] = Run{
			Start:  int(d.Int32()),
			Count:  d.Int(),
			Stride: int(d.Int32()),
		}
		if total += l[i].Count; total > math.MaxInt32 {
			d.Fail(codec.ErrNumber)
		}
	}
	return l
}

func appendMeta(m *Meta) []byte {
	s := newSection()
	s.Flag(m.Final)
	s.Text(m.World)
	s.Number(uint64(m.WorldSize))
	s.Text(m.Implementation)
	s.Text(m.Version)
	s.Text(m.ABI)
	s.Text(m.CreatedBy)
	s.Text(m.CallSites)
	s.Text(string(m.Timing.Mode))
	s.Number(uint64(m.Timing.ErrorPercent))
	s.Number(uint64(len(m.Timing.Functions)))
	for _, f := range m.Timing.Functions {
		s.Text(f.Function)
		s.Number(uint64(f.ErrorPercent))
	}
	s.Number(uint64(m.Attempt))
	s.Number(uint64(m.Run))
	s.rankList(m.MissingRanks)
	s.Number(uint64(len(m.Notes)))
	for _, note := range m.Notes {
		s.Text(note)
	}
	return s.Bytes()
}

func (d *decoder) meta() Meta {
	m := Meta{
		Final: d.Flag(), World: d.Text(), WorldSize: d.Int(), Implementation: d.Text(), Version: d.Text(),
		ABI: d.Text(), CreatedBy: d.Text(), CallSites: d.Text(), Timing: d.timingSettings(), Attempt: d.Int(), Run: d.Int(),
		MissingRanks: d.rankList(),
	}
	if n := d.Length(16); n > 0 {
		m.Notes = make([]string, n)
		for i := range m.Notes {
			m.Notes[i] = d.Text()
		}
	}
	return m
}

func (d *decoder) timingSettings() timing.Settings {
	t := timing.Settings{Mode: timing.Mode(d.Text()), ErrorPercent: d.Int()}
	if n := d.Length(24); n > 0 {
		t.Functions = make([]timing.FunctionError, n)
		for i := range t.Functions {
			t.Functions[i] = timing.FunctionError{Function: d.Text(), ErrorPercent: d.Int()}
		}
	}
	return t
}

func appendFunctions(functions []Function) []byte {
	s := newSection()
	s.Number(uint64(len(functions)))
	for _, f := range functions {
		s.Number(uint64(f.ID))
		s.Text(f.Name)
		s.Text(f.Class)
		s.Text(f.Return)
		s.Number(uint64(len(f.Parameters)))
		for _, p := range f.Parameters {
			s.Text(p.Name)
			s.Text(p.Kind)
			x := uint64(p.Direction) << 1
			if p.List {
				x |= 1
			}
			s.Number(x)
		}
	}
	return s.Bytes()
}

func (d *decoder) functions() []Function {
	n := d.Length(80)
	if n == 0 {
		return nil
	}
	functions := make([]Function, n)
	for i := range functions {
		f := &functions[i]
		f.ID, f.Name, f.Class, f.Return = uint16(d.UvarintUpTo(math.MaxUint16)), d.Text(), d.Text(), d.Text()
		k := d.Length(40)
		if k == 0 {
			continue
		}
		f.Parameters = make([]Parameter, k)
		for j := range f.Parameters {
			p := &f.Parameters[j]
			p.Name, p.Kind = d.Text(), d.Text()
			x := d.UvarintUpTo(uint64(InOut)<<1 | 1)
			p.Direction, p.List = Direction(x>>1), x&1 == 1
		}
	}
	return functions
}

func appendSites(sites []Site) []byte {
	s := newSection()
	n := len(sites)
	s.Number(uint64(n))
	s.Texts(n, func(i int) string { return sites[i].BuildID })
	s.Texts(n, func(i int) string { return sites[i].Module })
	s.Column(n, func(i int) int64 { return int64(sites[i].Offset) })
	s.Texts(n, func(i int) string { return sites[i].Function })
	s.Texts(n, func(i int) string { return sites[i].File })
	s.Column(n, func(i int) int64 { return int64(sites[i].Line) })
	// without call paths there is no such column
	if slices.ContainsFunc(sites, func(s Site) bool { return s.Caller > 0 }) {
		s.Column(n, func(i int) int64 { return int64(sites[i].Caller) })
	}
	return s.Bytes()
}

func (d *decoder) sites() []Site {
	n := d.Rows(104)
	buildIDs, modules, offsets := d.Texts(n), d.Texts(n), d.Column(n)
	functions, files, lines := d.Texts(n), d.Texts(n), d.Column(n)
	sites := make([]Site, n)
	for i := range sites {
		sites[i] = Site{
			BuildID: buildIDs[i], Module: modules[i], Offset: uint64(offsets[i]),
			Function: functions[i], File: files[i], Line: int(lines[i]),
		}
	}
	if d.Err == nil && len(d.Rest) > 0 {
		for i, caller := range d.Column(n) {
			if caller < 0 || caller > int64(i) { // before i: paths have no cycles
				d.Fail(codec.ErrNumber)
				break
			}
			sites[i].Caller = uint32(caller)
		}
	}
	return sites
}

// appendCommunicators writes columns, since a program may have one communicator for each rank or
// row of ranks.
func appendCommunicators(communicators []Communicator) []byte {
	s := newSection()
	n := len(communicators)
	s.Number(uint64(n))
	s.Texts(n, func(i int) string { return communicators[i].GlobalName })
	lists := make([][]int64, n)
	list := func(f func(c *Communicator) []int64) {
		for i := range communicators {
			lists[i] = f(&communicators[i])
		}
		s.Lists(lists)
	}
	list(func(c *Communicator) []int64 { return c.Members.numbers() })
	list(func(c *Communicator) []int64 { return c.Remote.numbers() })
	s.Texts(n, func(i int) string { return communicators[i].Label })
	s.Column(n, func(i int) int64 {
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
	return s.Bytes()
}

func (d *decoder) communicators() []Communicator {
	n := d.Rows(144)
	names, members, remotes := d.Texts(n), d.rankLists(n), d.rankLists(n)
	labels, graphs, grids := d.Texts(n), d.Column(n), d.Lists()
	if d.Err == nil && len(grids) != n {
		d.Fail(codec.ErrNumber)
	}
	if d.Err != nil || n == 0 {
		return nil
	}
	communicators := make([]Communicator, n)
	for i := range communicators {
		c := &communicators[i]
		c.GlobalName, c.Members, c.Remote, c.Label = names[i], members[i], remotes[i], labels[i]
		c.Topology.Graph = graphs[i] != 0
		for _, x := range grids[i] {
			if x < 0 || x>>1 > math.MaxInt32 || !d.Budget.Take(9) {
				d.Fail(codec.ErrNumber)
				return nil
			}
			c.Topology.Dims = append(c.Topology.Dims, int(x>>1))
			c.Topology.Periodic = append(c.Topology.Periodic, x&1 == 1)
		}
	}
	return communicators
}

// numbers returns start, count and stride of each run.
func (l RankList) numbers() []int64 {
	var all []int64
	for _, r := range l {
		all = append(all, int64(r.Start), int64(r.Count), int64(r.Stride))
	}
	return all
}

// rankLists reads n lists of runs.
func (d *decoder) rankLists(n int) []RankList {
	lists := d.Lists()
	if d.Err == nil && len(lists) != n {
		d.Fail(codec.ErrNumber)
	}
	if d.Err != nil {
		return make([]RankList, n)
	}
	ranks := make([]RankList, n)
	for i, list := range lists {
		if len(list)%3 != 0 || !d.Budget.Take(int64(len(list))*8) {
			d.Fail(codec.ErrNumber)
			return ranks
		}
		total := 0
		for ; len(list) > 0; list = list[3:] {
			for _, x := range list[:3] {
				if x < math.MinInt32 || x > math.MaxInt32 {
					d.Fail(codec.ErrNumber)
				}
			}
			if list[1] < 0 || total > math.MaxInt32 {
				d.Fail(codec.ErrNumber)
				return ranks
			}
			total += int(list[1])
			ranks[i] = append(ranks[i], Run{Start: int(list[0]), Count: int(list[1]), Stride: int(list[2])})
		}
	}
	return ranks
}
