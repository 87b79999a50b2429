package otf2

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A process is a rank whose calls are being written, with its live objects.
type process struct {
	*export
	lines     []*line
	requests  map[int64]*request
	messages  map[int64]taken // messages taken by a matched probe
	datatypes datatypes.Table
	windows   map[int64]*window
	files     map[int64]*file
	created   map[creation]int // number of windows or files created on a communicator so far
	ids       uint64           // number of requests and operations so far
}

// A line is a thread of a process.
type line struct {
	location int
	cursor   timeline.Cursor
	times    *causality.Times
	// The next call, with its times on the common clock; nil: none.
	event       *trace.Event
	enter, exit int64

	events Events
	count  uint64
	now    uint64   // the time of the last event
	begun  bool     // there are events
	open   []opened // MPI calls that are not left yet, the innermost last
	tail   []Event  // to be written where they are left
	path   []frame  // functions that are not left yet
	site   uint32   // the call site of path

	// Of the current call.
	shown bool
	nth   uint16 // like posting.nth
	at    uint64 // time of its enter
	call  uint64 // its index
}

// An opened call has not been left yet.
type opened struct {
	call   uint64 // its index
	leave  uint64
	error  int64 // its maximum error, in ns
	region uint32
	tail   int // start of its part of line.tail
}

// process writes the calls of a rank, with the locations [first, after).
func (e *export) process(ctx context.Context, first, after int) (err error) {
	e.present = e.locations[first].Rank
	p := &process{
		export: e, requests: map[int64]*request{}, messages: map[int64]taken{}, windows: map[int64]*window{},
		files: map[int64]*file{}, created: map[creation]int{},
	}
	for location := first; location < after; location++ {
		events, err := e.archive.Open(uint64(location))
		if err != nil {
			return err
		}
		defer func() {
			if closed := events.Close(); err == nil {
				err = closed
			}
		}()
		l := &line{location: location, events: events}
		p.lines = append(p.lines, l)
		if !e.chosen[location] {
			continue
		}
		if l.cursor, err = e.trace.Calls(e.locations[location].Rank, e.locations[location].Thread); err != nil {
			return p.at(l, err)
		}
		l.times = e.correction.Of(location)
		if err := p.next(l); err != nil {
			return err
		}
	}
	if err := p.run(ctx); err != nil {
		return err
	}
	for i, l := range p.lines {
		if err := p.end(l); err != nil {
			return err
		}
		e.defined.Locations[first+i].Events = l.count
		e.summary.Events += l.count
	}
	return nil
}

// run processes the calls of all threads in order of enter.
func (p *process) run(ctx context.Context) error {
	const chunk = 1 << 14
	pass := passes.Of(ctx)
	for n := 1; ; n++ {
		if n%chunk == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			pass.Add(chunk)
		}
		var turn *line
		for _, l := range p.lines {
			if l.event != nil && (turn == nil || l.enter < turn.enter) {
				turn = l
			}
		}
		if turn == nil {
			pass.Add(n % chunk)
			return nil
		}
		if err := p.take(turn); err != nil {
			return p.at(turn, err)
		}
		if err := p.next(turn); err != nil {
			return err
		}
	}
}

func (p *process) at(l *line, err error) error {
	return fmt.Errorf("rank %d, thread %d: %w", p.locations[l.location].Rank, p.locations[l.location].Thread, err)
}

// next reads the next call of a thread.
func (p *process) next(l *line) error {
	l.event = nil
	if !l.cursor.Next() {
		if err := l.cursor.Err(); err != nil {
			return p.at(l, err)
		}
		return nil
	}
	l.event = l.cursor.Event()
	clocks, row := p.options.Clock.Clocks, p.locations[l.location].Row
	l.enter = clocks.Time(row, l.event.Enter)
	l.exit = max(l.enter, clocks.Time(row, l.event.Exit))
	return nil
}

// since returns a time in the archive.
func (e *export) since(t int64) uint64 { return uint64(max(0, t-e.start)) }

