package match

import (
	"math"
	"sort"
)

// A Cut is a moment of a run at which nothing is under way: every operation that has begun is matched and completed, and
// no rank has a request, a window, a file or a group of processes. Messages and collectives that come after it can be
// matched without those before, since both sides count from there.
type Cut struct {
	At    int64 `json:"at_ns"`    // calls that are entered from here on come after it
	Until int64 `json:"until_ns"` // when the last call before it was left
}

// Cuts notes such moments while a run is matched: some, at about equal distances. Nil notes none.
type Cuts struct {
	list          []Cut
	every         uint64 // calls between two
	calls, next   uint64 // so far; from which on the next one is looked for
	entered, left int64  // the last entry and the last exit so far
	quiet         bool   // nothing is under way after the call before
}

// maxCuts is from how many on every other one is dropped.
const maxCuts = 512

// before notes a cut before a call, if there is one.
func (k *Cuts) before(c *Call) {
	k.note(c.Enter)
	k.quiet = false
	k.passed(1, c.Enter, c.Exit)
}

// note notes a cut, if there is one before calls that are entered at a time or later.
func (k *Cuts) note(enter int64) {
	if !k.quiet || enter <= k.entered {
		return
	}
	k.list = append(k.list, Cut{k.entered + 1, k.left})
	if len(k.list) == maxCuts {
		for i := range maxCuts / 2 {
			k.list[i] = k.list[2*i+1]
		}
		k.list = k.list[:maxCuts/2]
		k.every = max(1, 2*k.every)
	}
	k.next = k.calls + k.every
}

// passed notes calls that come before the next cut.
func (k *Cuts) passed(calls uint64, enter, exit int64) {
	if k == nil {
		return
	}
	if k.calls == 0 {
		k.entered, k.left = math.MinInt64, math.MinInt64
	}
	k.calls += calls
	k.entered, k.left = max(k.entered, enter), max(k.left, exit)
}

// between notes a cut after a section that all ranks leave with a collective operation, if no call that comes after it was entered
// before the last of all so far.
func (k *Cuts) between(m *Matcher, next int64) {
	if k.calls < k.next || next <= k.entered {
		return
	}
	if k.quiet = m.quiet(); !k.quiet {
		k.next = k.calls + uint64(m.lookCost())
	}
	k.note(next)
	k.quiet = false
}

// after looks whether something is under way: after a collective, which all that take part in have entered, it is likely
// that nothing is. A look takes time, so after one in vain there is none for as many calls.
func (k *Cuts) after(m *Matcher, c *Call) {
	if k.calls < k.next || !c.synchronizes() || len(m.pending) > 0 {
		return
	}
	if k.quiet = m.quiet(); !k.quiet {
		k.next = k.calls + uint64(m.lookCost())
	}
}

// synchronizes reports whether the call may be the last of several that others wait for.
func (c *Call) synchronizes() bool { return c.plan.action == collective || c.plan.action == initialize }

// List is the cuts so far, in order.
func (k *Cuts) List() []Cut { return k.list }

// Around is the part of a run that has to be matched to know all about what is between two times: from the last cut with
// nothing left over at the first, to the next one after the second; 0 where there is none.
func Around(cuts []Cut, from, to int64) (begin, end int64) {
	// calls are left later and later from cut to cut, as they are entered
	if i := sort.Search(len(cuts), func(i int) bool { return cuts[i].Until > from || cuts[i].At > from }); i > 0 {
		begin = cuts[i-1].At
	}
	if i := sort.Search(len(cuts), func(i int) bool { return cuts[i].At >= to }); i < len(cuts) {
		end = cuts[i].At
	}
	return begin, end
}

// quiet reports whether nothing is under way, and what comes can be matched without what came.
func (m *Matcher) quiet() bool {
	for i := range m.ranks {
		if r := &m.ranks[i]; len(r.objects)+len(r.groups) > 0 || !r.requests.empty() {
			return false
		}
	}
	for _, g := range m.groups {
		if g != nil && g.sources != nil {
			return false // the neighbors in a graph are known from the call that made it
		}
	}
	return m.closed()
}

// lookCost is how many calls take about as long as to find out whether nothing is under way.
func (m *Matcher) lookCost() int { return 256 + 16*len(m.ranks) }

// closed reports whether nothing is under way: whatever began is matched and completed.
func (m *Matcher) closed() bool {
	if len(m.pending) > 0 || len(m.locks) > 0 {
		return false
	}
	for i := range m.threads {
		if m.threads[i].settling.first != nil {
			return false
		}
	}
	for i := range m.ranks {
		r := &m.ranks[i]
		if len(r.messages)+len(r.contended)+len(r.progress.waiting)+len(r.progress.staying) > 0 || r.requests.anyActive() {
			return false
		}
	}
	for _, b := range m.postedQueues {
		if !b.line.empty() {
			return false
		}
	}
	for i := range m.channels.slots {
		if c := &m.channels.slots[i]; c.used && !c.empty() {
			return false
		}
	}
	return true
}
