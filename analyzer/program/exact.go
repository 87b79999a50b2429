package program

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// An exactRow is the values of a parameter on one thread, call after call.
type exactRow struct {
	rank  int
	by    caller
	terms []Term
}

// exact returns the value of a parameter in every call: see Parameter.Exact.
func (w *writer) exact(n *node, p *trace.Parameter, k, number int) []Exact {
	rows := w.exactRows(n, p, k, number)
	byLength, lengths := map[int][]exactRow{}, []int{}
	known := false
	for _, r := range rows {
		if byLength[len(r.terms)] == nil {
			lengths = append(lengths, len(r.terms))
		}
		byLength[len(r.terms)] = append(byLength[len(r.terms)], r)
		known = known || slices.ContainsFunc(r.terms, func(t Term) bool { return !t.isNothing() })
	}
	if !known {
		return nil
	}
	var list []Exact
	for _, length := range lengths {
		some := byLength[length]
		one := Exact{Cycle: w.turns(some)}
		if len(lengths) > 1 {
			one.Ranks = ranksText(ranksOfExact(some))
		}
		list = append(list, one)
	}
	return list
}

func ranksOfExact(rows []exactRow) []int {
	ranks := make([]int, len(rows))
	for i, r := range rows {
		ranks[i] = r.rank
	}
	return ranks
}

// exactRows returns the k-th argument on all threads that make a call.
func (w *writer) exactRows(n *node, p *trace.Parameter, k, number int) []exactRow {
	var rows []exactRow
	for _, v := range n.calls {
		values, varies := make([]*trace.Value, len(v.cycle)), false
		for i, terminal := range v.cycle {
			in := w.signatures[terminal].In
			if k >= len(in) {
				return nil
			}
			values[i] = &in[k]
			varies = varies || differs(values[i])
		}
		var terms []Term
		for _, c := range v.classes {
			for _, thread := range w.classes[c].threads {
				by := w.caller(v.cycle, thread)
				if terms == nil || varies {
					terms = make([]Term, len(v.cycle))
					for i, terminal := range v.cycle {
						var known bool
						if terms[i], known = w.term(values[i], p.Kind, thread, by); !known {
							terms[i] = w.streamed(argumentOf{terminal, k, number})
						}
					}
				}
				rows = append(rows, exactRow{w.rank(thread), by, terms})
			}
		}
	}
	return rows
}

// term returns a value on a thread; false: it has to be looked up in the thread's calls.
func (w *writer) term(v *trace.Value, kind string, thread int, by caller) (Term, bool) {
	switch v.Form {
	case trace.Column, trace.RankOffset, trace.Elastic:
		if w.trace.OfLeads() {
			return Term{}, false // peers of leads are transposed
		}
		own := -1
		if by.known {
			own = by.rank
		}
		there, err := w.trace.ValueOn(*v, thread, own)
		if err != nil || differs(&there) {
			return Term{}, false
		}
		if there.Form == trace.Int {
			there = trace.ValueOf(kind, there.Int)
		}
		v = &there
	case trace.Stream, trace.ListStream:
		return Term{}, false
	case trace.List:
		list := make([]Term, len(v.List))
		for i := range v.List {
			var known bool
			if list[i], known = w.term(&v.List[i], kind, thread, by); !known {
				return Term{}, false
			}
		}
		return Term{List: list}, true
	}
	return w.plain(v, kind), true
}

// plain returns a value that does not depend on anything else.
func (w *writer) plain(v *trace.Value, kind string) Term {
	switch v.Form {
	case trace.Null:
		return Term{Null: true}
	case trace.Int:
		return Term{Number: &v.Int}
	case trace.Float:
		if x := math.Float64frombits(uint64(v.Int)); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return Term{Float: &x}
		}
	case trace.Text, trace.Name:
		return Term{Text: &v.Text}
	case trace.List:
		list := make([]Term, len(v.List))
		for i := range v.List {
			list[i] = w.plain(&v.List[i], kind)
		}
		return Term{List: list}
	case trace.Handle, trace.Code:
	default:
		return Term{}
	}
	text := w.value(v, kind, 0, -1)
	return Term{Text: &text}
}

// turns packs rows of one length, call after call.
func (w *writer) turns(rows []exactRow) []Turn {
	var turns turnList
	first := rows[0].terms
	same := !slices.ContainsFunc(rows, func(r exactRow) bool { return len(first) > 0 && &r.terms[0] != &first[0] })
	for i := range first {
		if same {
			turns.add([]Term{first[i]})
		} else {
			turns.add(w.turn(rows, i))
		}
	}
	return turns.list
}

// turn returns the terms of the i-th call on all ranks: functions of the rank, tables, or single
// terms with their ranks.
func (w *writer) turn(rows []exactRow, i int) []Term {
	var samples []sample
	var by []caller
	var groups []exactGroup
	at := map[string]int{}
	for _, r := range rows {
		t := &r.terms[i]
		if t.Number != nil {
			samples, by = append(samples, sample{r.rank, r.rank, *t.Number}), append(by, r.by)
			continue
		}
		key := t.key()
		k, known := at[key]
		if !known {
			k = len(groups)
			at[key] = k
			groups = append(groups, exactGroup{term: *t})
		}
		groups[k].ranks = append(groups[k].ranks, r.rank)
	}
	if len(samples) > 0 {
		groups = append(groups, w.numberGroups(samples, by)...)
	}
	slices.SortStableFunc(groups, func(a, b exactGroup) int { return cmp.Compare(len(b.ranks), len(a.ranks)) })
	terms := make([]Term, len(groups))
	for k, g := range groups {
		terms[k] = g.term
		if len(g.ranks) < len(rows) {
			terms[k].Ranks = ranksText(g.ranks)
		}
	}
	return terms
}

