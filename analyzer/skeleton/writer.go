package skeleton

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/mpi"
)

// A writer writes the program in C.
type writer struct {
	*observer
	row               map[int]int // by world rank
	symbols           []*symbol
	handles           map[mpi.Kind]*variables
	tables            strings.Builder
	cells             int
	functions         strings.Builder
	taken             map[string]bool // names of functions and tables
	counters          []string
	helpers           map[string]bool
	longest           int // maximum length of a list of requests that is picked
	statusesOf        int // maximum length of a list of requests with statuses
	files             []string
	fixed             []string // why the program runs on the recorded number of ranks only
	scale             float64
	shortened         []shortened
	shape             *shape   // nil: there is none
	counting          bool     // requests
	partial           []string // what only some ranks do
	messagesElsewhere []exchange
}

// A symbol is a variable with the result of a call.
type symbol struct {
	name   string
	kind   mpi.Kind
	call   int // number of the step
	values map[int]scalar
	comms  map[int]int
	used   bool
	length int // of an array, 0: none
}

// maxCells is the maximum number of numbers in tables of a program.
const maxCells = 1 << 18

// room counts the cells of a table.
func (w *writer) room(of *subject, cells int) error {
	w.cells += cells
	if w.cells > maxCells {
		return fmt.Errorf("%w: with %s, tables have more than %d numbers", program.ErrIrregular, of.what, maxCells)
	}
	return nil
}

// array writes a table, a row for each rank, and returns the C expression of the caller's row, or
// of its only number.
func (w *writer) array(ctype, name string, cells [][]string, byRank bool) string {
	name = w.unique(name)
	dimensions, text := "", name
	if byRank {
		dimensions, text = fmt.Sprintf("[%d]", len(cells)), name+"[rank]"
	}
	deep := len(cells[0]) > 1
	if deep {
		dimensions += fmt.Sprintf("[%d]", len(cells[0]))
	}
	rows := make([]string, len(cells))
	for i, row := range cells {
		rows[i] = strings.Join(row, ", ")
		if deep && byRank {
			rows[i] = "{" + rows[i] + "}"
		}
	}
	separator := ", "
	if deep && byRank {
		separator = ",\n    "
	}
	body := strings.Join(rows, separator)
	if len(body) > 100 && !(deep && byRank) {
		body = wrapped(body)
	}
	space := " "
	if strings.HasSuffix(ctype, "*") {
		space = ""
	}
	open, end := "{", "}"
	if len(body) > 100 || strings.Contains(body, "\n") {
		open, end = "{\n    ", ",\n}"
	}
	fmt.Fprintf(&w.tables, "static const %s%s%s%s = %s%s%s;\n", ctype, space, name, dimensions, open, body, end)
	return text
}

// wrapped breaks a long list into lines.
func wrapped(list string) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(list, ", ") {
		if i > 0 {
			if column+len(word) > 110 {
				b.WriteString(",\n    ")
				column = 0
			} else {
				b.WriteString(", ")
			}
		}
		b.WriteString(word)
		column += len(word) + 2
	}
	return b.String()
}

// unique returns an unused name.
func (w *writer) unique(name string) string {
	for i := 1; ; i++ {
		one := name
		if i > 1 {
			one = fmt.Sprintf("%s_%d", name, i)
		}
		if !w.taken[one] {
			w.taken[one] = true
			return one
		}
	}
}

// noteRestriction records why the program is for the recorded number of ranks only.
func (w *writer) noteRestriction(e expression) {
	if e.fixed != "" && !slices.Contains(w.fixed, e.fixed) {
		w.fixed = append(w.fixed, e.fixed)
	}
}

// A scope is the context of statements.
type scope struct {
	ranks  []int  // ranks that get here
	depth  int    // of functions in the call path
	loops  int    // surrounding loops in this function
	index  string // of the innermost loop in this function; "": there is none
	loop   *step  // that loop, or the call that is repeated
	indent string
	times  []func(*spot) float64 // factors of how often ranks get here; nil: unknown
}

// often returns a scope that ranks reach more or less often.
func (s scope) often(times func(*spot) float64) scope {
	s.times = append(slices.Clip(s.times), times)
	return s
}

func (s scope) deeper() scope {
	s.indent += "    "
	return s
}

