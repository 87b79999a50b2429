package grammar

import "slices"

// Seek returns a walk that starts at the terminal with the given index in the expansion of a rule,
// and the number of times that each terminal occurs before it. Nothing is expanded: rules that are
// skipped are only multiplied. lengths are those of Lengths. An index at or beyond the end gives a
// walk that has ended.
func (g Grammar) Seek(rule int, index uint64, lengths []uint64) (*Walk, map[int32]uint64) {
	w := &Walk{rules: g.Rules}
	times, before := map[int]uint64{}, map[int32]uint64{}
	pass := func(s Symbol, count uint64) {
		switch {
		case count == 0:
		case s.IsRule():
			times[s.Rule()] += count
		default:
			before[s.Value] += count
		}
	}
	for body := g.Rules[rule]; len(body) > 0; {
		s := body[0]
		if n := s.length(lengths); index >= n {
			pass(s, s.Count)
			index -= n
			body = body[1:]
			continue
		}
		if !s.IsRule() {
			pass(s, index)
			w.value, w.left = s.Value, s.Count-index
			w.stack = append(w.stack, walkLevel{body, 0})
			break
		}
		done := index / lengths[s.Rule()]
		pass(s, done)
		index %= lengths[s.Rule()]
		w.stack = append(w.stack, walkLevel{body, s.Count - done - 1})
		body = g.Rules[s.Rule()]
	}
	g.count(times, before)
	return w, before
}

// count adds to counts the terminals of rules, each as often as times has it.
func (g Grammar) count(times map[int]uint64, counts map[int32]uint64) {
	// Rules refer to greater indices only, so in order of index every rule's multiplicity is
	// complete before it is passed on. Only reachable rules are visited: a merged grammar has the
	// rules of all ranks.
	var todo []int
	for rule := range times {
		todo = append(todo, rule)
	}
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
	for _, r := range todo {
		for _, symbol := range g.Rules[r] {
			if n := times[r] * symbol.Count; symbol.IsRule() {
				times[symbol.Rule()] += n
			} else {
				counts[symbol.Value] += n
			}
		}
	}
}

// A finder finds calls of some terminals, and expands no rules without them.
type finder struct {
	rules   [][]Symbol
	lengths []uint64
	wanted  func(terminal int32) bool
	counts  map[int]uint64 // by rule: number of wanted terminals in its expansion
}

// NewFinder returns a finder of the wanted terminals; lengths are those of Lengths.
func NewFinder(g Grammar, lengths []uint64, wanted func(terminal int32) bool) finder {
	return finder{g.Rules, lengths, wanted, map[int]uint64{}}
}

// Nth returns the index of wanted terminal number k, from 0, in the expansion of a rule.
func (f *finder) Nth(rule int, k uint64) (index uint64, ok bool) {
	for body := f.rules[rule]; len(body) > 0; {
		s := body[0]
		n := f.count(s)
		if k >= n*s.Count {
			k -= n * s.Count
			index += s.length(f.lengths)
			body = body[1:]
			continue
		}
		if !s.IsRule() {
			return index + k, true
		}
		index += k / n * f.lengths[s.Rule()]
		k %= n
		body = f.rules[s.Rule()]
	}
	return 0, false
}

// count is the number of wanted terminals in one repetition of a symbol.
func (f *finder) count(s Symbol) (n uint64) {
	if !s.IsRule() {
		if f.wanted(s.Value) {
			return 1
		}
		return 0
	}
	n, known := f.counts[s.Rule()]
	if !known {
		for _, inside := range f.rules[s.Rule()] {
			n += f.count(inside) * inside.Count
		}
		f.counts[s.Rule()] = n
	}
	return n
}

// Each visits the wanted terminals of the expansion of a rule, which begins at index begin, in
// order: those with an index less than before, until visit returns false. It reports whether it
// visited all of them.
func (f *finder) Each(rule int, begin, before uint64, visit func(terminal int32, index uint64) bool) bool {
	for _, s := range f.rules[rule] {
		if begin >= before {
			return true
		}
		if f.count(s) > 0 {
			one := uint64(1)
			if s.IsRule() {
				one = f.lengths[s.Rule()]
			}
			for i := uint64(0); i < s.Count && begin+i*one < before; i++ {
				if s.IsRule() {
					if !f.Each(s.Rule(), begin+i*one, before, visit) {
						return false
					}
				} else if !visit(s.Value, begin+i) {
					return false
				}
			}
		}
		begin += s.length(f.lengths)
	}
	return true
}
