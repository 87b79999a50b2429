package grammar

import (
	"fmt"
	"math"
	"unsafe"
)

// Sequitur builds a grammar of a sequence online: the algorithm of Nevill-Manning and Witten (JAIR
// 7, 1997) with run-length exponents (A → B^k), as used by Pilgrim (§2.2) after Dorier et al. (TPDS
// 27, 2015).
//
// Three invariants hold after every Append:
//
//   - neighbors in a rule's body differ: B^i B^j is written B^(i+j);
//   - no digram (two neighbors with their exponents) occurs twice in the grammar, except the last
//     one of the root;
//   - every rule but the root has at least two symbols, and occurs at least twice or with an
//     exponent ≥ 2.
//
// Unlike the textbook, the last symbol of the root is left alone while it may still grow: its
// digram enters the table when a different symbol follows. While the terminals come as predicted,
// Append only moves a cursor through a rule, which costs little and creates no rules. The
// prediction is one of these:
//
//   - the root's last symbol, a rule with an exponent ≥ 2, repeats (a steady loop, whatever its
//     trip count);
//   - the root ends in the first two symbols of a rule, and the rule continues (a loop with
//     something new in every iteration).
//
// Everything is in flat arrays without pointers, which the garbage collector does not scan.
type Sequitur struct {
	nodes    []node
	freeNode int32 // free list through next
	rules    []sequiturRule
	freeRule int32 // free list through guard; −1: empty
	digrams  digramTable
	length   uint64

	expected  int32   // the terminal that is predicted; −1: none
	path      []visit // position of the prediction; empty: the beginning of the root's last symbol
	surprises uint64  // number of terminals that were not predicted
	begun     int32   // the rule whose first two symbols the root ends in, if the rest of it is predicted; else 0

	pending []int32 // nodes whose digram is to be checked
	unit    []int32 // rules whose body may have shrunk to one symbol
}

// A node is a symbol in a rule's body, or the guard that closes the ring of a body (count 0).
type node struct {
	value         int32 // as Symbol.Value; of a guard: its rule
	prev, next    int32 // neighbors; 0 for a node in no body
	before, after int32 // other nodes of the same rule; 0: none
	count         uint64
}

type sequiturRule struct {
	guard int32
	uses  int32 // number of nodes
	first int32 // one of them; the others through after
}

// A visit is a node on the path down to the predicted terminal, with the number of repetitions of
// it so far.
type visit struct {
	node int32
	done uint64
}

// NewSequitur returns an empty sequence.
func NewSequitur() *Sequitur {
	s := &Sequitur{nodes: make([]node, 1, 16), freeRule: -1, expected: -1}
	s.digrams.reset()
	s.newRule()
	return s
}

// Reset empties the sequence and keeps its memory for the next one.
func (s *Sequitur) Reset() {
	s.nodes, s.rules, s.path = s.nodes[:1], s.rules[:0], s.path[:0]
	s.freeNode, s.freeRule = 0, -1
	clear(s.digrams.slots)
	s.digrams.used = 0
	s.length, s.expected, s.surprises, s.begun = 0, -1, 0, 0
	s.newRule()
}

// Len is the number of terminals appended.
func (s *Sequitur) Len() uint64 { return s.length }

// Bytes estimates the memory of s.
func (s *Sequitur) Bytes() int {
	return cap(s.nodes)*int(unsafe.Sizeof(node{})) + cap(s.rules)*int(unsafe.Sizeof(sequiturRule{})) +
		len(s.digrams.slots)*int(unsafe.Sizeof(digramSlot{})) + cap(s.path)*int(unsafe.Sizeof(visit{})) +
		4*(cap(s.pending)+cap(s.unit))
}

// Needs estimates the memory in bytes that a new sequence would need for the content of s. After a
// Reset that is less than Bytes. A growing slice has up to a quarter of spare capacity.
func (s *Sequitur) Needs() int {
	lists := len(s.nodes)*int(unsafe.Sizeof(node{})) + len(s.rules)*int(unsafe.Sizeof(sequiturRule{}))
	return lists*5/4 + s.digrams.needs()*int(unsafe.Sizeof(digramSlot{}))
}

// Append adds one terminal, which must be at least 0.
func (s *Sequitur) Append(terminal int32) {
	s.length++
	if terminal == s.expected {
		// mostly the next symbol of the same rule
		if k := len(s.path) - 1; k >= 0 && terminal >= 0 {
			top := &s.path[k]
			n := &s.nodes[top.node]
			if top.done+1 < n.count {
				top.done++
				return
			}
			if next := &s.nodes[n.next]; next.count != 0 && next.value >= 0 {
				*top = visit{node: n.next}
				s.expected = next.value
				return
			}
		}
		s.advance()
		return
	}
	if terminal < 0 {
		panic(fmt.Sprintf("trace: negative terminal %d", terminal))
	}
	s.surprise(terminal)
}

