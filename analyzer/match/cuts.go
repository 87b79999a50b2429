package match

import (
	"math"
	"sort"
)

// A Cut is a quiescent point of a run: every operation that was begun is matched and completed, and
// no rank has a request, a window, a file or a group of processes. The calls after it can be
// matched without those before it, since both sides start to count there.
type Cut struct {
	At    int64 `json:"at_ns"`    // calls entered at or after this time belong after the cut
	Until int64 `json:"until_ns"` // exit of the last call before the cut
}

// Cuts collects quiescent points while a run is matched, at about equal distances. A nil Cuts
// collects none.
type Cuts struct {
	list          []Cut
	every         uint64 // min. calls between two cuts
	first         uint64 // calls before the first cut
	calls, next   uint64 // calls so far, and at which count the next cut is looked for
	entered, left int64  // the last entry and the last exit so far
	quiet         bool   // nothing was pending after the previous call
}

// maxCuts is the number of cuts at which every other one is dropped.
const maxCuts = 512

// before adds a cut before a call, if there is one.
func (k *Cuts) before(c *Call) {
	k.note(c.Enter)
	k.quiet = false
	k.passed(1, c.Enter, c.Exit)
}

// note adds a cut, if there is one before the calls that are entered at or after enter.
func (k *Cuts) note(enter int64) {
	if !k.quiet || enter <= k.entered {
		return
	}
	if len(k.list) == 0 {
		k.first = k.calls
	}
	k.list = append(k.list, Cut{k.entered + 1, k.left})
	if len(k.list) == maxCuts {
		for i := range maxCuts / 2 {
			k.list[i] = k.list[2*i+1]
		}
		k.list = k.list[:maxCuts/2]
		if k.every *= 2; k.every == 0 { // the mean distance of those that are left
			k.every = (k.calls - k.first) / (maxCuts / 2)
		}
	}
	k.next = k.calls + k.every
}

// passed records calls that come before the next cut.
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

// between adds a cut after a section that all ranks leave with a collective, unless a later call
// was entered before the last entry so far.
func (k *Cuts) between(m *Matcher, next int64) {
	if k.calls < k.next || next <= k.entered {
		return
	}
	if k.quiet = m.quiet(); !k.quiet {
		k.next = k.calls + uint64(m.checkCost())
	}
	k.note(next)
	k.quiet = false
}

// after checks whether something is pending. Right after a collective that all participants have
// entered this is unlikely. A check is expensive: after one without success the next checkCost
// calls are not checked.
func (k *Cuts) after(m *Matcher, c *Call) {
	if k.calls < k.next || !c.synchronizes() || len(m.pending) > 0 {
		return
	}
	if k.quiet = m.quiet(); !k.quiet {
		k.next = k.calls + uint64(m.checkCost())
	}
}

// synchronizes reports whether the call may be the one that the others of a collective wait for.
func (c *Call) synchronizes() bool { return c.plan.action == collective || c.plan.action == initialize }

// List returns the cuts so far, in order.
func (k *Cuts) List() []Cut { return k.list }

// Around returns the part of a run that must be matched in order to know everything between two
// times: from the last cut that is completely before from to the first cut at or after to. A 0
// stands for a missing cut.
func Around(cuts []Cut, from, to int64) (begin, end int64) {
	// Until and At both increase from cut to cut
	if i := sort.Search(len(cuts), func(i int) bool { return cuts[i].Until > from || cuts[i].At > from }); i > 0 {
		begin = cuts[i-1].At
	}
	if i := sort.Search(len(cuts), func(i int) bool { return cuts[i].At >= to }); i < len(cuts) {
		end = cuts[i].At
	}
	return begin, end
}

// quiet reports whether nothing is pending and later calls can be matched without earlier ones.
func (m *Matcher) quiet() bool {
	for i := range m.ranks {
		if r := &m.ranks[i]; len(r.objects)+len(r.groups) > 0 || !r.requests.empty() {
			return false
		}
	}
	// neighbors in a graph topology are known only from the call that created it
	return m.graphs == 0 && m.closed()
}

// checkCost is the number of calls whose matching takes about as long as one call of quiet.
func (m *Matcher) checkCost() int { return 256 + 16*len(m.ranks) }

// closed reports whether nothing is pending: every operation that was begun is matched and
// completed.
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
		if !b.receives.empty() {
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
