package waitstate

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Inside a rooted collective data goes along a tree, and who is late in the middle of it holds up
// those below (one to all) or above (all to one). No trace tells the tree: libraries choose it by
// size. But each tree says before which moments nobody can leave. The trees that somebody
// contradicts by leaving earlier are out, and of the others that one counts in which the
// participants stay for the shortest time in all after nothing kept them any more: it explains best
// when they left. The same goes for prefixes, whose early ranks wait for later ones in some
// algorithms.
//
// A participant then waited for the last to enter of those that its data comes through, if it
// stayed for longer until that one entered than after it. What no tree explains it took its time
// for itself, as far as is known.

// Trees finds out whom the participants of collectives waited for.
type Trees struct {
	communicators []trace.Communicator
	shapes        map[int][]*shape // by number of participants
}

// NewTrees makes one for a trace.
func NewTrees(t timeline.Trace) *Trees {
	return &Trees{t.Communicators(), map[int][]*shape{}}
}

// clocksAgree is up to how long, in nanoseconds, an effect may come before its cause without
// contradicting it, and from which length on a wait is told: clocks of different nodes are no
// better.
const clocksAgree = 10_000

// clearlyBetter is which share of the time that a tree leaves unexplained another one must leave
// less than to be taken in its place.
const clearlyBetter = 0.9

// A way is how a collective may work: along which tree, and whether participants besides need those
// next to them on the side from which no data comes to be there (large messages are handed over,
// not just sent).
type way struct {
	tree      int
	handshake bool
}

// Ways without a tree.
const (
	doubling   = -1 // each pair at the distances 1, 2, 4, … exchanges what it has
	everybody  = -2 // nobody leaves before all have entered
	justBefore = -3 // a prefix: each needs those before it
	inTurn     = -4 // the root deals with one after the other, by rank: each needs those before it, the root everybody
)

var rootedWays, prefixWays = ways()

func ways() (rooted, prefix []way) {
	for _, handshake := range []bool{false, true} {
		for i := range trees {
			rooted = append(rooted, way{i, handshake})
		}
	}
	rooted = append(rooted, way{tree: inTurn}, way{tree: everybody})
	return rooted, []way{{tree: justBefore}, {tree: justBefore, handshake: true}, {tree: doubling}, {tree: everybody}}
}

// A flow is what is known of one collective.
type flow struct {
	number uint64 // of the collective
	ways   []way
	causes [][]int32 // by way and participant: who entered last of those that it needs, itself included
	left   []int64   // by way: how long participants stayed without need, −1: contradicted
	judged []bool    // participants whose exits were looked at
	began  bool
	best   int
}

// A Cause is what a participant waited for.
type Cause struct {
	Part  int
	flow  *flow
	trees *Trees
}

// Held returns whom a participant waited for in the middle of a rooted collective or a prefix: not
// because the operation itself says so (match.Collective.Awaited), and longer.
func (t *Trees) Held(c *match.Collective, part int) (cause Cause, held bool) {
	n := len(c.Parts)
	done := c.Parts[part].Done
	if n < 3 || !c.Complete() || done == nil || t.between(c.Comm) || c.Class != match.Prefix && (!isRooted(c) || c.Root < 0) {
		return Cause{}, false
	}
	f := t.flow(c)
	if !f.began { // of blocking calls all exits are known by now, but for the last one to enter
		f.began = true
		for i := range c.Parts {
			t.judge(c, f, i)
		}
		f.choose()
	} else if !f.judged[part] {
		t.judge(c, f, part)
		f.choose()
	}
	last := int(f.causes[f.best][number(c, part)])
	i := participant(c, last)
	if i == part || f.left[f.best] < 0 {
		return Cause{}, false
	}
	since, post := t.since(c, part), &c.Parts[i].Post
	known := match.Stamp{At: since, Error: done.ExitError + clocksAgree}
	if !post.EnterStamp().After(known) || post.Enter-since <= done.Exit-post.Enter {
		return Cause{}, false
	}
	return Cause{i, f, t}, true
}

// since is from when on nothing that the operation itself says keeps a participant.
func (t *Trees) since(c *match.Collective, part int) int64 {
	done := c.Parts[part].Done
	since := done.Begin
	if a := c.Awaited(part); a >= 0 && c.Parts[a].Present() {
		since = max(since, min(c.Parts[a].Post.Enter, done.Exit))
	}
	return since
}

func isRooted(c *match.Collective) bool {
	return c.Class == match.OneToAll || c.Class == match.AllToOne
}

// number counts participants from the root, and participant is the way back.
func number(c *match.Collective, part int) int {
	if c.Root < 0 {
		return part
	}
	return (part - c.Root + len(c.Parts)) % len(c.Parts)
}

func participant(c *match.Collective, number int) int {
	if c.Root < 0 {
		return number
	}
	return (number + c.Root) % len(c.Parts)
}

// between reports whether a communicator is between two groups: its trees, if any, are not over all
// of its members.
func (t *Trees) between(comm int) bool {
	return comm >= 0 && comm < len(t.communicators) && len(t.communicators[comm].Remote) > 0
}