// advance moves the prediction past the expected terminal.
func (s *Sequitur) advance() {
	tail := s.tail()
	if len(s.path) == 0 {
		if s.nodes[tail].value >= 0 {
			s.nodes[tail].count++
			return
		}
		if s.expected < 0 {
			panic("trace: negative terminal")
		}
		s.descend(s.first(s.nodes[tail].value))
	}
	s.path[len(s.path)-1].done++
	s.proceed()
}

// proceed moves to the next terminal after a repetition of the last node of the path.
func (s *Sequitur) proceed() {
	for {
		top := &s.path[len(s.path)-1]
		n := &s.nodes[top.node]
		if top.done < n.count {
			if n.value < 0 {
				s.descend(s.first(n.value))
			}
			return
		}
		if next := n.next; s.nodes[next].count != 0 {
			*top = visit{node: next}
			if value := s.nodes[next].value; value < 0 {
				s.descend(s.first(value))
			} else {
				s.expected = value
			}
			return
		}
		s.path = s.path[:len(s.path)-1]
		if len(s.path) == 0 { // the prediction is complete
			if s.begun != 0 {
				s.finish()
			} else {
				s.nodes[s.tail()].count++
			}
			s.expect()
			return
		}
		s.path[len(s.path)-1].done++
	}
}

// descend moves down to the first terminal under n.
func (s *Sequitur) descend(n int32) {
	for {
		s.path = append(s.path, visit{node: n})
		value := s.nodes[n].value
		if value >= 0 {
			s.expected = value
			return
		}
		n = s.first(value)
	}
}

// expect starts a prediction: the last symbol, a terminal or a repeated rule, repeats.
func (s *Sequitur) expect() {
	n := s.tail()
	s.expected = -1
	if s.nodes[n].value < 0 && s.nodes[n].count < 2 {
		return
	}
	for s.nodes[n].value < 0 {
		n = s.first(s.nodes[n].value)
	}
	s.expected = s.nodes[n].value
}

// surprise appends a terminal that was not predicted.
func (s *Sequitur) surprise(terminal int32) {
	s.surprises++
	for {
		if len(s.path) > 0 {
			s.flush()
		} else if found := s.findLast(); s.begin(terminal, found) {
			return
		} else if !s.settle(found) {
			break
		}
		if len(s.path) == 0 {
			s.expect()
		}
		if terminal == s.expected {
			s.advance()
			return
		}
	}
	s.linkLast(s.newNode(terminal, 1))
	s.expected = terminal
}

// begin predicts the rest of a rule if the root ends in its first two symbols and its next terminal
// is the given one.
func (s *Sequitur) begin(terminal, found int32) bool {
	rule, third := s.begunRule(found)
	if rule == 0 {
		return false
	}
	s.descend(third)
	if s.expected != terminal {
		s.path = s.path[:0]
		return false
	}
	s.begun = rule
	s.advance()
	return true
}

// findLast finds another occurrence of the root's last two symbols; 0 if there is none.
func (s *Sequitur) findLast() int32 {
	tail := s.tail()
	n := s.nodes[tail].prev
	if s.nodes[tail].count == 0 || s.nodes[n].count == 0 {
		return 0
	}
	return s.digrams.find(s.nodes, n)
}

// begunRule returns the rule whose body has more than two symbols and begins with the root's last
// two, which occur at found, and its third node; 0 if there is none.
func (s *Sequitur) begunRule(found int32) (rule, third int32) {
	guard := s.nodes[found].prev
	if found == 0 || s.nodes[guard].count != 0 {
		return 0, 0
	}
	third = s.nodes[s.nodes[found].next].next
	if third == guard {
		return 0, 0
	}
	return ruleOf(s.nodes[guard].value), third
}

// finish replaces the first two symbols of the completed rule, at the end of the root, by the rule.
func (s *Sequitur) finish() {
	rule := s.begun
	s.begun = 0
	s.substitute(s.nodes[s.tail()].prev, rule)
	// Rules in these two symbols may occur only in this body now.
	guard := s.rules[rule].guard
	first := s.nodes[guard].next
	second := s.nodes[first].next
	s.inlineIfSingle(first)
	s.inlineIfSingle(second)
	s.work()
	s.unregister(s.nodes[s.tail()].prev)
}

