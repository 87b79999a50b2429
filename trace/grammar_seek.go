package trace

import "slices"

// seek gives a walk that starts at the terminal with an index in the expansion of a rule, and how often each terminal
// comes before it. Nothing is expanded: of the rules that are passed over only the multiplicity is needed. lengths are
// those of Lengths; an index at or beyond the end gives a walk that has ended.
func (g Grammar) seek(rule int, index uint64, lengths []uint64) (*Walk, map[int32]uint64) {
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

// count adds to counts the terminals of rules, each as often as times says.
func (g Grammar) count(times map[int]uint64, counts map[int32]uint64) {
	// Rules refer to greater indices only, so in order of index every rule's multiplicity is complete before it is
	// passed on. Only what is reachable is touched: a merged grammar has the rules of all ranks.
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

// A finder finds the last occurrence of a terminal.
type finder struct {
	rules    [][]Symbol
	lengths  []uint64
	terminal int32
	has      map[int]bool // rules with the terminal
}

// last is the index of the last occurrence before an index in the expansion of a rule.
func (f *finder) last(rule int, before uint64) (uint64, bool) {
	body := f.rules[rule]
	start, at := uint64(0), 0
	for at < len(body) && start < before {
		start += body[at].length(f.lengths)
		at++
	}
	for at--; at >= 0; at-- {
		s := body[at]
		start -= s.length(f.lengths)
		if !s.IsRule() {
			if s.Value == f.terminal {
				return min(start+s.Count, before) - 1, true
			}
			continue
		}
		if !f.contains(s.Rule()) {
			continue
		}
		one := f.lengths[s.Rule()]
		k := (min(before-start, one*s.Count) - 1) / one // the repetition that before ends in
		if i, ok := f.last(s.Rule(), min(before-start-k*one, one)); ok {
			return start + k*one + i, true
		}
		if k > 0 {
			i, ok := f.last(s.Rule(), one)
			return start + (k-1)*one + i, ok
		}
	}
	return 0, false
}

func (f *finder) contains(rule int) bool {
	has, known := f.has[rule]
	if !known {
		for _, s := range f.rules[rule] {
			if has = s.Value == f.terminal || s.IsRule() && f.contains(s.Rule()); has {
				break
			}
		}
		f.has[rule] = has
	}
	return has
}
