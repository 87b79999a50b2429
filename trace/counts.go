package trace

import (
	"cmp"
	"slices"
)

// A Count says how often a rank (all its threads) called a function.
type Count struct {
	Rank     int
	Function uint16
	Calls    uint64
}

// Counts are the calls per rank and function, computed on the grammar; sorted by rank, then function.
func (t *Reader) Counts() ([]Count, error) { return t.shared.Counts() }

// Counts are the calls per rank and function, computed on the grammar; sorted by rank, then function.
func (c *Content) Counts() ([]Count, error) {
	if err := c.Grammar.Validate(); err != nil {
		return nil, err
	}
	byRoot := map[int]map[uint16]uint64{} // many threads share a root
	var counts []Count
	ranks, roots := c.Threads.rank.Lookup(), c.Threads.root.Lookup()
	for i := 0; i < c.Threads.Len(); {
		rank := int(ranks(i))
		calls := map[uint16]uint64{}
		for ; i < c.Threads.Len() && int(ranks(i)) == rank; i++ {
			root := int(roots(i))
			if byRoot[root] == nil {
				byRoot[root] = c.functionCounts(root)
			}
			for function, n := range byRoot[root] {
				calls[function] += n
			}
		}
		first := len(counts)
		for function, n := range calls {
			counts = append(counts, Count{rank, function, n})
		}
		slices.SortFunc(counts[first:], func(a, b Count) int { return cmp.Compare(a.Function, b.Function) })
	}
	return counts, nil
}

// functionCounts counts the calls of a root by function.
func (c *Content) functionCounts(root int) map[uint16]uint64 {
	calls := map[uint16]uint64{}
	for _, o := range c.Grammar.Counts(root) {
		calls[c.Signatures[o.Terminal].Function] += o.Count
	}
	return calls
}
