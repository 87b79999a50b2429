package trace

import (
	"errors"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A trace of leads (Chameleon: Bahmani and Mueller, IPDPS 2018) has the value streams and the timing of a few threads
// only. Content.Leads says which of them stands for each thread. A reader shows all threads all the same: those that a
// lead stands for make its calls at its times, with peers transposed: what is relative to the caller's rank is so by
// itself; a peer that was written down rank by rank is moved by the distance between the two ranks. All other arguments
// are the lead's.

var errLeads = errors.New("the list of leads is damaged")

// ErrLeads is the error of reading a trace of leads in order to write it again.
var ErrLeads = errors.New("trace: this is a trace of lead ranks, which cannot be merged or changed; use the one that it was made from")

// OfLeads reports whether this is a trace of lead ranks: the times of others are those of their leads.
func (t *Reader) OfLeads() bool { return len(t.shared.Leads) > 0 }

// Leads are the ranks that have times of their own in a trace of lead ranks; nil in others, where all have.
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

// standIn gives every thread what its lead has.
func (t *Reader) standIn() {
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

// timingRow is the thread whose timing is a thread's.
func (c *Content) timingRow(thread int) int {
	if len(c.Leads) == 0 {
		return thread
	}
	return c.Leads[thread]
}

// transpose sets how far peers that a lead has written down are to be moved in the current call of a thread that the lead
// stands for.
func (c *Cursor) transpose(own int) {
	c.place.moved, c.place.members = 0, 0
	if len(c.shared.Leads) == 0 || c.shared.Leads[c.number] == c.number {
		return
	}
	lead := c.shared.rank(c.shared.Threads.At(c.shared.Leads[c.number]).Rank)
	comm := c.event.Comm
	if comm < 0 {
		c.place.moved, c.place.members = int64(c.thread.Rank-lead.Rank), int64(c.shared.Meta.WorldSize)
		return
	}
	for k, instance := range c.rank.CommunicatorsOwn {
		if int(instance) != comm || k >= len(lead.CommunicatorsOwn) {
			continue
		}
		theirs := c.shared.Communicators[lead.CommunicatorsOwn[k]].Members.Index(lead.Rank)
		if theirs >= 0 && own >= 0 {
			c.place.moved, c.place.members = int64(own-theirs), int64(c.shared.Communicators[comm].Members.Len())
		}
		return
	}
}

// writtenDown tells whether an elastic value stands in a column, or is a number among cases: not a function of the rank.
func (p *place) writtenDown(v Value) bool {
	if v.Form == Elastic && Operator(v.Int) == Cases && len(v.List) > 1 {
		if x, err := p.column(v.List[0].Int); err == nil && x >= 0 && x < int64(len(v.List)-1) {
			v = v.List[1+x]
		}
		return v.Form == Int || v.Form == Column
	}
	return v.Form == Column
}