// flow is that of a collective; the first to ask makes it.
func (t *Trees) flow(c *match.Collective) *flow {
	f, _ := c.Tag.(*flow)
	if f != nil && f.number == c.Number {
		return f
	}
	if f == nil {
		f = new(flow)
		c.Tag = f
	}
	n := len(c.Parts)
	f.number, f.best, f.began = c.Number, 0, false
	if f.ways = rootedWays; c.Class == match.Prefix {
		f.ways = prefixWays
	}
	f.left = append(f.left[:0], make([]int64, len(f.ways))...)
	f.judged = append(f.judged[:0], make([]bool, n)...)
	for len(f.causes) < len(f.ways) {
		f.causes = append(f.causes, nil)
	}
	for i := range f.ways {
		if cap(f.causes[i]) < n {
			f.causes[i] = make([]int32, n)
		}
		f.causes[i] = f.causes[i][:n]
		t.follow(c, f.ways[i], f.causes[i])
	}
	return f
}

// shape is a tree over n participants.
func (t *Trees) shape(tree, n int) *shape {
	if t.shapes[n] == nil {
		t.shapes[n] = make([]*shape, len(trees))
	}
	if t.shapes[n][tree] == nil {
		t.shapes[n][tree] = newShape(trees[tree], n)
	}
	return t.shapes[n][tree]
}

// follow finds out who entered last of those that each participant needs, if the collective works
// in a way.
func (t *Trees) follow(c *match.Collective, w way, last []int32) {
	n := len(last)
	for v := range last {
		last[v] = int32(v)
	}
	later := func(v int, than int32) int32 {
		if entered(c, int(than)) > entered(c, int(last[v])) {
			return than
		}
		return last[v]
	}
	switch w.tree {
	case justBefore:
		for v := 1; v < n; v++ {
			last[v] = later(v, last[v-1])
		}
		if w.handshake {
			for v := 1; v < n; v++ {
				last[v-1] = later(v-1, int32(v))
			}
		}
		return
	case inTurn:
		latest := int32(0) // the root
		for part := range last {
			v := number(c, part)
			if last[v] = later(v, latest); v != 0 {
				latest = last[v]
			}
		}
		last[0] = int32(number(c, c.Last))
		return
	case everybody:
		for v := range last {
			last[v] = int32(number(c, c.Last))
		}
		return
	case doubling:
		before := make([]int32, n)
		for step := 1; step < n; step *= 2 {
			copy(before, last)
			for v := range last {
				if v^step < n {
					last[v] = later(v, before[v^step])
				}
			}
		}
		return
	}
	s := t.shape(w.tree, n)
	if c.Class == match.OneToAll {
		for v := 1; v < n; v++ {
			last[v] = later(v, last[s.parent[v]])
		}
	} else {
		for v := n - 1; v > 0; v-- {
			last[s.parent[v]] = later(int(s.parent[v]), last[v])
		}
	}
	if !w.handshake {
		return
	}
	for v := 1; v < n; v++ {
		if p := s.parent[v]; c.Class == match.OneToAll {
			last[p] = later(int(p), int32(v))
		} else {
			last[v] = later(v, p)
		}
	}
}

// entered is when a participant entered, before anything else for one that the trace lacks.
func entered(c *match.Collective, v int) int64 {
	if p := &c.Parts[participant(c, v)]; p.Present() {
		return p.Post.Enter
	}
	return -1 << 62
}

// judge looks at when a participant left, if that is known.
func (t *Trees) judge(c *match.Collective, f *flow, part int) {
	done := c.Parts[part].Done
	if done == nil {
		return
	}
	f.judged[part] = true
	v := number(c, part)
	for i := range f.ways {
		if f.left[i] < 0 {
			continue
		}
		cause := &c.Parts[participant(c, int(f.causes[i][v]))].Post
		if cause.Location < 0 {
			continue // the trace lacks both
		}
		if leftBefore(done, cause) {
			f.left[i] = -1
			continue
		}
		f.left[i] += max(0, done.Exit-max(done.Begin, cause.Enter))
	}
}

// choose finds the best way; of equally good ones the first.
func (f *flow) choose() {
	f.best = 0
	for i := range f.ways {
		if f.left[i] >= 0 && (f.left[f.best] < 0 || float64(f.left[i]) < clearlyBetter*float64(f.left[f.best])) {
			f.best = i
		}
	}
}

// leftBefore reports whether a participant left clearly before another entered.
func leftBefore(done *match.Completion, cause *match.Point) bool {
	return cause.EnterStamp().After(match.Stamp{At: done.Exit, Error: done.ExitError + clocksAgree})
}

// A Late is a participant that was late for another one, and how many steps from it its data comes.
type Late struct{ Part, Hops int }

// Late adds to list all that were late for the participant that waited for the cause, the cause
// among them. Whoever of them is not, others may keep it still.
func (x *Cause) Late(c *match.Collective, part int, list []Late) []Late {
	w := x.flow.ways[x.flow.best]
	if w.tree < 0 {
		return append(list, Late{x.Part, bits.Len(uint(len(c.Parts) - 1))})
	}
	since, v, found := x.trees.since(c, part), number(c, part), false
	s := x.trees.shape(w.tree, len(c.Parts))
	add := func(u int32) {
		if i := participant(c, int(u)); entered(c, int(u)) > since {
			hops := int(s.depth[v] - s.depth[u])
			list = append(list, Late{i, max(hops, -hops)})
			found = found || i == x.Part
		}
	}
	if c.Class == match.AllToOne {
		for _, u := range s.below(v) {
			add(u)
		}
	} else {
		for u := s.parent[v]; u > 0; u = s.parent[u] {
			add(u)
		}
	}
	if !found {
		list = append(list, Late{x.Part, 1})
	}
	return list
}
