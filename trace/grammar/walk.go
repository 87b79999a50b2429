package grammar

import "iter"

// A Walk iterates over the terminals of a rule in order, in memory proportional to the depth of the
// grammar.
type Walk struct {
	rules [][]Symbol
	stack []walkLevel
	value int32  // current terminal
	left  uint64 // remaining repetitions of value
}

type walkLevel struct {
	body  []Symbol // the rest of the body; body[0] is in progress
	count uint64   // remaining repetitions of body[0] after the current one
}

// Walk starts before the first terminal of a rule. The grammar must be valid (see Validate).
func (g Grammar) Walk(rule int) *Walk {
	w := &Walk{rules: g.Rules}
	w.enter(g.Rules[rule])
	return w
}

func (w *Walk) enter(body []Symbol) {
	if len(body) > 0 {
		w.stack = append(w.stack, walkLevel{body, body[0].Count})
	}
}

// Next returns the next terminal, ok false at the end.
func (w *Walk) Next() (terminal int32, ok bool) {
	if w.left > 0 {
		w.left--
		return w.value, true
	}
	return w.step()
}

// step moves to the next run of a terminal and takes the first of it.
func (w *Walk) step() (terminal int32, ok bool) {
	for len(w.stack) > 0 {
		level := &w.stack[len(w.stack)-1]
		if level.count == 0 {
			if level.body = level.body[1:]; len(level.body) == 0 {
				w.stack = w.stack[:len(w.stack)-1]
				continue
			}
			level.count = level.body[0].Count
		}
		symbol := level.body[0]
		if !symbol.IsRule() {
			w.value, w.left = symbol.Value, level.count-1
			level.count = 0
			return symbol.Value, true
		}
		level.count--
		w.enter(w.rules[symbol.Rule()])
	}
	return 0, false
}

// All yields the terminals of a rule in order.
func (g Grammar) All(rule int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		w := g.Walk(rule)
		for {
			terminal, ok := w.Next()
			if !ok || !yield(terminal) {
				return
			}
		}
	}
}

// Expand returns the terminals of a rule. It needs 4 bytes for each: see Lengths.
func (g Grammar) Expand(rule int) []int32 {
	var terminals []int32
	for terminal := range g.All(rule) {
		terminals = append(terminals, terminal)
	}
	return terminals
}
