package predict

import (
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// A collectiveInstance is a collective operation that is being replayed.
type collectiveInstance struct {
	shape         *eventlog.Shape
	entered, left int      // number of parts so far
	all           *event   // the last one of all awaited entries; nil if that differs from part to part
	parts         []*event // otherwise the entries,
	upTo          []*event // and, for a prefix operation, the last of parts 0 … i
	bytes         int64    // of the largest buffer of awaited parts; if that differs from part to part
	own           []int64  // the size of each part
}

func (g *collectiveInstance) isNeighbor() bool { return g.shape.Class == match.Neighbor }

// collectiveInstance returns the operation with a number. The first participant that enters or
// leaves it creates it.
func (p *player) collectiveInstance(e *eventlog.Entry) *collectiveInstance {
	g := p.collectives[e.Number]
	if g != nil {
		return g
	}
	g = &collectiveInstance{shape: e.Shape}
	p.collectives[e.Number] = g
	switch s := e.Shape; s.Class {
	case match.Barrier, match.AllToAll, match.Startup, match.Shutdown, match.Fence, match.Window, match.File:
		g.all = &event{left: s.Expected}
	case match.AllToOne:
		g.all = &event{left: s.Expected - 1}
	case match.OneToAll:
		g.all = &event{left: 1}
	case match.Prefix, match.Neighbor:
		g.parts, g.own = make([]*event, s.Size), make([]int64, s.Size)
		for i := range g.parts {
			if !slices.Contains(s.Absent, i) {
				g.parts[i] = &event{left: 1}
			}
		}
	}
	return g
}

// gather records that a call enters an operation.
func (p *player) gather(s *step, e *eventlog.Entry) {
	g := p.collectiveInstance(e)
	g.entered++
	isRoot := e.Part == g.shape.Root
	if g.own != nil {
		g.own[e.Part] = e.Bytes
	} else if isRoot || g.shape.Class != match.OneToAll {
		g.bytes = max(g.bytes, e.Bytes)
	}
	switch {
	case g.all == nil:
		s.posts = append(s.posts, g.parts[e.Part])
	case g.shape.Class == match.AllToOne && isRoot || g.shape.Class == match.OneToAll && !isRoot:
	default:
		s.posts = append(s.posts, g.all)
	}
}

// gathered returns what a call needs of the operation that it leaves, and the operation; nil if
// nothing.
func (p *player) gathered(d *eventlog.Dependency) (on *event, g *collectiveInstance) {
	g = p.collectives[d.Number]
	if g == nil {
		return nil, nil
	}
	if g.left++; g.left == g.shape.Expected && g.entered == g.left {
		delete(p.collectives, d.Number)
	}
	if d.Awaited < 0 {
		return nil, nil
	}
	switch g.shape.Class {
	case match.Prefix:
		return g.prefix(p, d.Part), g
	case match.Neighbor:
		return g.parts[d.Awaited], g
	case match.Barrier, match.AllToAll, match.OneToAll, match.AllToOne, match.Startup, match.Shutdown, match.Fence, match.Window, match.File:
	}
	return g.all, g
}

// prefix returns the last entry of parts 0 … i.
func (g *collectiveInstance) prefix(p *player, i int) *event {
	if g.upTo == nil {
		g.upTo = make([]*event, len(g.parts))
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

func kindOf(f *semantics.Function) stepKind {
	switch {
	case f.Operation == semantics.Initialize:
		return initialization
	case f.Operation == semantics.Finalize:
		return finalization
	case f.IsFileOperation():
		return inputOutput
	}
	return ordinary
}
