package merger

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// JoinWorlds finds out which MPI worlds met: spawned worlds and their parents, and the two sides of
// a port or a socket. It sets Communicator.RemoteWorld on both sides. No rank knows the other
// world's id. So what both sides recorded is compared: how they met, the sizes of both groups, the
// port's name, and the time. An encounter that fits more than one world is left open, with a note
// in the trace. One that fits no world (the other side was not traced) is left open without a note.
func JoinWorlds(contents []*trace.Content) error {
	if len(contents) < 2 {
		return nil
	}
	var all []*encounter
	for i, c := range contents {
		found, err := encounters(i, c)
		if err != nil {
			return fmt.Errorf("world %s: %w", c.Meta.World, err)
		}
		all = append(all, found...)
	}
	matchEncounters(all)
	for _, e := range all {
		c := contents[e.world]
		switch len(e.worlds) {
		case 0:
		case 1:
			c.Communicators[e.communicator].RemoteWorld = contents[e.worlds[0]].Meta.World
		default:
			var names []string
			for _, w := range e.worlds {
				names = append(names, contents[w].Meta.World)
			}
			slices.Sort(names)
			c.Meta.Notes = append(c.Meta.Notes, fmt.Sprintf("the other side of communicator %s may be any of the worlds %s",
				c.Communicators[e.communicator].GlobalName, strings.Join(names, ", ")))
		}
	}
	for _, c := range contents {
		slices.Sort(c.Meta.Notes)
		c.Meta.Notes = slices.Compact(c.Meta.Notes)
	}
	return nil
}

// A side is how a world got an intercommunicator with another one.
type side = semantics.Creation

// Sides by how the communicator was created.
const (
	parentSide  = semantics.FromSpawn
	childSide   = semantics.WithParent
	acceptSide  = semantics.FromAccept
	connectSide = semantics.FromConnect
	joinSide    = semantics.FromJoin
)

// oppositeSide is the side of the other world.
var oppositeSide = map[side]side{
	parentSide: childSide, childSide: parentSide, acceptSide: connectSide, connectSide: acceptSide, joinSide: joinSide,
}

// An encounter is an intercommunicator with another world, as recorded by one side.
type encounter struct {
	world, communicator int // indices
	side                side
	local, remote       int    // sizes of the groups
	port                string // "" if not recorded
	// from and to are the times of the calls that created it, in nanoseconds of real time; for a
	// child, from is when its ranks began.
	from, to int64
	boots    []string // of the nodes; equal ones share a clock
	worlds   []int    // candidates for the other world
}

// encounters returns the encounters of a world.
func encounters(world int, c *trace.Content) ([]*encounter, error) {
	sides := sidesOf(c)
	if len(sides) == 0 {
		return nil, nil
	}
	found := map[int]*encounter{}
	for _, t := range c.Threads.All() {
		calls := creationsBy(c, &t, sides)
		if calls == 0 {
			continue
		}
		cursor, err := c.Cursor(t.Rank, t.Thread)
		if err != nil {
			return nil, err
		}
		rank := c.Ranks.At(c.Ranks.Find(t.Rank))
		for calls > 0 && cursor.Next() {
			e := cursor.Event()
			how, meets := sides[e.Signature.Function]
			if !meets || e.NewComm < 0 {
				continue
			}
			calls--
			if withinWorld(&c.Communicators[e.NewComm]) {
				continue
			}
			met := found[e.NewComm]
			if met == nil {
				met = newEncounter(world, c, e.NewComm, how)
				found[e.NewComm] = met
			}
			met.add(&rank, e)
		}
		if err := cursor.Err(); err != nil {
			return nil, err
		}
	}
	list := make([]*encounter, 0, len(found))
	for _, e := range found {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *encounter) int { return a.communicator - b.communicator })
	return list, nil
}

// sidesOf returns the functions of a trace that lead to another world, and how.
func sidesOf(c *trace.Content) map[uint16]side {
	sides := map[uint16]side{}
	for i := range c.Functions {
		how := c.Functions[i].Semantics().Creation
		if _, meets := oppositeSide[how]; meets {
			sides[c.Functions[i].ID] = how
		}
	}
	return sides
}

