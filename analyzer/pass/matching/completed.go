package matching

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/recent"
)

// Completed is the operations that the calls of a call site complete: their own, or those that
// other calls have started.
type Completed struct {
	Messages    uint64 // and accesses to the memory of other ranks
	Collectives uint64
	Files       uint64 // accesses to files that other calls have started
	Sized       uint64 // of all: those whose size is known (not that of a barrier),
	Bytes       uint64 // and the sum of their sizes; of a collective its largest buffer
	// Started is how many of all another call had started, and Ahead how long before the wait for
	// their completion, in total nanoseconds.
	Started uint64
	Ahead   int64
	// Starts are the call sites that had started them; of very many, some.
	Starts []eventlog.CallSite
}

// AreCollectives reports whether most of what is completed there is collectives.
func (c *Completed) AreCollectives() bool { return c.Collectives > c.Messages+c.Files }

// AreMessages reports whether most of what is completed there is messages.
func (c *Completed) AreMessages() bool { return c.Messages > c.Collectives+c.Files }

// AreFiles reports whether most of what is completed there is accesses to files.
func (c *Completed) AreFiles() bool { return c.Files > c.Messages+c.Collectives }

// AreStarted reports whether other calls have started most of what is completed there.
func (c *Completed) AreStarted() bool {
	return 2*c.Started > c.Messages+c.Collectives+c.Files
}

func (c *Completed) add(o Completed) {
	c.Messages, c.Collectives, c.Files = c.Messages+o.Messages, c.Collectives+o.Collectives, c.Files+o.Files
	c.Sized, c.Bytes, c.Started, c.Ahead = c.Sized+o.Sized, c.Bytes+o.Bytes, c.Started+o.Started, c.Ahead+o.Ahead
	for _, site := range o.Starts {
		c.startedAt(site)
	}
}

// maxStarts is the maximum number of call sites in Starts.
const maxStarts = 16

func (c *Completed) startedAt(site eventlog.CallSite) {
	if len(c.Starts) < maxStarts && !slices.Contains(c.Starts, site) {
		c.Starts = append(c.Starts, site)
	}
}

// MeanBytes returns the mean size, if any is known.
func (c *Completed) MeanBytes() (bytes float64, known bool) {
	return float64(c.Bytes) / float64(max(1, c.Sized)), c.Sized > 0
}

// MeanAhead returns how long before the wait for them the operations were started that other calls
// have started, in ns.
func (c *Completed) MeanAhead() float64 {
	return float64(c.Ahead) / float64(max(1, c.Started))
}

// completions is a match.Handler that counts what is completed, by call site.
type completions struct {
	window *timeline.Window // nil: the whole run
	sites  map[eventlog.CallSite]*Completed
	recent recent.Cache[eventlog.CallSite, Completed]
}

// take adds the accesses of a location.
func (c *completions) take(a *accesses) {
	for site, accesses := range a.sites {
		if c.sites[site] == nil {
			c.sites[site] = new(Completed)
		}
		c.sites[site].add(*accesses)
	}
}

func newCompletions() *completions {
	return &completions{sites: map[eventlog.CallSite]*Completed{}}
}

// Message implements match.Handler. Both ends of a message are completed; a probe leaves it.
func (c *completions) Message(m *match.Message) {
	if m.Kind == match.Data && !m.Receive.Probe {
		c.message(m.Send, m.Bytes)
		c.message(m.Receive, m.Bytes)
	}
}

func (c *completions) message(e *match.End, bytes int64) {
	if c.counts(e.Done) {
		c.at(&e.Post, e.Done, bytes).Messages++
	}
}

// Collective implements match.Handler. Fences and collective accesses to files complete accesses.
func (c *completions) Collective(of *match.Collective, part int) {
	p := &of.Parts[part]
	if of.Class == match.Fence || of.Class == match.File || !c.counts(p.Done) {
		return
	}
	bytes := p.Bytes
	if bytes == 0 {
		bytes = -1 // it has no data, or of an unknown size
	}
	c.at(&p.Post, p.Done, bytes).Collectives++
}

// counts reports whether something was completed in the window.
func (c *completions) counts(done *match.Completion) bool {
	return done != nil && (c.window == nil || done.Exit > c.window.From && done.Enter < c.window.To)
}

// Settled implements match.Handler.
func (c *completions) Settled(*match.Completion) {}

// at returns the sums of the call site that completes an operation, with its size (−1: unknown) and
// start added.
func (c *completions) at(post *match.Point, done *match.Completion, bytes int64) *Completed {
	site := eventlog.CallSite{Function: done.Function, Site: done.Site}
	at := c.recent.At(c.sites, site, uint32(site.Function)<<8^site.Site)
	if bytes >= 0 {
		at.Sized++
		at.Bytes += uint64(bytes)
	}
	if post.Function != done.Function || post.Enter != done.Enter {
		at.Started++
		at.Ahead += max(0, done.Begin-post.Exit)
		at.startedAt(eventlog.CallSite{Function: post.Function, Site: post.Site})
	}
	return at
}
