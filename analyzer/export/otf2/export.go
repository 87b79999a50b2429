package otf2

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/trace"
)

// Options select what is written.
type Options struct {
	// From and To are times since the run began. A call is written if it overlaps the range. A To
	// of 0 means the end.
	From, To time.Duration
	// Ranks to write; empty: all.
	Ranks []int
	// Clock is the run's clock map; nil: it is computed.
	Clock *clock.Map
	// Creator is the name and version of the writing program.
	Creator string
}

// A Summary counts what was written.
type Summary struct {
	Calls       uint64
	Events      uint64 // of all kinds
	Messages    uint64
	Collectives uint64 // participations of ranks
	Accesses    uint64 // to memory of other ranks
	Files       uint64 // reads and writes
	// OfLeads is the number of calls with extrapolated times, Summed the number of those for which
	// only sums of times are known.
	OfLeads, Summed uint64
	// LeftOut is the number of ends of messages, and of participations in collectives, without
	// their other side: it was not selected, or does not exist.
	LeftOut uint64
	causality.Repairs
}

// Write writes a trace. The trace must have the times of single calls.
func Write(ctx context.Context, a Archive, t timeline.Trace, o Options) (Summary, error) {
	if err := timeline.NeedTimes(t, "an OTF2 archive"); err != nil {
		return Summary{}, err
	}
	if o.Clock == nil {
		var err error
		if o.Clock, err = clock.Analyze(ctx, t); err != nil {
			return Summary{}, err
		}
	}
	e := newExport(t, a, o)
	if err := e.pair(ctx); err != nil {
		return Summary{}, err
	}
	e.defineRanks()
	ctx, _, end := passes.Begin(ctx, "writing calls", "calls", timeline.CallsWithin(t, o.Clock.Clocks))
	defer end()
	for first := 0; first < len(e.locations); {
		after := first + 1
		for after < len(e.locations) && e.locations[after].Main == first {
			after++
		}
		if err := e.process(ctx, first, after); err != nil {
			return e.summary, err
		}
		first = after
	}
	for location := len(e.locations); location < len(e.defined.Locations); location++ {
		if err := e.noEvents(uint64(location)); err != nil {
			return e.summary, err
		}
	}
	e.define()
	return e.summary, a.Close(&e.defined)
}

// export is the state of one Write.
type export struct {
	trace     timeline.Trace
	archive   Archive
	options   Options
	locations []timeline.Location
	chosen    []bool       // by location
	ranks     map[int]bool // ranks to write
	present   int          // the rank whose calls are being written
	start     int64        // of the run, on the common clock
	from, to  int64

	correction *causality.Correction
	leftOut    map[slot]struct{}

	plans   map[uint16]*plan
	strings table
	defined Definitions
	paths   paths
	machine uint32            // the node that is the whole system
	comms   []uint32          // by communicator of the trace
	members map[member]uint64 // index into the group of all ranks
	parents map[int]int
	windows map[creation]uint32
	handles map[creation]uint32
	files   map[string]uint32
	summary Summary
}

func newExport(t timeline.Trace, a Archive, o Options) *export {
	e := &export{
		trace: t, archive: a, options: o, locations: timeline.Locations(t), ranks: map[int]bool{}, start: math.MaxInt64,
		leftOut: map[slot]struct{}{}, plans: map[uint16]*plan{}, parents: map[int]int{},
		members: map[member]uint64{}, windows: map[creation]uint32{}, handles: map[creation]uint32{}, files: map[string]uint32{},
	}
	for _, r := range o.Ranks {
		e.ranks[r] = true
	}
	e.chosen = make([]bool, len(e.locations))
	for i, l := range e.locations {
		e.chosen[i] = len(o.Ranks) == 0 || e.ranks[l.Rank]
		begin, _ := t.Span(i)
		e.start = min(e.start, o.Clock.Clocks.Time(l.Row, begin))
	}
	if len(o.Ranks) == 0 {
		for _, l := range e.locations {
			e.ranks[l.Rank] = true
		}
	}
	e.from, e.to = math.MinInt64, math.MaxInt64
	if o.From > 0 {
		e.from = e.start + o.From.Nanoseconds()
	}
	if o.To > 0 {
		e.to = e.start + o.To.Nanoseconds()
	}
	e.paths = newPaths(e)
	e.defined.FirstNS = math.MaxUint64
	for _, c := range t.Coarse() {
		if e.ranks[c.Rank] {
			e.summary.Summed += c.To - c.From
		}
	}
	return e
}

// within reports whether a call is in the time range.
func (e *export) within(enter, exit int64) bool { return exit >= e.from && enter < e.to }

// pair is the first pass.
func (e *export) pair(ctx context.Context) error {
	p := newPairing(e)
	if _, err := match.All(ctx, e.trace, e.options.Clock.Clocks, p, p.See); err != nil {
		return err
	}
	e.correction = p.finish()
	e.summary.Repairs = e.correction.Repairs
	return nil
}

// Text returns the summary as a line.
func (s *Summary) Text() string {
	text := fmt.Sprintf("%d calls, %d messages, %d collective, %d one-sided and %d file operations in %d events", s.Calls,
		s.Messages, s.Collectives, s.Accesses, s.Files, s.Events)
	if s.LeftOut > 0 {
		text += fmt.Sprintf("; %d message ends and parts of collectives are left out because the other side is not exported", s.LeftOut)
	}
	if note := s.Extrapolated(); note != "" {
		text += "; " + note
	}
	return text + "; " + s.Repairs.Text()
}

// count counts a call.
func (s *Summary) count(e *trace.Event) {
	s.Calls++
	if e.TimesOf != e.Rank {
		s.OfLeads++
	}
}

// Extrapolated describes the calls without times of their own, "" if there are none.
func (s *Summary) Extrapolated() string {
	switch {
	case s.OfLeads > 0 && s.Summed > 0:
		return fmt.Sprintf("%d calls have the times of lead ranks; for %d calls only sums of times are known, which are spread evenly", s.OfLeads, s.Summed)
	case s.OfLeads > 0:
		return fmt.Sprintf("%d calls have the times of lead ranks", s.OfLeads)
	case s.Summed > 0:
		return fmt.Sprintf("for %d calls only sums of times are known, which are spread evenly", s.Summed)
	}
	return ""
}