// flush ends the prediction: the part of an incomplete repetition so far is appended, in whole
// symbols as far as possible.
func (s *Sequitur) flush() {
	// All nodes are created first, not linked, so that the rules they name stay alive while the
	// root grows.
	loose := make([]int32, 0, 8)
	for symbol := range s.partial {
		loose = append(loose, s.newNode(symbol.Value, symbol.Count))
	}
	s.path = s.path[:0]
	s.begun = 0
	for _, n := range loose {
		s.appendNode(n)
	}
}

// partial yields the part of the last symbol's next repetition so far, by the rules' own indices.
func (s *Sequitur) partial(yield func(Symbol) bool) {
	for depth, v := range s.path {
		for n := s.entered(depth); n != v.node; n = s.nodes[n].next {
			if !yield(Symbol{s.nodes[n].value, s.nodes[n].count}) {
				return
			}
		}
		if v.done > 0 && !yield(Symbol{s.nodes[v.node].value, v.done}) {
			return
		}
	}
}

// entered is the node at which the prediction entered the rule that the path crosses at this depth.
func (s *Sequitur) entered(depth int) int32 {
	switch {
	case depth > 0:
		return s.first(s.nodes[s.path[depth-1].node].value)
	case s.begun != 0:
		first := s.nodes[s.rules[s.begun].guard].next
		return s.nodes[s.nodes[first].next].next
	}
	return s.first(s.nodes[s.tail()].value)
}

// appendNode appends an unlinked node to the root. It may begin a new prediction, and it continues
// one that an earlier node began.
func (s *Sequitur) appendNode(n int32) {
	for {
		if len(s.path) > 0 {
			if s.consume(n) {
				return
			}
			s.flush()
			continue
		}
		tail := s.tail()
		if s.nodes[tail].count != 0 && s.nodes[tail].value == s.nodes[n].value {
			s.nodes[tail].count += s.nodes[n].count
			s.dropNode(n)
			return
		}
		if !s.settle(s.findLast()) {
			break
		}
		if tail = s.tail(); s.nodes[tail].value < 0 && s.nodes[tail].count >= 2 &&
			s.nodes[tail].value != s.nodes[n].value {
			s.descend(s.first(s.nodes[tail].value))
			if !s.startsHere(n) {
				s.path = s.path[:0]
			}
		}
	}
	s.linkLast(n)
}

// startsHere reports whether the prediction can continue with the symbol of the unlinked node n.
func (s *Sequitur) startsHere(n int32) bool { return s.depthOf(s.nodes[n].value) >= 0 }

// depthOf is the depth of the path at which a whole symbol of this value is expected next, −1 for
// none.
func (s *Sequitur) depthOf(value int32) int {
	for depth := len(s.path) - 1; depth >= 0; depth-- {
		v := s.path[depth]
		if s.nodes[v.node].value == value {
			return depth
		}
		if v.done != 0 || s.nodes[s.nodes[v.node].prev].count != 0 {
			break
		}
	}
	return -1
}

// consume advances the prediction by the symbol of the unlinked node n, and drops n. If another
// symbol is expected next, it consumes as much as possible and returns false.
func (s *Sequitur) consume(n int32) bool {
	for len(s.path) > 0 {
		depth := s.depthOf(s.nodes[n].value)
		if depth < 0 {
			return false
		}
		s.path = s.path[:depth+1]
		top := &s.path[depth]
		k := min(s.nodes[n].count, s.nodes[top.node].count-top.done)
		top.done += k
		s.proceed()
		if k == s.nodes[n].count {
			s.dropNode(n)
			return true
		}
		s.nodes[n].count -= k
	}
	return false
}

// linkLast makes n the last symbol of the root.
func (s *Sequitur) linkLast(n int32) {
	s.link(s.tail(), n)
	s.link(n, s.rules[0].guard)
}

// settle adds the digram of the root's last symbol, which will not grow any more, to the table. It
// reports whether the digram was known: then the root ends in another symbol now, which is not
// settled yet.
func (s *Sequitur) settle(found int32) bool {
	tail := s.tail()
	n := s.nodes[tail].prev
	if s.nodes[tail].count == 0 || s.nodes[n].count == 0 {
		return false
	}
	if found == 0 {
		s.digrams.insertMissed(s.nodes, n)
		return false
	}
	s.match(n, found)
	s.work()
	s.unregister(s.nodes[s.tail()].prev)
	return true
}

