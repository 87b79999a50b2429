package grammar

import "slices"

// Occurrences says how often a terminal comes.
type Occurrences struct {
	Terminal int32
	Count    uint64
}

// Counts counts the terminals of a rule without expanding it; sorted by terminal. The grammar must be valid.
func (g Grammar) Counts(rule int) []Occurrences {
	counts := map[int32]uint64{}
	g.count(map[int]uint64{rule: 1}, counts)
	list := make([]Occurrences, 0, len(counts))
	for terminal, count := range counts {
		list = append(list, Occurrences{terminal, count})
	}
	slices.SortFunc(list, func(a, b Occurrences) int { return int(a.Terminal) - int(b.Terminal) })
	return list
}
