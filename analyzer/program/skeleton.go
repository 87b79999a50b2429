package program

import (
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// program returns the program of a root. It is folded from its grammar, or, if random arguments
// have prevented the grammar from finding the loops, folded without arguments, which are added
// later.
func (b *builder) program(root int) []*item {
	found := b.body(root)
	if found.size <= readable {
		return found.items
	}
	if b.lengths == nil {
		b.lengths, _ = b.grammar.Lengths() // a grammar that was read is valid
	}
	if root >= len(b.lengths) || b.lengths[root] > maxCycle || b.expanded+b.lengths[root] > maxExpanded {
		return found.items
	}
	b.expanded += b.lengths[root]
	if !b.step(int(b.lengths[root])) {
		return found.items
	}
	if plain := b.withoutArguments(root); plain != nil && newLevel(plain).size < found.size {
		return plain
	}
	return found.items
}

// withoutArguments folds the sequence of functions and call sites, and adds the signatures to each
// call.
func (b *builder) withoutArguments(root int) []*item {
	calls := b.grammar.Expand(root)
	numbers := map[uint64]int32{}
	sequence := grammar.NewSequitur()
	for _, terminal := range calls {
		kind := b.kind(terminal)
		number, known := numbers[kind]
		if !known {
			number = int32(len(numbers))
			numbers[kind] = number
		}
		sequence.Append(number)
	}
	plain := newBuilder(b.search, sequence.Grammar(), func(number int32) uint64 { return uint64(number) + 1 })
	slots := slotsOf(plain.body(0).items)
	if len(plain.parts) > 0 || b.err != nil {
		return nil
	}
	rest := fill(slots, calls)
	if len(rest) > 0 {
		return nil
	}
	return b.itemsOf(slots)
}

// A slot is an item with the calls that it made.
type slot struct {
	of    *item
	times uint64 // how often it was reached
	calls []int32
	body  []*slot
}

func slotsOf(items []*item) []*slot {
	slots := make([]*slot, len(items))
	for i, x := range items {
		slots[i] = &slot{of: x, body: slotsOf(x.body)}
	}
	return slots
}

// fill executes slots once with the calls that follow, and returns the remaining calls.
func fill(slots []*slot, calls []int32) []int32 {
	for _, s := range slots {
		n := s.of.trips[s.times%uint64(len(s.of.trips))]
		s.times++
		for range n {
			if len(s.of.calls) == 0 {
				calls = fill(s.body, calls)
			} else if len(calls) > 0 {
				s.calls, calls = append(s.calls, calls[0]), calls[1:]
			}
		}
	}
	return calls
}

// itemsOf returns slots as items, without those that were never reached.
func (b *builder) itemsOf(slots []*slot) []*item {
	var items []*item
	for _, s := range slots {
		x := &item{part: -1, trips: s.of.trips}
		if len(s.of.calls) > 0 {
			if len(s.calls) == 0 {
				continue
			}
			x.calls, x.kind = shortest(s.calls), b.kind(s.calls[0])
		} else if x.body = b.itemsOf(s.body); len(x.body) == 0 {
			continue
		}
		items = append(items, x.seal())
	}
	return items
}