// work restores the invariants until nothing is left to check.
func (s *Sequitur) work() {
	for {
		if k := len(s.unit); k > 0 {
			rule := s.unit[k-1]
			s.unit = s.unit[:k-1]
			s.dissolveUnit(rule)
			continue
		}
		k := len(s.pending)
		if k == 0 {
			return
		}
		n := s.pending[k-1]
		s.pending = s.pending[:k-1]
		s.check(n)
	}
}

// check looks up the digram of n. It is either added to the table, or its two occurrences are made
// one rule.
func (s *Sequitur) check(n int32) {
	next := s.nodes[n].next
	if s.nodes[n].count == 0 || s.nodes[next].count == 0 || next == s.tail() {
		return
	}
	switch found := s.digrams.find(s.nodes, n); found {
	case n:
	case 0:
		s.digrams.insertMissed(s.nodes, n)
	default:
		s.match(n, found)
	}
}

// match replaces two occurrences of a digram by a rule. found is in the table, n is not.
func (s *Sequitur) match(n, found int32) {
	var rule int32
	if r := s.wholeBody(found); r > 0 {
		rule = r
		s.substitute(n, rule)
	} else if r := s.wholeBody(n); r > 0 {
		rule = r
		s.substitute(found, rule)
		s.digrams.insert(s.nodes, n)
	} else {
		a, b := s.nodes[n], s.nodes[s.nodes[n].next]
		rule = s.newRule()
		guard := s.rules[rule].guard
		x := s.newNode(a.value, a.count)
		y := s.newNode(b.value, b.count)
		s.link(guard, x)
		s.link(x, y)
		s.link(y, guard)
		s.substitute(found, rule)
		s.substitute(n, rule)
		s.digrams.insert(s.nodes, x)
	}
	// A rule in the two symbols may occur only in this body now.
	guard := s.rules[rule].guard
	s.inlineIfSingle(s.nodes[guard].next)
	s.inlineIfSingle(s.nodes[guard].prev)
}

// wholeBody is the rule (not the root) whose body is exactly the digram of n, else 0.
func (s *Sequitur) wholeBody(n int32) int32 {
	guard := s.nodes[n].prev
	if s.nodes[guard].count != 0 || s.nodes[s.nodes[n].next].next != guard {
		return 0
	}
	return ruleOf(s.nodes[guard].value)
}

// substitute replaces the digram of n by a rule.
func (s *Sequitur) substitute(n, rule int32) {
	second := s.nodes[n].next
	before, behind := s.nodes[n].prev, s.nodes[second].next
	s.unregister(before)
	s.unregister(n)
	s.unregister(second)
	s.dropNode(n)
	s.dropNode(second)
	x := s.newNode(ruleValue(rule), 1)
	s.link(before, x)
	s.link(x, behind)
	s.settleAround(x)
}

// settleAround merges x with neighbors of the same value and queues its digrams, none of which
// is in the table.
func (s *Sequitur) settleAround(x int32) {
	if p := s.nodes[x].prev; s.nodes[p].count != 0 && s.nodes[p].value == s.nodes[x].value {
		s.unregister(s.nodes[p].prev)
		s.absorbNext(p)
		x = p
	}
	if q := s.nodes[x].next; s.nodes[q].count != 0 && s.nodes[q].value == s.nodes[x].value {
		s.unregister(q)
		s.absorbNext(x)
	}
	p := s.nodes[x].prev
	s.pending = append(s.pending, p, x)
	if p != 0 && p == s.nodes[x].next {
		s.unit = append(s.unit, ruleOf(s.nodes[p].value))
	}
}

// absorbNext adds the exponent of the next node to n and drops that node.
func (s *Sequitur) absorbNext(n int32) {
	next := s.nodes[n].next
	s.nodes[n].count += s.nodes[next].count
	s.link(n, s.nodes[next].next)
	s.dropNode(next)
}

// inlineIfSingle replaces n by the body of its rule if the rule occurs nowhere else.
func (s *Sequitur) inlineIfSingle(n int32) {
	if s.nodes[n].value >= 0 || s.nodes[n].count != 1 || s.rules[ruleOf(s.nodes[n].value)].uses != 1 {
		return
	}
	rule := ruleOf(s.nodes[n].value)
	guard := s.rules[rule].guard
	before, behind := s.nodes[n].prev, s.nodes[n].next
	first, last := s.nodes[guard].next, s.nodes[guard].prev
	s.unregister(before)
	s.unregister(n)
	s.dropNode(n)
	s.dropRule(rule)
	s.link(before, first)
	s.link(last, behind)
	s.join(before)
	if s.nodes[last].count == 0 { // first was last, and before absorbed it
		last = before
	}
	s.join(last)
}