// take writes the next call of a thread.
func (p *process) take(l *line) error {
	e := l.event
	enter := p.since(l.times.Enter(l.enter))
	leave := max(enter, p.since(l.times.Exit(e.Index, l.exit)))
	l.shown, l.nth, l.call = p.within(l.enter, l.exit), 0, e.Index
	if err := p.leaveUntil(l, enter); err != nil {
		return err
	}
	l.at = max(enter, l.now)
	plan := p.planOf(e)
	if l.shown {
		if err := p.enterCall(l, plan); err != nil {
			return err
		}
	}
	from := len(l.tail)
	if err := p.effects(l, plan); err != nil {
		return err
	}
	if l.shown {
		leave = max(leave, l.at)
		if n := len(l.open); n > 0 {
			leave = min(leave, max(l.at, l.open[n-1].leave)) // a call within another one
		}
		l.open = append(l.open, opened{l.call, leave, e.ExitError, plan.region, from})
		p.summary.count(e)
	}
	return nil
}

// enterCall writes the enter of the call and of its calling functions.
func (p *process) enterCall(l *line, plan *plan) error {
	e := l.event
	if !l.begun {
		l.begun = true
		if err := p.write(l, l.at, &Event{Kind: ProgramBegin, Object: p.programOf(l)}); err != nil {
			return err
		}
	} else if e.Signature.Untraced && len(l.open) == 0 {
		if err := p.write(l, l.now, &Event{Kind: MeasurementOff}); err != nil {
			return err
		}
		if err := p.write(l, l.at, &Event{Kind: MeasurementOn}); err != nil {
			return err
		}
	}
	if len(l.open) == 0 {
		if err := p.follow(l); err != nil {
			return err
		}
	}
	site := uint32(Undefined)
	if e.Site != nil {
		site = p.paths.nameOf(e.Signature.Site, func() string { return callsite.Name(e.Site) })
	}
	return p.write(l, l.at, &Event{Kind: Enter, Object: plan.region, Site: site})
}

// programOf returns the program that a thread runs, that of its process's first thread.
func (p *process) programOf(l *line) uint32 {
	return p.strings.of(p.trace.Ranks().At(p.locations[l.location].Row).Executable)
}

// write writes an event. Time never goes backward.
func (p *process) write(l *line, at uint64, e *Event) error {
	if at < l.now {
		at = l.now
	}
	l.now, e.Time = at, at
	l.count++
	p.defined.FirstNS, p.defined.LengthNS = min(p.defined.FirstNS, at), max(p.defined.LengthNS, at)
	return l.events.Write(e)
}

// begin writes an event at the enter of the current call.
func (p *process) begin(l *line, e Event) error {
	if !l.shown {
		return nil
	}
	return p.write(l, l.at, &e)
}

// endWith schedules an event for the leave of the current call.
func (l *line) endWith(e Event) {
	if l.shown {
		l.tail = append(l.tail, e)
	}
}

// over reports whether a call is left by the time at which the current one is entered. A call made
// by a callback directly follows the enclosing call, and begins before that one's end however times
// are rounded; with rounding this may appear so for later calls, too.
func (l *line) over(o *opened, until uint64) bool {
	if o.leave <= until {
		return true
	}
	return l.call > o.call+1 && o.leave-until <= uint64(o.error+l.event.EnterError)
}

// leaveUntil writes the leaves of calls up to a time.
func (p *process) leaveUntil(l *line, until uint64) error {
	for n := len(l.open); n > 0 && l.over(&l.open[n-1], until); n = len(l.open) {
		top := l.open[n-1]
		top.leave = min(top.leave, until)
		l.open = l.open[:n-1]
		for i := top.tail; i < len(l.tail); i++ {
			if err := p.write(l, top.leave, &l.tail[i]); err != nil {
				return err
			}
		}
		l.tail = l.tail[:top.tail]
		if err := p.write(l, top.leave, &Event{Kind: Leave, Object: top.region}); err != nil {
			return err
		}
	}
	return nil
}

// end writes the end of a thread.
func (p *process) end(l *line) error {
	if err := p.leaveUntil(l, math.MaxUint64); err != nil || !l.begun {
		return err
	}
	if err := p.leavePath(l, 0); err != nil {
		return err
	}
	return p.write(l, l.now, &Event{Kind: ProgramEnd})
}

// in and out return arguments of the current call, or the zero Value.
func (l *line) in(role semantics.Role) *trace.Value {
	return argument(l.event.In, l.event.Semantics.In[role])
}

func (l *line) out(role semantics.Role) *trace.Value {
	return argument(l.event.Out, l.event.Semantics.Out[role])
}

var noValue trace.Value

func argument(values []trace.Value, at int8) *trace.Value {
	if at < 0 || int(at) >= len(values) {
		return &noValue
	}
	return &values[at]
}

// id returns the next number of a request or operation.
func (p *process) id() uint64 {
	p.ids++
	return p.ids
}
