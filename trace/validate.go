package trace

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Validate checks that
//
//   - everything that c refers to exists: functions, sites, rules, terminals, communicators and
//     sequences;
//   - functions are sorted by id, ranks by number, and threads by rank and thread;
//   - the number of calls of every thread is the length of its root;
//   - every thread has timing for all of its calls or none.
func (c *Content) Validate() error {
	lengths, err := c.Grammar.Lengths()
	if err != nil {
		return err
	}
	if err := c.validateShared(); err != nil {
		return err
	}
	for _, t := range c.Threads.All() {
		if err := c.validateThread(&t, lengths); err != nil {
			return fmt.Errorf("trace: rank %d thread %d: %w", t.Rank, t.Thread, err)
		}
	}
	for _, refs := range c.Threads.streamSets.Lists {
		for _, ref := range refs {
			if ref.Sequence < 0 || int(ref.Sequence) >= len(c.Sequences) {
				return fmt.Errorf("trace: no value sequence %d", ref.Sequence)
			}
		}
	}
	return nil
}

func (c *Content) validateThread(t *Thread, lengths []uint64) error {
	if t.Root < 0 || t.Root >= len(lengths) {
		return fmt.Errorf("no rule %d", t.Root)
	}
	if t.Calls != lengths[t.Root] {
		return fmt.Errorf("%d calls, but its rule has %d", t.Calls, lengths[t.Root])
	}
	if n := len(t.Gaps); n != len(t.Durations) || n > 0 && uint64(n) != t.Calls {
		return fmt.Errorf("%d calls with %d gaps and %d durations", t.Calls, n, len(t.Durations))
	}
	for k := range t.Aggregates {
		if a := t.Aggregates[k].Terminal; a < 0 || int(a) >= len(c.Signatures) || k > 0 && a <= t.Aggregates[k-1].Terminal {
			return fmt.Errorf("aggregate %d of terminal %d", k, a)
		}
	}
	return nil
}

// validateShared does the checks that a reader also does when it opens a file.
func (c *Content) validateShared() error {
	if m := &c.Meta; m.WorldSize < 0 || m.Attempt < 0 || m.Run < 0 {
		return fmt.Errorf("trace: world size %d, attempt %d, run %d", m.WorldSize, m.Attempt, m.Run)
	}
	if !slices.IsSortedFunc(c.Functions, func(a, b Function) int { return cmp.Compare(a.ID, b.ID) }) {
		return fmt.Errorf("trace: functions are not sorted by id")
	}
	for i := range c.Signatures {
		s := &c.Signatures[i]
		if c.function(s.Function) == nil {
			return fmt.Errorf("trace: signature %d: no function %d", i, s.Function)
		}
		if int(s.Site) > len(c.Sites) {
			return fmt.Errorf("trace: signature %d: no call site %d", i, s.Site)
		}
		for _, values := range [][]Value{s.In, s.Out} {
			for k := range values {
				if v := &values[k]; v.Form == Code && (v.Int < 1 || v.Int > int64(len(c.Sites))) {
					return fmt.Errorf("trace: signature %d: no function at call site %d", i, v.Int)
				}
			}
		}
	}
	if err := c.validatePlaces(); err != nil {
		return err
	}
	for i, body := range c.Grammar.Rules {
		for _, symbol := range body {
			if !symbol.IsRule() && int(symbol.Value) >= len(c.Signatures) {
				return fmt.Errorf("trace: rule %d: no signature %d", i, symbol.Value)
			}
		}
	}
	if err := c.validateRanks(); err != nil {
		return err
	}
	if err := c.validateEvidence(); err != nil {
		return err
	}
	return c.validateThreads()
}

func (c *Content) validateRanks() error {
	if !c.Ranks.number.Within(0, math.MaxInt32+1) || !c.Ranks.number.Increasing() {
		return errors.New("trace: ranks are not sorted or not distinct")
	}
	for _, own := range c.Ranks.ownLists.Lists {
		for _, k := range own {
			if int(k) >= len(c.Communicators) {
				return fmt.Errorf("trace: ranks have no communicator %d", k)
			}
		}
	}
	return nil
}