// creationsBy counts the calls of a thread that may have created an encounter.
func creationsBy(c *trace.Content, t *trace.Thread, sides map[uint16]side) int {
	n := 0
	for _, ref := range t.Streams {
		s := &c.Signatures[ref.Terminal]
		if _, meets := sides[s.Function]; meets && s.Communicator.Form == trace.Stream && s.Communicator.Int == int64(ref.Number) {
			n += int(c.Sequences[ref.Sequence].Len())
		}
	}
	return n
}

// withinWorld reports whether both groups are known to be in the communicator's own world: connect
// and accept, or join, of ranks of one world.
func withinWorld(c *trace.Communicator) bool {
	return !slices.ContainsFunc(c.Remote.Ranks(), func(rank int) bool { return rank < 0 })
}

func newEncounter(world int, c *trace.Content, communicator int, how side) *encounter {
	e := &encounter{
		world: world, communicator: communicator, side: how,
		local: c.Communicators[communicator].Members.Len(), remote: c.Communicators[communicator].Remote.Len(),
		from: math.MaxInt64, to: math.MinInt64,
	}
	if how == childSide {
		for _, r := range c.Ranks.All() {
			e.extend(r.BootID, r.StartRealtimeNS, r.StartRealtimeNS)
		}
	}
	return e
}

// add adds what a rank recorded of the encounter.
func (m *encounter) add(r *trace.Rank, e *trace.Event) {
	if m.side != childSide && len(r.Clock.Samples) > 0 {
		s := r.Clock.Samples[0]
		m.extend(r.BootID, e.Enter-s.MonotonicNS+s.RealtimeNS, e.Exit-s.MonotonicNS+s.RealtimeNS)
	}
	if k := int(e.Semantics.In[semantics.PortName]); k >= 0 && k < len(e.In) && m.port == "" {
		m.port = e.In[k].Text // significant at the root only
	}
}

func (m *encounter) extend(boot string, from, to int64) {
	m.from, m.to = min(m.from, from), max(m.to, to)
	if !slices.Contains(m.boots, boot) {
		m.boots = append(m.boots, boot)
	}
}

// matchEncounters sets the candidate worlds of each encounter. Pairs that fit only each other are
// taken and removed from the other candidates, until no more are found: first by exactly matching
// times, then by times within the tolerances of rounding and of the clocks of nodes.
func matchEncounters(all []*encounter) {
	matched := map[*encounter]bool{}
	for _, tolerant := range []bool{false, true} {
		for again := true; again; {
			again = false
			for _, e := range all {
				if matched[e] {
					continue
				}
				partners := e.partners(all, matched, tolerant)
				if len(partners) != 1 || len(partners[0].partners(all, matched, tolerant)) != 1 {
					continue
				}
				other := partners[0]
				e.worlds, other.worlds = []int{other.world}, []int{e.world}
				matched[e], matched[other] = true, true
				again = true
			}
		}
	}
	for _, e := range all {
		if matched[e] {
			continue
		}
		for _, other := range e.partners(all, matched, true) {
			if !slices.Contains(e.worlds, other.world) {
				e.worlds = append(e.worlds, other.world)
			}
		}
	}
}

func (m *encounter) partners(all []*encounter, matched map[*encounter]bool, tolerant bool) []*encounter {
	var fit []*encounter
	for _, other := range all {
		if !matched[other] && m.fits(other, tolerant) {
			fit = append(fit, other)
		}
	}
	return fit
}

// clockDifference is the maximum difference of the clocks of two nodes in nanoseconds: much more
// than that of clocks synchronized over a network.
const clockDifference = int64(1e9)

// fits reports whether two encounters can be the two sides of one.
func (m *encounter) fits(other *encounter, tolerant bool) bool {
	if m.world == other.world || oppositeSide[m.side] != other.side || m.local != other.remote || m.remote != other.local ||
		m.port != "" && other.port != "" && m.port != other.port {
		return false
	}
	slack := int64(0)
	if tolerant {
		slack = max(m.to-m.from, other.to-other.from) / 4
		if !slices.ContainsFunc(m.boots, func(b string) bool { return slices.Contains(other.boots, b) }) {
			slack += clockDifference
		}
	}
	// The calls of both sides end together; a child begins during its parents' calls.
	return m.from <= other.to+slack && other.from <= m.to+slack
}
