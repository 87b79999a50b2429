package trace

import (
	"errors"

	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A trace of leads (Chameleon: Bahmani and Mueller, IPDPS 2018) has the value streams and the
// timing of a few threads only. Content.Leads has the lead of each thread. A reader shows all
// threads: the others make their lead's calls at its times, with peers transposed. A peer that is
// relative to the caller's rank needs no change. A peer that was recorded rank by rank is moved by
// the distance between the two ranks. All other arguments are the lead's.

var errLeads = errors.New("the list of leads is damaged")

// ErrLeads is the error of reading a trace of leads in order to write it again.
var ErrLeads = errors.New("trace: this is a trace of lead ranks, which cannot be merged or changed; use the one that it was made from")

// OfLeads reports whether this is a trace of lead ranks: other ranks have the times of their leads.
func (t *Reader) OfLeads() bool { return len(t.shared.Leads) > 0 }

// Leads returns the ranks with times of their own in a trace of lead ranks. It is nil in other
// traces.
func (t *Reader) Leads() []int {
	var ranks []int
	numbers := t.shared.Threads.Ranks().Lookup()
	for i, lead := range t.shared.Leads {
		if rank := int(numbers(i)); i == lead && (len(ranks) == 0 || ranks[len(ranks)-1] != rank) {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// leads reads the list of leads.
func (d *decoder) leads(c *Content) {
	list := d.Sequence()
	if d.Err == nil && len(list) != c.Threads.Len() {
		d.Fail(errLeads)
		return
	}
	if !d.Budget.Take(int64(len(list)) * 8) {
		d.Fail(codec.ErrMemory)
		return
	}
	for _, lead := range list {
		if lead < 0 || lead >= int64(len(list)) || list[lead] != lead {
			d.Fail(errLeads)
			return
		}
		c.Leads = append(c.Leads, int(lead))
	}
}

// extrapolation copies to every thread what its lead has.
func (t *Reader) extrapolation() {
	c := &t.shared
	if len(c.Leads) == 0 {
		return
	}
	row := c.Threads.Lookup()
	var threads ThreadTable
	var timed codec.Numbers
	for i, lead := range c.Leads {
		own, th := row(i), row(lead)
		th.Rank, th.Thread = own.Rank, own.Thread
		threads.Append(th)
		timed.Push(t.timed.At(lead))
	}
	c.Threads, t.timed = threads, timed
}

// timingRow returns the thread that has the timing of a thread.
func (c *Content) timingRow(thread int) int {
	if len(c.Leads) == 0 {
		return thread
	}
	return c.Leads[thread]
}

// transpose sets the distance by which recorded peers of a lead are moved in the current call of
// another thread.
func (c *Cursor) transpose(own int) {
	c.environment.moved, c.environment.members = 0, 0
	if len(c.shared.Leads) == 0 || c.shared.Leads[c.number] == c.number {
		return
	}
	lead := c.shared.rank(c.shared.Threads.At(c.shared.Leads[c.number]).Rank)
	comm := c.event.Comm
	if comm < 0 {
		c.environment.moved, c.environment.members = int64(c.thread.Rank-lead.Rank), int64(c.shared.Meta.WorldSize)
		return
	}
	for k, instance := range c.rank.CommunicatorsOwn {
		if int(instance) != comm || k >= len(lead.CommunicatorsOwn) {
			continue
		}
		theirs := c.shared.Communicators[lead.CommunicatorsOwn[k]].Members.Index(lead.Rank)
		if theirs >= 0 && own >= 0 {
			c.environment.moved, c.environment.members = int64(own-theirs), int64(c.shared.Communicators[comm].Members.Len())
		}
		return
	}
}

// recordedPerRank reports whether an elastic value is recorded for each rank, in a column or as a
// number among cases: it is not a function of the rank.
func (p *environment) recordedPerRank(v Value) bool {
	if v.Form == Elastic && Operator(v.Int) == Cases && len(v.List) > 1 {
		if x, err := p.column(v.List[0].Int); err == nil && x >= 0 && x < int64(len(v.List)-1) {
			v = v.List[1+x]
		}
		return v.Form == Int || v.Form == Column
	}
	return v.Form == Column
}

var errExtrapolated = errors.New("the times of a rank are extrapolated from a lead rank whose own times are extrapolated, too")

// extrapolating is the position of a cursor in the intervals of its thread whose times are
// extrapolated.
type extrapolating struct {
	extrapolations
	loaded          bool
	start           int64   // tick at which the interval begins, plus the tracer overhead in it so far
	gaps, durations []int64 // of the remaining calls of the interval
	booked          int64
	timesOf         int
	leads           map[int]*Cursor // cursors over the leads, by thread
	// passing: this cursor reads the times of a lead for another cursor, and only differences
	// count. It skips extrapolated intervals, without times.
	passing bool
}

// restart prepares for a cursor that moves to another call than the next one.
func (s *extrapolating) restart(t *Thread, m *codec.Budget) {
	s.leave(m)
	s.extrapolations = t.extrapolations()
}

// leave releases the times of an interval.
func (s *extrapolating) leave(m *codec.Budget) {
	m.Give(s.booked)
	s.loaded, s.gaps, s.durations, s.booked = false, nil, nil, 0
}

// end releases all memory.
func (s *extrapolating) end(m *codec.Budget) {
	s.leave(m)
	for _, lead := range s.leads {
		lead.releasePart()
	}
	s.leads = nil
}

// isExtrapolated reports whether the times of the next call are extrapolated from a lead rank.
func (c *Cursor) isExtrapolated() bool {
	s := &c.extrapolating
	if s.loaded && c.next >= s.to {
		s.leave(c.source.memory())
	}
	return s.at(c.next)
}

// extrapolated returns the timing of the next call, whose times are extrapolated.
func (c *Cursor) extrapolated() (gap, duration int64, err error) {
	s := &c.extrapolating
	if s.passing {
		s.timesOf = -1
		return 0, 0, nil
	}
	if !s.loaded {
		if err := c.loadExtrapolation(); err != nil {
			return 0, 0, err
		}
	}
	gap, duration = s.gaps[0], s.durations[0]
	s.gaps, s.durations = s.gaps[1:], s.durations[1:]
	return gap, duration, nil
}

// loadExtrapolation computes the times of an interval: the lead's, scaled so that computation and
// calls take as long in total as on this thread. If the lead is not in the trace the calls are
// spread evenly. The cursor's clock must be at the beginning of the interval.
func (c *Cursor) loadExtrapolation() error {
	s := &c.extrapolating
	in := s.current()
	n := s.to - s.from
	if !c.source.memory().Take(int64(n) * 16) {
		return codec.ErrMemory
	}
	s.booked = int64(n) * 16
	s.gaps, s.durations, s.timesOf = make([]int64, n), make([]int64, n), -1
	lead, err := c.leadOf(in, n)
	if err != nil {
		return err
	}
	if lead == nil {
		for i := range s.gaps {
			s.gaps[i], s.durations[i] = 1, 1
		}
	} else {
		s.timesOf = in.Lead
		if err := lead.timesOf(s.gaps, s.durations); err != nil {
			return err
		}
	}
	if !spread(s.gaps, in.Gap) || !spread(s.durations, in.Duration) {
		return timing.ErrDamaged
	}
	s.start = c.ticks
	for range c.next - s.from {
		c.ticks += s.gaps[0] + s.durations[0]
		s.gaps, s.durations = s.gaps[1:], s.durations[1:]
	}
	s.loaded = true
	return nil
}

// leadOf returns a cursor at the first call of the interval on the lead; nil if the trace does not
// have its times.
func (c *Cursor) leadOf(in *Extrapolation, calls uint64) (*Cursor, error) {
	i := c.shared.thread(in.Lead, c.thread.Thread)
	if i < 0 {
		return nil, nil
	}
	where := c.shared.Threads.At(i)
	from, to, ok := where.interval(in.Vote)
	if !ok || to-from != calls {
		return nil, nil
	}
	lead := c.extrapolating.leads[i]
	if lead == nil {
		if !c.source.hasTimes(i) {
			return nil, nil
		}
		lead = newCursor(c.shared, c.plans, i, c.source.sibling(i))
		lead.extrapolating.passing, lead.lengths = true, c.lengths
		if c.extrapolating.leads == nil {
			c.extrapolating.leads = map[int]*Cursor{}
		}
		c.extrapolating.leads[i] = lead
		lead.next = from + 1 // so that it has to seek
	}
	if lead.next != from && !lead.seekTimes(from) {
		return nil, lead.err
	}
	return lead, nil
}

// seekTimes is Seek for a cursor that reads only times.
func (c *Cursor) seekTimes(index uint64) bool {
	if c.lengths == nil {
		if c.lengths, c.err = c.shared.Grammar.Lengths(); c.err != nil {
			return false
		}
	}
	c.walk, _ = c.shared.Grammar.Seek(c.thread.Root, index, c.lengths)
	return c.seekTime(index)
}

// timesOf reads the times of the next calls.
func (c *Cursor) timesOf(gaps, durations []int64) error {
	for i := range gaps {
		before := c.ticks
		terminal, ok := c.walk.Next()
		if !ok {
			return timing.ErrDamaged
		}
		if !c.time(terminal) {
			return c.err
		}
		if c.event.TimesOf != c.thread.Rank {
			return errExtrapolated
		}
		gaps[i], durations[i] = c.event.EnterTicks-before-c.event.OverheadTicks, c.event.ExitTicks-c.event.EnterTicks
		c.next++
	}
	return nil
}
