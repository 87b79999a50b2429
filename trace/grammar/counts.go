package grammar

import (
	"slices"
)

// Occurrences is the number of times that a terminal occurs.
type Occurrences struct {
	Terminal int32
	Count    uint64
}

// Counts returns the number of occurrences of each terminal in a rule, sorted by terminal, without
// expanding the rule. The grammar must be valid.
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

// Between returns a part of the expansion of a rule as symbols in order: the terminals with indices
// from ≤ i < to. They are few, since whole rules are kept. lengths are those of Lengths.
func (g Grammar) Between(rule int, from, to uint64, lengths []uint64) []Symbol {
	return g.between(nil, rule, from, min(to, lengths[rule]), lengths)
}

func (g Grammar) between(list []Symbol, rule int, from, to uint64, lengths []uint64) []Symbol {
	start := uint64(0)
	for _, s := range g.Rules[rule] {
		n := s.length(lengths)
		first, last := max(from, start), min(to, start+n)
		if first < last {
			list = g.piece(list, s, first-start, last-start, lengths)
		}
		if start += n; start >= to {
			break
		}
	}
	return list
}

// piece appends a part of the expansion of one symbol.
func (g Grammar) piece(list []Symbol, s Symbol, from, to uint64, lengths []uint64) []Symbol {
	if !s.IsRule() {
		return append(list, Symbol{s.Value, to - from})
	}
	one := lengths[s.Rule()]
	if rest := from % one; rest > 0 {
		end := min(to, from-rest+one)
		list = g.between(list, s.Rule(), rest, end-(from-rest), lengths)
		from = end
	}
	if whole := (to - from) / one; from < to && whole > 0 {
		list = append(list, Symbol{s.Value, whole})
		from += whole * one
	}
	if from < to {
		list = g.between(list, s.Rule(), 0, to-from, lengths)
	}
	return list
}

// CountsOf counts the terminals of symbols without expanding them.
func (g Grammar) CountsOf(symbols []Symbol) map[int32]uint64 {
	times, counts := map[int]uint64{}, map[int32]uint64{}
	for _, s := range symbols {
		if s.IsRule() {
			times[s.Rule()] += s.Count
		} else {
			counts[s.Value] += s.Count
		}
	}
	g.count(times, counts)
	return counts
}
