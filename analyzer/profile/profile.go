package profile

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/internal/passes"
)

const (
	maxCells         = 500
	maxCommunicators = 100
	maxTiles         = 256 // in either direction
	maxMatrixCells   = 1 << 14
)

// A Profile collects the tallies of all locations.
type Profile struct {
	trace     timeline.Trace
	locations []timeline.Location
	tallies   []Tally
	payloads  []payload // by terminal
}

// New starts the profile of a trace.
func New(t timeline.Trace) *Profile {
	locations := timeline.Locations(t)
	p := &Profile{trace: t, locations: locations, tallies: make([]Tally, len(locations)), payloads: make([]payload, len(t.Signatures()))}
	of := map[uint16]volume.Payload{}
	for i := range p.payloads {
		s := &t.Signatures()[i]
		if _, known := of[s.Function]; !known {
			of[s.Function] = volume.PayloadOf(t.Semantics(s.Function))
		}
		p.payloads[i] = newPayload(of[s.Function], s, t.Communicators())
	}
	return p
}

// Location returns the Tally for the calls of a location. Different ones may be used concurrently.
func (p *Profile) Location(i int) *Tally {
	p.tallies[i] = Tally{sums: map[key]*sum{}, data: p.payloads, types: datatypes.Table{Bare: true}}
	return &p.tallies[i]
}

// Analyze computes the profile of a trace in a pass of its own.
func Analyze(ctx context.Context, t timeline.Trace) (Findings, error) {
	p := New(t)
	ctx, _, end := passes.Calls(passes.Named(ctx, "counting calls"), t.Threads().Calls())
	defer end()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, l := range p.locations {
		group.Go(func() error {
			tally := p.Location(i)
			return timeline.EachOf(inner, t, i, l, nil, func(c *timeline.Call) error {
				tally.Call(c)
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return Findings{}, err
	}
	return p.Findings()
}

// traffic returns the communication matrix of the calls that were counted.
func (p *Profile) traffic() ([]traffic.Pair, error) {
	if !slices.ContainsFunc(p.tallies, func(t Tally) bool { return t.cut }) {
		return p.trace.Matrix()
	}
	return p.trace.MatrixBetween(func(thread int) (from, to uint64) { return p.tallies[thread].from, p.tallies[thread].to })
}

// Findings returns the profile of all calls that were counted.
func (p *Profile) Findings() (Findings, error) {
	f := Findings{SchemaVersion: SchemaVersion, Cells: []Cell{}, Ranks: []RankRow{}}
	total := map[key]*Volume{}
	functions, communicators := map[string]*Volume{}, map[string]*Volume{}
	classes := map[int8]*Volume{}
	for i, l := range p.locations {
		if n := len(f.Ranks); n == 0 || f.Ranks[n-1].Rank != l.Rank {
			f.Ranks = append(f.Ranks, RankRow{Rank: l.Rank})
		}
		rank := &f.Ranks[len(f.Ranks)-1].Volume
		for _, k := range sorted(p.tallies[i].sums) {
			s := p.tallies[i].sums[k]
			v := Volume{Calls: s.calls, Seconds: float64(s.ns) / 1e9, Bytes: s.bytes}
			if k.class == unsized {
				v.Unsized = s.calls
			}
			rank.add(v)
			at(total, k).add(v)
		}
	}
	cells := make(map[Cell]*Volume, len(total))
	site, siteName := uint32(0), ""
	for _, k := range sorted(total) {
		if k.site != site { // a program that makes ever new communicators has many keys per site
			site, siteName = k.site, p.site(k.site)
		}
		v, name := total[k], p.communicator(k.comm)
		function := p.function(k.function)
		at(cells, Cell{Function: function, CallSite: siteName, Communicator: name, SizeClass: className(k.class)}).add(*v)
		at(functions, function).add(*v)
		at(classes, k.class).add(*v)
		if name != "" {
			at(communicators, name).add(*v)
		}
	}
	for c, v := range cells {
		c.Volume = *v
		f.Cells = append(f.Cells, c)
	}
	slices.SortFunc(f.Cells, func(a, b Cell) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Function, b.Function), cmp.Compare(a.CallSite, b.CallSite),
			cmp.Compare(a.Communicator, b.Communicator), cmp.Compare(a.SizeClass, b.SizeClass))
	})
	f.CellsOmitted = max(0, len(f.Cells)-maxCells)
	f.Cells = f.Cells[:len(f.Cells)-f.CellsOmitted]
	f.Functions, f.Communicators, f.SizeClasses = rows(functions), rows(communicators), sizeRows(classes)
	f.Communicators = f.Communicators[:min(len(f.Communicators), maxCommunicators)]
	f.Layouts = p.layouts()
	traffic, err := p.traffic()
	if err != nil {
		return f, fmt.Errorf("communication matrix: %w", err)
	}
	f.Matrix = tiles(traffic, p.trace.Meta().WorldSize)
	return f, nil
}

// layouts returns the derived datatypes of all call sites.
func (p *Profile) layouts() map[CallSite]Layout {
	all := map[CallSite]Layout{}
	for i := range p.tallies {
		for k, l := range p.tallies[i].layouts {
			at := CallSite{p.function(k.function), p.site(k.site)}
			sum := all[at]
			sum.Add(*l)
			all[at] = sum
		}
	}
	return all
}

// sorted returns the keys in a fixed order, so that sums are reproducible.
func sorted[V any](m map[key]V) []key {
	return slices.SortedFunc(maps.Keys(m), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.site, b.site), cmp.Compare(a.comm, b.comm), cmp.Compare(a.class, b.class))
	})
}