// join merges n and its next if they have the same value, and queues what changed.
func (s *Sequitur) join(n int32) {
	next := s.nodes[n].next
	if s.nodes[n].count != 0 && s.nodes[next].count != 0 && s.nodes[n].value == s.nodes[next].value {
		s.unregister(s.nodes[n].prev)
		s.unregister(next)
		s.settleAround(n)
		return
	}
	s.pending = append(s.pending, n)
}

// dissolveUnit replaces a rule whose body is the single symbol Z^k by that symbol, everywhere.
func (s *Sequitur) dissolveUnit(rule int32) {
	if rule == 0 || s.rules[rule].uses == 0 {
		return
	}
	guard := s.rules[rule].guard
	only := s.nodes[guard].next
	if s.nodes[only].next != guard {
		return
	}
	value, count := s.nodes[only].value, s.nodes[only].count
	for s.rules[rule].uses > 0 {
		n := s.rules[rule].first
		s.unregister(s.nodes[n].prev)
		s.unregister(n)
		s.unlinkUse(n)
		s.nodes[n].value = value
		// the expansion has fewer than 2^64 terminals, so this does not overflow
		s.nodes[n].count *= count
		s.linkUse(n)
		if s.nodes[n].prev != 0 {
			s.settleAround(n)
		}
	}
	s.dropNode(only)
	s.dropRule(rule)
}

// unregister removes the digram of n from the table if the table has it at n.
func (s *Sequitur) unregister(n int32) {
	if s.nodes[n].count != 0 && s.nodes[s.nodes[n].next].count != 0 {
		s.digrams.remove(s.nodes, n)
	}
}

func ruleOf(value int32) int32   { return -value - 1 }
func ruleValue(rule int32) int32 { return -rule - 1 }

// tail is the last node of the root, or its guard if the root is empty.
func (s *Sequitur) tail() int32 { return s.nodes[s.rules[0].guard].prev }

// first is the first node of the rule with this value.
func (s *Sequitur) first(value int32) int32 { return s.nodes[s.rules[ruleOf(value)].guard].next }

func (s *Sequitur) link(a, b int32) {
	s.nodes[a].next = b
	s.nodes[b].prev = a
}

func (s *Sequitur) newNode(value int32, count uint64) int32 {
	n := s.freeNode
	if n != 0 {
		s.freeNode = s.nodes[n].next
		s.nodes[n] = node{value: value, count: count}
	} else {
		if len(s.nodes) == math.MaxInt32 {
			panic("trace: grammar has 2^31 symbols")
		}
		n = int32(len(s.nodes))
		s.nodes = append(s.nodes, node{value: value, count: count})
	}
	if count != 0 {
		s.linkUse(n)
	}
	return n
}

// dropNode frees n; a dropped node has count 0 and no neighbors.
func (s *Sequitur) dropNode(n int32) {
	if s.nodes[n].count != 0 {
		s.unlinkUse(n)
	}
	s.nodes[n] = node{next: s.freeNode}
	s.freeNode = n
}

func (s *Sequitur) linkUse(n int32) {
	if s.nodes[n].value >= 0 {
		return
	}
	r := &s.rules[ruleOf(s.nodes[n].value)]
	r.uses++
	s.nodes[n].before, s.nodes[n].after = 0, r.first
	if r.first != 0 {
		s.nodes[r.first].before = n
	}
	r.first = n
}

func (s *Sequitur) unlinkUse(n int32) {
	if s.nodes[n].value >= 0 {
		return
	}
	r := &s.rules[ruleOf(s.nodes[n].value)]
	r.uses--
	before, after := s.nodes[n].before, s.nodes[n].after
	if before != 0 {
		s.nodes[before].after = after
	} else {
		r.first = after
	}
	if after != 0 {
		s.nodes[after].before = before
	}
}

// newRule makes a rule with an empty body.
func (s *Sequitur) newRule() int32 {
	rule := s.freeRule
	if rule >= 0 {
		s.freeRule = s.rules[rule].guard
	} else {
		rule = int32(len(s.rules))
		s.rules = append(s.rules, sequiturRule{})
	}
	guard := s.newNode(ruleValue(rule), 0)
	s.link(guard, guard)
	s.rules[rule] = sequiturRule{guard: guard}
	return rule
}

// dropRule frees a rule and its guard. Its body must have been moved or dropped.
func (s *Sequitur) dropRule(rule int32) {
	s.dropNode(s.rules[rule].guard)
	s.rules[rule] = sequiturRule{guard: s.freeRule}
	s.freeRule = rule
}
