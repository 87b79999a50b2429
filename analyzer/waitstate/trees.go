package waitstate

import (
	"math/bits"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// Inside a rooted collective data goes along a tree. A late participant in the middle of the tree
// delays those below it (one to all) or above it (all to one). A trace does not contain the tree:
// libraries choose it by size. But each tree implies times before which certain participants cannot
// leave. Trees that are contradicted by an earlier exit are excluded. Of the others the one is
// chosen in which the total time that participants stay without need is shortest, because it
// explains the exits best. The same applies to prefixes, whose early ranks wait for later ones in
// some algorithms.
//
// A participant then waited for the last to enter of those that its data passes through, if it
// stayed for longer before that entry than after it. Time that no tree explains counts as the
// participant's own.

// Trees determines which participants of collectives others waited for.
type Trees struct {
	communicators []trace.Communicator
	shapes        map[int][]*shape // by number of participants
}

// NewTrees returns a Trees for a trace.
func NewTrees(t timeline.Trace) *Trees {
	return &Trees{t.Communicators(), map[int][]*shape{}}
}

// clockTolerance is the time, in nanoseconds, by which an effect may precede its cause without
// contradicting it, and the minimum length of a wait: clocks of different nodes are not more
// precise.
const clockTolerance = 10_000

// clearlyBetter is the factor of unexplained time by which a tree must improve on another to
// replace it.
const clearlyBetter = 0.9

// A way is a possible algorithm of a collective: a tree, and whether participants also need their
// neighbors on the other side of the data flow to be present (large messages are handed over, not
// just sent).
type way struct {
	tree      int
	handshake bool
}

// Ways without a tree.
const (
	doubling   = -1 // each pair at distances 1, 2, 4, … exchanges its data
	everybody  = -2 // no participant leaves before all have entered
	justBefore = -3 // a prefix: each participant needs those before it
	// the root communicates with one after the other, by rank: each needs those before it,
	// the root needs all
	inTurn = -4
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

// A flow is the analysis of one collective.
type flow struct {
	number uint64 // number of the collective
	ways   []way
	causes [][]int32 // by way and participant: the last to enter of those that it needs, itself included
	left   []int64   // by way: total time that participants stayed without need, −1: contradicted
	judged []bool    // participants whose exits were evaluated
	began  bool
	best   int
}

// A Cause is the participant that another one waited for.
type Cause struct {
	Part  int
	flow  *flow
	trees *Trees
}

// CauseOf returns the participant that another one waited for in the middle of a rooted collective
// or a prefix, beyond the wait that the operation itself implies (match.Collective.Awaited).
func (t *Trees) CauseOf(c *match.Collective, part int) (cause Cause, found bool) {
	n := len(c.Parts)
	done := c.Parts[part].Done
	if n < 3 || !c.Complete() || done == nil || t.isInter(c.Comm) || c.Class != match.Prefix && (!isRooted(c) || c.Root < 0) {
		return Cause{}, false
	}
	f := t.flow(c)
	if !f.began { // for blocking calls all exits are known by now, except that of the last to enter
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
	known := match.Stamp{At: since, Error: done.ExitError + clockTolerance}
	if !post.EnterStamp().After(known) || post.Enter-since <= done.Exit-post.Enter {
		return Cause{}, false
	}
	return Cause{i, f, t}, true
}

// since returns the time from which on the operation itself does not make a participant wait.
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

// number returns a participant's number counted from the root; participant is its inverse.
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

// isInter reports whether a communicator is an intercommunicator, whose trees, if any, do not span
// all of its members.
func (t *Trees) isInter(comm int) bool {
	return comm >= 0 && comm < len(t.communicators) && len(t.communicators[comm].Remote) > 0
}

// flow returns the flow of a collective and makes it on the first call.
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

// shape returns a tree over n participants.
func (t *Trees) shape(tree, n int) *shape {
	if t.shapes[n] == nil {
		t.shapes[n] = make([]*shape, len(trees))
	}
	if t.shapes[n][tree] == nil {
		t.shapes[n][tree] = newShape(trees[tree], n)
	}
	return t.shapes[n][tree]
}

// follow computes for each participant the last to enter of those that it needs if the collective
// works in the given way.
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

// entered returns the entry time of a participant, a time before all others for one that is not in
// the trace.
func entered(c *match.Collective, v int) int64 {
	if p := &c.Parts[participant(c, v)]; p.Present() {
		return p.Post.Enter
	}
	return -1 << 62
}

// judge evaluates the exit of a participant, if it is known.
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
			continue // both are not in the trace
		}
		if leftBefore(done, cause) {
			f.left[i] = -1
			continue
		}
		f.left[i] += max(0, done.Exit-max(done.Begin, cause.Enter))
	}
}

// choose selects the best way; of equal ones the first.
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
	return cause.EnterStamp().After(match.Stamp{At: done.Exit, Error: done.ExitError + clockTolerance})
}

// A Late is a participant that another one waited for, and its distance in steps of the data flow.
type Late struct{ Part, Hops int }

// Late appends to list all participants, including the cause, that were late for the participant
// that waited for the cause. If some of them had not been late, the others could still delay it.
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
