package trace

import (
	"github.com/cairn-mpi/cairn/trace/codec"
)

// A Pressure is what the kernel counted for the cgroup of a rank, in a container that of the
// container, from the start of tracing to the last reading; Unknown where it has no such counter.
// Ranks of one cgroup have the same pressure.
type Pressure struct {
	// MemoryNS and IONS are the times for which at least one thread of the cgroup waited for memory
	// (because pages had to be freed or read again) or for disks.
	MemoryNS, IONS int64
	// MemoryLimitHits is how often the nearest memory limit was reached, so that pages had to be
	// freed.
	MemoryLimitHits int64
}

// A TCPUsage is what the kernel counted for the TCP connections that a rank has open, since each of
// them began.
type TCPUsage struct {
	Segments    int64 // that were sent with data
	Retransmits int64 // of these, because they were lost or arrived late
}

// The columns of pressures: what the kernel counted for others than the rank's threads, but on its
// account.
const (
	pressureMemory = iota
	pressureIO
	pressureHits
	pressureSegments
	pressureRetransmits
	pressureColumns
)

var pressureLimits = [pressureColumns]int64{
	codec.MaxRoundedNS, codec.MaxRoundedNS, codec.MaxRounded, codec.MaxRounded, codec.MaxRounded,
}

// A pressureTable has a row for each rank of which one of its columns is known.
type pressureTable struct{ codec.Ragged }

// append adds a rank.
func (t *pressureTable) append(r *Rank) {
	p, c := Pressure{Unknown, Unknown, Unknown}, TCPUsage{Unknown, Unknown}
	if r.Pressure != nil {
		p = *r.Pressure
	}
	if r.TCP != nil {
		c = *r.TCP
	}
	row := [pressureColumns]int64{
		codec.RoundedNSCode(p.MemoryNS), codec.RoundedNSCode(p.IONS), codec.RoundedCode(p.MemoryLimitHits),
		codec.RoundedCode(c.Segments), codec.RoundedCode(c.Retransmits),
	}
	if r.Pressure != nil || r.TCP != nil {
		t.Add(pressureColumns, row[:]...)
	}
	t.End(pressureColumns)
}

// lookup returns a function that completes the rank in a row.
func (t *pressureTable) lookup() func(i int, r *Rank) {
	l := t.Lookup()
	return func(i int, r *Rank) {
		from, to := l.Rows(i)
		if from == to {
			return
		}
		p := Pressure{
			codec.UnroundedNS(l.At(pressureMemory, from)), codec.UnroundedNS(l.At(pressureIO, from)),
			codec.Unrounded(l.At(pressureHits, from)),
		}
		if p != (Pressure{Unknown, Unknown, Unknown}) {
			r.Pressure = &p
		}
		c := TCPUsage{codec.Unrounded(l.At(pressureSegments, from)), codec.Unrounded(l.At(pressureRetransmits, from))}
		if c != (TCPUsage{Unknown, Unknown}) {
			r.TCP = &c
		}
	}
}

// appendPressures writes the pressure of ranks: the number of rows of each rank (0 or 1), then the
// rows.
func appendPressures(t *RankTable) []byte {
	s := newSection()
	s.Sequence(t.pressures.Counts())
	if t.pressures.N > 0 {
		s.measuredFrom(&t.pressures.Ragged, 0, codec.GroupRows(make([]int64, t.pressures.N)))
	}
	return s.Body
}

// pressures reads what appendPressures wrote.
func (d *decoder) pressures(c *Content) {
	t := pressureTable{d.RaggedCounts(c.Ranks.Len(), pressureColumns)}
	if t.N > 0 {
		alike := d.Grouping(t.N, func() []int64 { return make([]int64, t.N) })
		for k, limit := range pressureLimits {
			t.Columns[k] = d.Measured(alike, Unknown, limit+1)
		}
	}
	if d.Err == nil {
		c.Ranks.pressures = t
	}
}