// An exactGroup is a term with the ranks that have it.
type exactGroup struct {
	term  Term
	ranks []int
}

// numberGroups returns functions that give samples, and a table of the rest.
func (w *writer) numberGroups(samples []sample, by []caller) []exactGroup {
	var groups []exactGroup
	numbers := map[int]int64{}
	for _, s := range samples {
		numbers[s.world] = s.number
	}
	for _, g := range functionsOf(samples, by, w.trace.Meta().WorldSize, w.options.Coordinates) {
		one := exactGroup{ranks: g.ranks}
		switch {
		case g.function == nil:
			one.term.ByRank = tableOf(g.ranks, numbers)
		default:
			if x, constant := g.function.constant(); constant {
				one.term.Number = &x
				break
			}
			f := *g.function
			f.Numbering = w.numbering(&f, samples, by)
			one.term.Function = &f
		}
		groups = append(groups, one)
	}
	return groups
}

// numbering returns the numbering that a function's argument is from: see Function.Numbering.
func (w *writer) numbering(f *Function, samples []sample, by []caller) int {
	of := map[int]int64{}
	var ranks []int
	add := func(rank, number int) { ranks, of[rank] = append(ranks, rank), int64(number) }
	switch k := slices.IndexFunc(w.options.Coordinates, func(c Coordinate) bool { return c.Name == f.Of }); {
	case k >= 0:
		for rank, x := range w.options.Coordinates[k].Of {
			if x >= 0 {
				add(rank, x)
			}
		}
	case f.Of == worldRank:
		return 0
	default:
		moved := false
		for i, s := range samples {
			add(s.world, by[i].rank)
			moved = moved || s.world != by[i].rank
		}
		if !moved {
			return 0
		}
	}
	table := *tableOf(ranks, of)
	key := f.Of + marshaled(table)
	number, known := w.numberings[key]
	if !known {
		w.found.Numberings = append(w.found.Numberings, Numbering{f.Of, table})
		number = len(w.found.Numberings)
		if w.numberings == nil {
			w.numberings = map[string]int{}
		}
		w.numberings[key] = number
	}
	return number
}

// tableOf returns a table of the numbers of ranks.
func tableOf(ranks []int, numbers map[int]int64) *Table {
	ranks = slices.Clone(ranks)
	slices.Sort(ranks)
	list := make([]int64, len(ranks))
	for i, rank := range ranks {
		list[i] = numbers[rank]
	}
	return &Table{ranksText(ranks), progressions(list)}
}

// progressions packs numbers.
func progressions(list []int64) []Progression {
	packed := []Progression{}
	for i := 0; i < len(list); {
		p := Progression{First: list[i], Count: 1}
		if i+1 < len(list) {
			p.Step = list[i+1] - list[i]
			for i+p.Count < len(list) && list[i+p.Count]-list[i+p.Count-1] == p.Step {
				p.Count++
			}
			if p.Count == 2 && p.Step != 0 {
				p.Count = 1 // two numbers are not a progression
			}
		}
		if p.Count == 1 {
			p.Step = 0
		}
		packed = append(packed, p)
		i += p.Count
	}
	return packed
}

// A turnList packs consecutive terms.
type turnList struct {
	list []Turn
	last string // key of the last turn's terms, if there are several or it is not a number
}

func (l *turnList) add(terms []Term) {
	if len(l.list) > 0 && l.extend(&l.list[len(l.list)-1], terms) {
		return
	}
	l.list = append(l.list, Turn{Times: 1, Terms: terms})
	l.last = ""
}

// extend adds terms to a turn if they continue it.
func (l *turnList) extend(turn *Turn, terms []Term) bool {
	if len(terms) == 1 && len(turn.Terms) == 1 && terms[0].Number != nil && turn.Terms[0].Number != nil {
		last := &turn.Terms[0]
		if turn.Times == 1 {
			own := *last // the turn starts to be a progression
			own.Step = *terms[0].Number - *last.Number
			turn.Terms, turn.Times = []Term{own}, 2
			return true
		}
		if *terms[0].Number != *last.Number+last.Step*int64(turn.Times) {
			return false
		}
		turn.Times++
		return true
	}
	if len(terms) != len(turn.Terms) {
		return false
	}
	if l.last == "" {
		l.last = marshaled(turn.Terms)
	}
	if marshaled(terms) != l.last {
		return false
	}
	turn.Times++
	return true
}

func (t *Term) isNothing() bool {
	return t.Number == nil && t.Float == nil && t.Text == nil && !t.Null && t.List == nil && t.Function == nil && t.ByRank == nil && t.Stream == nil
}

// key is equal for equal terms.
func (t *Term) key() string {
	if t.Text != nil {
		return "t" + *t.Text
	}
	return marshaled(t)
}

func marshaled(v any) string {
	b, _ := json.Marshal(v) // numbers, texts and lists of them never fail
	return string(b)
}