// validateThreads checks the rows in order, and what they share once.
func (c *Content) validateThreads() error {
	t := &c.Threads
	if !t.shape.Within(0, math.MaxInt32+1) || !t.place.Within(0, math.MaxInt32+1) {
		return errors.New("trace: a shape or place of a thread is negative")
	}
	number := t.number.Lookup()
	rank := c.Ranks.number.Lookup()
	row, beforeRank, before := 0, int64(-1), int64(-1)
	for i, r := range t.rank.All() {
		if r < beforeRank || r == beforeRank && number(i) <= before {
			return fmt.Errorf("trace: threads are not sorted, or thread %d of rank %d is a duplicate", number(i), r)
		}
		beforeRank, before = r, number(i)
		for row < c.Ranks.Len() && rank(row) < r {
			row++
		}
		if row == c.Ranks.Len() || rank(row) != r {
			return fmt.Errorf("trace: thread %d belongs to rank %d, which is missing", number(i), r)
		}
	}
	for i := range t.marks {
		th := t.At(i)
		if err := th.validateExtrapolations(); err != nil {
			return fmt.Errorf("trace: rank %d thread %d: %w", th.Rank, th.Thread, err)
		}
	}
	for _, refs := range t.streamSets.Lists {
		for j, ref := range refs {
			if int(ref.Terminal) >= len(c.Signatures) || ref.Terminal < 0 {
				return fmt.Errorf("trace: stream of signature %d, which is missing", ref.Terminal)
			}
			if j > 0 && compareStreams(refs[j-1], ref) >= 0 {
				return errors.New("trace: streams of a thread are not sorted")
			}
		}
	}
	return nil
}

// validatePlaces checks call paths and allocations.
func (c *Content) validatePlaces() error {
	for i := range c.Sites {
		if int(c.Sites[i].Caller) > i {
			return fmt.Errorf("trace: call site %d is called from %d, which is not before it", i, c.Sites[i].Caller-1)
		}
	}
	for i := range c.Allocations {
		s := &c.Allocations[i]
		if s.Kind == 0 || s.Kind > lastAllocationKind || s.Number < 0 || s.Ordinal < 0 {
			return fmt.Errorf("trace: segment %d: kind %d, number %d, ordinal %d", i, s.Kind, s.Number, s.Ordinal)
		}
		if int(s.Site) > len(c.Sites) {
			return fmt.Errorf("trace: segment %d: no call site %d", i, s.Site)
		}
	}
	var check func(values []Value) bool
	check = func(values []Value) bool {
		for i := range values {
			v := &values[i]
			if v.Form == Pointer && (v.Int < 0 || v.Int > int64(len(c.Allocations))) || !check(v.List) {
				return false
			}
		}
		return true
	}
	for i := range c.Signatures {
		s := &c.Signatures[i]
		if !check(s.In) || !check(s.Out) || s.Return.Form == Pointer && s.Return.Int != 0 {
			return fmt.Errorf("trace: signature %d: a pointer to an allocation that is missing", i)
		}
	}
	return nil
}

func compareStreams(a, b StreamRef) int {
	return cmp.Or(cmp.Compare(a.Terminal, b.Terminal), cmp.Compare(a.Number, b.Number))
}

// function returns the function with an id, nil if there is none.
func (c *Content) function(id uint16) *Function {
	if i := c.functionIndex(id); i >= 0 {
		return &c.Functions[i]
	}
	return nil
}

// functionIndex returns the index of the function with an id, −1 if there is none.
func (c *Content) functionIndex(id uint16) int {
	i, ok := slices.BinarySearchFunc(c.Functions, id, func(f Function, id uint16) int { return cmp.Compare(f.ID, id) })
	if !ok {
		return -1
	}
	return i
}

// rank returns the rank with a number, nil if there is none.
func (c *Content) rank(rank int) *Rank {
	i := c.Ranks.Find(rank)
	if i < 0 {
		return nil
	}
	r := c.Ranks.At(i)
	return &r
}

// thread returns the index of a thread in c.Threads, −1 if there is none.
func (c *Content) thread(rank, thread int) int { return c.Threads.Find(rank, thread) }

// firstThread returns the index in c.Threads of the first thread of a rank.
func (c *Content) firstThread(rank int) int { return c.Threads.search(rank, math.MinInt) }
