package trace

import "slices"

// Occurrences says how often a terminal comes.
type Occurrences struct {
	Terminal int32
	Count    uint64
}

// Counts counts the terminals of a rule without expanding it; sorted by terminal. The grammar must be valid.
func (g Grammar) Counts(rule int) []Occurrences {
	// Rules refer to greater indices only, so in order of index every rule's multiplicity is complete before it is
	// passed on. Only what is reachable is touched: a merged grammar has the rules of all ranks.
	times := map[int]uint64{rule: 1}
	todo := []int{rule}
	for i := 0; i < len(todo); i++ {
		for _, symbol := range g.Rules[todo[i]] {
			if symbol.IsRule() {
				if _, known := times[symbol.Rule()]; !known {
					times[symbol.Rule()] = 0
					todo = append(todo, symbol.Rule())
				}
			}
		}
	}
	slices.Sort(todo)
	counts := map[int32]uint64{}
	for _, r := range todo {
		for _, symbol := range g.Rules[r] {
			if n := times[r] * symbol.Count; symbol.IsRule() {
				times[symbol.Rule()] += n
			} else {
				counts[symbol.Value] += n
			}
		}
	}
	list := make([]Occurrences, 0, len(counts))
	for terminal, count := range counts {
		list = append(list, Occurrences{terminal, count})
	}
	slices.SortFunc(list, func(a, b Occurrences) int { return int(a.Terminal) - int(b.Terminal) })
	return list
}