// list writes statements.
func (w *writer) list(out *strings.Builder, steps []*step, in scope) error {
	var before []int // the ranks of the preceding condition, if that may have an else branch
	var beforeTimes func(*spot) float64
	var last order
	for i := 0; i < len(steps); {
		s := steps[i]
		n := 1
		inner := len(s.callers) > in.depth
		for ; i+n < len(steps); n++ { // calls from the same call site
			next := steps[i+n]
			if inner != (len(next.callers) > in.depth) || inner && next.callers[in.depth] != s.callers[in.depth] {
				break
			}
		}
		run := steps[i : i+n]
		if !inner || !w.sameGuard(run) { // calls with one condition
			if !inner {
				for n = 1; n < len(run) && w.sameGuard(run[:n+1]); {
					n++
				}
				run = run[:n]
			}
		}
		i += n
		shared := w.sameGuard(run)
		ranks := w.ranksOf(run)
		now := in
		if shared {
			g, err := w.guard(s, in)
			if err != nil {
				return err
			}
			w.inOrder(&last, order{run, ranks, g.times})
			if g.text != "" {
				isElse := before != nil && g.onlyRanks && !g.toNeighbor && disjoint(before, ranks) && len(before)+len(ranks) == len(in.ranks)
				if isElse {
					trimEnd(out, in.indent+"}\n")
					fmt.Fprintf(out, "%s} else {\n", in.indent)
				} else {
					w.noteRestriction(g.expression)
					fmt.Fprintf(out, "%sif (%s) {\n", in.indent, g.text)
				}
				now = now.deeper()
				if isElse {
					g.times = otherTimes(beforeTimes)
				}
				now = now.often(g.times)
				before = nil
				if g.onlyRanks && !g.toNeighbor && !isElse {
					before, beforeTimes = ranks, g.times
				}
			} else {
				before = nil
			}
			now.ranks = ranks
			if err := w.unguarded(out, run, now, inner, true); err != nil {
				return err
			}
			if g.text != "" {
				fmt.Fprintf(out, "%s}\n", in.indent)
			}
			continue
		}
		before = nil
		w.inOrder(&last, order{run, ranks, nil})
		if err := w.unguarded(out, run, now, inner, false); err != nil {
			return err
		}
	}
	return nil
}

func trimEnd(out *strings.Builder, end string) {
	text := strings.TrimSuffix(out.String(), end)
	out.Reset()
	out.WriteString(text)
}

func disjoint(a, b []int) bool {
	return !slices.ContainsFunc(a, func(x int) bool { return slices.Contains(b, x) })
}

// unguarded writes steps, as a function if their call path has one. guarded: their condition is
// already written.
func (w *writer) unguarded(out *strings.Builder, run []*step, in scope, inner, guarded bool) error {
	// a loop of one call of a function surrounds that call
	if !inner || len(run) == 1 && len(run[0].body) > 1 {
		for _, s := range run {
			if err := w.step(out, s, in); err != nil {
				return err
			}
		}
		return nil
	}
	name := w.unique(identifier(run[0].inside[in.depth+1]))
	var body strings.Builder
	deep := scope{ranks: in.ranks, depth: in.depth + 1, indent: "    ", times: in.times}
	if guarded {
		deep.ranks = w.ranksOf(run)
	}
	write := w.list
	if guarded {
		write = w.plain
	}
	if err := write(&body, run, deep); err != nil {
		return err
	}
	fmt.Fprintf(&w.functions, "static void %s(void)\n{\n%s}\n\n", name, body.String())
	fmt.Fprintf(out, "%s%s();\n", in.indent, name)
	return nil
}

