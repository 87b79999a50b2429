package causality

import "github.com/cairn-mpi/cairn/analyzer/match"

// A collectiveInstance is a collective operation in progress, with the times at which its
// participants entered it.
type collectiveInstance struct {
	number  uint64
	entered []*enterTime // by part; nil: unknown
	// Computed when needed: the latest enter in the first group, and in an intercommunicator's
	// second one; and the latest of parts 0 … i, for prefix operations.
	latest [2]*enterTime
	upTo   []*enterTime
}

func instanceOf(c *match.Collective) *collectiveInstance {
	g, is := c.Tag.(*collectiveInstance)
	if !is || g.number != c.Number {
		g = &collectiveInstance{number: c.Number, entered: make([]*enterTime, len(c.Parts))}
		c.Tag = g
	}
	return g
}

// Entered implements match.Watcher.
func (f *Finder) Entered(c *match.Collective, part int) {
	instanceOf(c).entered[part] = f.entered(c.Parts[part].Post.Location)
}

// Retired implements match.Watcher.
func (f *Finder) Retired(c *match.Collective) { c.Tag = nil }

// Collective implements match.Handler.
func (f *Finder) Collective(c *match.Collective, part int) {
	f.after(c.Parts[part].Done, f.causeOf(c, part))
}

// causeOf returns the enter that must precede the exit of a participant; nil: there is none.
func (f *Finder) causeOf(c *match.Collective, part int) *enterTime {
	g := instanceOf(c)
	switch c.Class {
	case match.Barrier, match.AllToAll:
		return f.latestOthers(c, g, part)
	case match.OneToAll:
		if c.Root >= 0 && c.Root != part {
			return g.entered[c.Root]
		}
	case match.AllToOne:
		if c.Root == part {
			return f.latestOthers(c, g, part)
		}
	case match.Prefix:
		return f.latestUpTo(g, part)
	case match.Neighbor:
		if cause := c.Awaited(part); cause >= 0 {
			return g.entered[cause]
		}
	case match.Startup, match.Shutdown, match.Fence, match.Window, match.File:
		// these need not wait for anyone
	}
	return nil
}

// latestOthers returns the last enter among those that a participant waits for: all, or the other
// group of an intercommunicator.
func (f *Finder) latestOthers(c *match.Collective, g *collectiveInstance, part int) *enterTime {
	first, second := g.entered, []*enterTime(nil)
	if c.Comm >= 0 && c.Comm < len(f.communicators) && f.communicators[c.Comm].Remote.Len() > 0 {
		n := min(f.communicators[c.Comm].Members.Len(), len(first))
		first, second = first[:n], first[n:]
	}
	if second == nil || part >= len(first) {
		return f.latest(&g.latest[0], first)
	}
	return f.latest(&g.latest[1], second)
}

// latest returns the latest of some enterTimes. It is computed once and stored in made.
func (f *Finder) latest(made **enterTime, of []*enterTime) *enterTime {
	if *made == nil {
		*made = f.join(of...)
	}
	return *made
}

// latestUpTo returns the latest enter of parts 0 … part.
func (f *Finder) latestUpTo(g *collectiveInstance, part int) *enterTime {
	for i := len(g.upTo); i <= part; i++ {
		if i == 0 {
			g.upTo = append(g.upTo, f.join(g.entered[0]))
		} else {
			g.upTo = append(g.upTo, f.join(g.upTo[i-1], g.entered[i]))
		}
	}
	return g.upTo[part]
}

// join returns an enterTime that is the latest of others.
func (f *Finder) join(of ...*enterTime) *enterTime {
	m := &enterTime{time: never, open: 1} // until all are counted
	for _, one := range of {
		switch {
		case one == nil:
		case one.open == 0:
			m.time = max(m.time, one.time)
		default:
			m.open++
			one.joins = append(one.joins, m)
		}
	}
	f.know(m, m.time)
	return m
}
