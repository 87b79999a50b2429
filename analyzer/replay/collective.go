package replay

import (
	"math/bits"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// A gathering is a collective operation that is being played.
type gathering struct {
	parts  []*moment // entries
	all    *moment   // the last of them; nil until asked for
	others *moment   // the last of all but the root
	upTo   []*moment // of a prefix operation: the last of parts 0 … i
}

// Entered implements match.Watcher.
func (p *player) Entered(c *match.Collective, part int) {
	g, _ := c.Tag.(*gathering)
	if g == nil {
		g = &gathering{parts: make([]*moment, len(c.Parts))}
		c.Tag = g
	}
	m := &moment{left: 1}
	g.parts[part] = m
	p.current.posts = append(p.current.posts, m)
}

// Collective implements match.Handler.
func (p *player) Collective(c *match.Collective, part int) {
	g := c.Tag.(*gathering)
	awaited := c.Awaited(part)
	if awaited < 0 || !c.Complete() || !c.Parts[awaited].Present() {
		return
	}
	done, at := c.Parts[part].Done, c.Parts[awaited].Post.Enter
	hops := int32(bits.Len(uint(len(c.Parts) - 1)))
	var on *moment
	switch c.Class {
	case match.Barrier, match.AllToAll, match.Startup, match.Shutdown:
		if g.all == nil {
			g.all = p.last(present(g.parts)...)
		}
		on = g.all
	case match.AllToOne:
		if g.others == nil {
			others := append([]*moment(nil), g.parts...)
			others[c.Root] = nil
			g.others = p.last(present(others)...)
		}
		on = g.others
	case match.Prefix:
		on = g.prefix(p, part)
	case match.OneToAll, match.Neighbor:
		on = g.parts[awaited]
		if c.Class == match.Neighbor {
			hops = 1
		}
	}
	if on != nil {
		depend(done, on, at, 0, hops)
	}
}

// prefix is the last entry of parts 0 … i.
func (g *gathering) prefix(p *player, i int) *moment {
	if g.upTo == nil {
		g.upTo = make([]*moment, len(g.parts))
		for k := range g.parts {
			switch {
			case k == 0:
				g.upTo[k] = g.parts[k]
			case g.parts[k] == nil:
				g.upTo[k] = g.upTo[k-1]
			case g.upTo[k-1] == nil:
				g.upTo[k] = g.parts[k]
			default:
				g.upTo[k] = p.last(g.upTo[k-1], g.parts[k])
			}
		}
	}
	return g.upTo[i]
}

func present(all []*moment) []*moment {
	there := make([]*moment, 0, len(all))
	for _, m := range all {
		if m != nil {
			there = append(there, m)
		}
	}
	return there
}

// rendezvous tells whether the send had to wait for the receive: by its mode, or because it is large and did.
func rendezvous(m *match.Message) bool {
	return waitstate.Rendezvous(m) && m.Send.Done.Exit > m.Receive.Post.Enter
}

func kindOf(class string) stepKind {
	first, _, _ := strings.Cut(class, " ")
	switch first {
	case "init":
		return initialization
	case "finalize":
		return finalization
	case "io", "file", "file-open", "file-close":
		return inputOutput
	}
	return ordinary
}