func at[K comparable](m map[K]*Volume, k K) *Volume {
	v := m[k]
	if v == nil {
		v = new(Volume)
		m[k] = v
	}
	return v
}

func (v *Volume) add(o Volume) {
	v.Calls += o.Calls
	v.Seconds += o.Seconds
	v.Bytes += o.Bytes
	v.Unsized += o.Unsized
}

func rows(m map[string]*Volume) []Row {
	list := make([]Row, 0, len(m))
	for name, v := range m {
		list = append(list, Row{name, *v})
	}
	slices.SortFunc(list, func(a, b Row) int {
		return cmp.Or(-cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Name, b.Name))
	})
	return list
}

func sizeRows(m map[int8]*Volume) []SizeRow {
	list := make([]SizeRow, 0, len(m))
	for class, v := range m {
		r := SizeRow{Name: className(class), Volume: *v}
		if class > 0 {
			r.From, r.To = 1<<(class-1), 1<<class-1
		}
		list = append(list, r)
	}
	rank := func(r SizeRow) int {
		switch r.Name {
		case "":
			return 2
		case unsizedName:
			return 1
		}
		return 0
	}
	slices.SortFunc(list, func(a, b SizeRow) int { return cmp.Or(rank(a)-rank(b), cmp.Compare(a.To, b.To)) })
	return list
}

const unsizedName = "not known"

func className(class int8) string {
	switch {
	case class == noSize:
		return ""
	case class == unsized:
		return unsizedName
	case class <= 1:
		return words(uint64(class))
	case class > 10:
		return words(1<<(class-1)) + " to below " + words(1<<class)
	}
	return words(1<<(class-1)) + " – " + words(1<<class-1)
}

// words formats a number of bytes.
func words(n uint64) string {
	for _, unit := range []struct {
		name  string
		shift uint
	}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<unit.shift {
			return fmt.Sprintf("%d %s", n>>unit.shift, unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

func (p *Profile) function(id uint16) string {
	if f := p.trace.Function(id); f != nil {
		return f.Name
	}
	return fmt.Sprintf("function %d", id)
}

func (p *Profile) site(n uint32) string {
	if sites := p.trace.Sites(); n > 0 && int(n) <= len(sites) {
		return callsite.Name(&sites[n-1])
	}
	return ""
}

func (p *Profile) communicator(i int32) string {
	all := p.trace.Communicators()
	if i < 0 || int(i) >= len(all) {
		return ""
	}
	if all[i].Label != "" {
		return all[i].Label
	}
	return all[i].GlobalName
}

// tiles reduces the matrix to at most maxTiles × maxTiles cells, and fewer if most of them have
// traffic.
func tiles(traffic []traffic.Pair, size int) Matrix {
	m := Matrix{Ranks: size, Tile: max(1, (size+maxTiles-1)/maxTiles), Cells: []Tile{}}
	sums := map[[2]int]*Tile{}
	add := func(from, to int, calls, bytes uint64) {
		k := [2]int{from, to}
		if sums[k] == nil {
			sums[k] = &Tile{From: from, To: to}
		}
		sums[k].Calls += calls
		sums[k].Bytes += bytes
	}
	for _, one := range traffic {
		if one.Source < 0 || one.Dest < 0 || one.Source >= size || one.Dest >= size {
			m.Unknown += one.Messages
			continue
		}
		add(one.Source/m.Tile, one.Dest/m.Tile, one.Messages, one.Bytes)
	}
	for len(sums) > maxMatrixCells {
		finer := sums
		sums = make(map[[2]int]*Tile, len(finer)/2)
		m.Tile *= 2
		for _, c := range finer {
			add(c.From/2, c.To/2, c.Calls, c.Bytes)
		}
	}
	for _, tile := range sums {
		m.Cells = append(m.Cells, *tile)
	}
	slices.SortFunc(m.Cells, func(a, b Tile) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	return m
}