// plain writes statements whose condition is already written.
func (w *writer) plain(out *strings.Builder, steps []*step, in scope) error {
	for i := 0; i < len(steps); {
		s, n := steps[i], 1
		inner := len(s.callers) > in.depth
		for ; i+n < len(steps); n++ {
			next := steps[i+n]
			if inner != (len(next.callers) > in.depth) || inner && next.callers[in.depth] != s.callers[in.depth] {
				break
			}
		}
		if err := w.unguarded(out, steps[i:i+n], in, inner, true); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// step writes a loop or a call whose condition is already written.
func (w *writer) step(out *strings.Builder, s *step, in scope) error {
	trips := w.tripColumns(s)
	once, count := true, expression{}
	for _, c := range trips {
		for _, x := range c.values {
			once = once && x.number <= 1
		}
	}
	inner := in
	if !once {
		var err error
		of := &subject{what: "the number of iterations at " + w.nameOf(s), table: fmt.Sprintf("trips_%d", s.Number), kind: mpi.KindInt, ctype: "int",
			index: w.index(s, in, "come")}
		if s.turns != nil {
			count = *s.turns
		} else if count, err = w.expressionOf(of, trips); err != nil {
			return err
		}
		text := count.text
		if k, n, found := w.messages.shortenedTo(s); found && in.loops == 0 {
			text = fmt.Sprint(k)
			w.shortened = append(w.shortened, shortened{s, k, n})
			fmt.Fprintf(out, "%s// %d iterations were recorded\n", in.indent, n)
			count.value = func(*spot) int64 { return int64(k) }
		}
		w.noteRestriction(count)
		v := string("ijklmnpq"[min(in.loops, 7)])
		if in.loops > 7 {
			v = fmt.Sprintf("i%d", in.loops)
		}
		post := ""
		if counter := fmt.Sprintf("come%d", s.Number); strings.Contains(text, counter) {
			w.count(counter)
			post = counter
		}
		if strings.Contains(text, "?") {
			text = "(" + text + ")"
		}
		fmt.Fprintf(out, "%sfor (int %s = 0; %s < %s; %s++) {\n", in.indent, v, v, text, v)
		inner = inner.deeper()
		inner = inner.often(timesOf(count))
		inner.loops, inner.index, inner.loop = in.loops+1, v, s
		defer func() {
			fmt.Fprintf(out, "%s}\n", in.indent)
			if post != "" {
				fmt.Fprintf(out, "%s%s++;\n", in.indent, post)
			}
		}()
	}
	if len(s.body) > 0 {
		return w.list(out, s.body, inner)
	}
	return w.call(out, s, inner, !once)
}

func (w *writer) count(counter string) {
	if !slices.Contains(w.counters, counter) {
		w.counters = append(w.counters, counter)
	}
}

// reachedOnce reports whether all ranks reach a step once.
func (w *writer) reachedOnce(s *step) bool {
	for _, b := range s.ranks {
		if b != nil && b.trips.n != 1 {
			return false
		}
	}
	return true
}

// index returns a counter of how often a step was reached.
func (w *writer) index(s *step, in scope, counter string) string {
	if in.index != "" && w.reachedOnce(in.loop) {
		return in.index
	}
	return fmt.Sprintf("%s%d", counter, s.Number)
}

// repeatsEachTime reports whether a rank's calls are the same each time that it reaches the
// surrounding loop.
func repeatsEachTime(calls int, loop *behavior) bool {
	return loop != nil && loop.trips.list == nil && calls > 0 && int(loop.trips.same)%calls == 0
}

// nameOf names a step for people.
func (w *writer) nameOf(s *step) string {
	for len(s.body) > 0 {
		s = s.body[0]
	}
	return s.text()
}

// tripColumns returns the trip counts of a step by rank.
func (w *writer) tripColumns(s *step) []column {
	var list []column
	for row, b := range s.ranks {
		if b == nil {
			continue
		}
		c := column{world: w.ranks[row], own: w.ranks[row], size: len(w.ranks), n: b.trips.n}
		guarded := slices.Contains(presence(b), 0)
		for _, n := range b.trips.cycle() {
			x := scalar{number: int64(n)}
			if guarded && n == 0 {
				x = scalar{name: insignificant}
			}
			c.values = append(c.values, x)
		}
		list = append(list, c)
	}
	return list
}

// ranksOf returns the ranks that reach one of some steps.
func (w *writer) ranksOf(steps []*step) []int {
	var list []int
	for row, r := range w.ranks {
		for _, s := range steps {
			if s.ranks[row] != nil {
				list = append(list, r)
				break
			}
		}
	}
	return list
}

// A guard is the condition of a step.
type guard struct {
	expression
	onlyRanks  bool
	toNeighbor bool // it is that a neighbor exists
	times      func(*spot) float64
}

// sameGuard reports whether consecutive steps have one condition.
func (w *writer) sameGuard(steps []*step) bool {
	a := steps[0]
	for _, b := range steps[1:] {
		for row := range a.ranks {
			x, y := a.ranks[row], b.ranks[row]
			if (x == nil) != (y == nil) {
				return false
			}
			if x == nil {
				continue
			}
			if xs, ys := presence(x), presence(y); x.trips.n != y.trips.n || !slices.Equal(xs, ys) {
				return false
			}
		}
	}
	return true
}

// presence returns, as a cycle, in which of the times that a rank reaches a step it executes it.
// The loop accounts for how often.
func presence(b *behavior) []int32 {
	list := slices.Clone(b.trips.cycle())
	often := slices.Max(append([]int32{1}, list...))
	for i, n := range list {
		if n != 0 && n != often {
			return []int32{1}
		}
		list[i] = min(n, 1)
	}
	return shortest(list)
}

// guard returns the condition of a step; "" if it has none.
func (w *writer) guard(s *step, in scope) (guard, error) {
	ranks := w.ranksOf([]*step{s})
	g := guard{onlyRanks: true}
	if !slices.Equal(ranks, in.ranks) {
		steps := w.towards(s)
		e, err := w.condition(ranks, in.ranks, steps, fmt.Sprintf("ranks_%d", s.Number))
		if err != nil {
			return g, err
		}
		g.expression, g.toNeighbor = e, steps != nil && strings.Contains(e.text, "place[")
	}
	g.times = timesOf(g.expression)
	var columns []column
	always := true
	for row, b := range s.ranks {
		if b == nil {
			continue
		}
		c := column{world: w.ranks[row], own: w.ranks[row], size: len(w.ranks), n: b.trips.n}
		for _, n := range presence(b) {
			always = always && n == 1
			c.values = append(c.values, scalar{number: int64(n)})
		}
		columns = append(columns, c)
	}
	if always {
		return g, nil
	}
	g.onlyRanks = false
	index := w.index(s, in, "come")
	e, err := w.presence(s, columns, index)
	if err != nil {
		return g, err
	}
	g.times = together(g.times, sharePresent(columns), g.text != "")
	if counter := fmt.Sprintf("come%d", s.Number); index == counter {
		w.count(counter)
		e.text = strings.Replace(e.text, counter, counter+"++", 1)
	}
	if g.text == "" {
		g.expression = e
		return g, nil
	}
	if strings.Contains(e.text, "||") {
		e.text = "(" + e.text + ")"
	}
	g.expression = expression{text: g.text + " && " + e.text, fixed: cmp.Or(g.fixed, e.fixed)}
	return g, nil
}

// presence returns the condition of what is executed in some iterations.
func (w *writer) presence(s *step, columns []column, index string) (expression, error) {
	if alike(columns) {
		values, n := columns[0].values, columns[0].n
		ones, zeros := 0, 0
		one, zero := 0, 0
		for i, x := range values {
			if x.number == 1 {
				ones, one = ones+1, i
			} else {
				zeros, zero = zeros+1, i
			}
		}
		whole := len(values) == n
		switch {
		case whole && ones == 1:
			return expression{text: fmt.Sprintf("%s == %d", index, one)}, nil
		case whole && zeros == 1:
			return expression{text: fmt.Sprintf("%s != %d", index, zero)}, nil
		case ones == 1:
			return expression{text: fmt.Sprintf("%s %% %d == %d", index, len(values), one)}, nil
		case zeros == 1:
			return expression{text: fmt.Sprintf("%s %% %d != %d", index, len(values), zero)}, nil
		case whole && one == ones-1:
			return expression{text: fmt.Sprintf("%s < %d", index, ones)}, nil
		case whole && zero == zeros-1:
			return expression{text: fmt.Sprintf("%s >= %d", index, zeros)}, nil
		}
	}
	of := &subject{what: "when " + w.nameOf(s) + " comes", table: fmt.Sprintf("when_%d", s.Number), ctype: "char", index: index}
	if alike(columns) {
		return w.table(of, columns[:1])
	}
	// it may be that of the ranks for which this is always so
	of.kind = mpi.KindInt
	if single := !slices.ContainsFunc(columns, func(c column) bool { return len(c.values) > 1 }); single {
		var ranks []int
		for _, c := range columns {
			if c.values[0].number == 1 {
				ranks = append(ranks, c.world)
			}
		}
		if len(ranks) == 0 {
			return expression{text: "0"}, nil
		}
		return w.condition(ranks, worlds(columns), nil, fmt.Sprintf("ranks_%d", s.Number))
	}
	return w.table(of, columns)
}

// errUnsupported is the error of something that a skeleton cannot have.
var errUnsupported = errors.New("this is not in a skeleton")
