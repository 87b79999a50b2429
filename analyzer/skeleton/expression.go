package skeleton

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// An expression is a piece of C, with the reason why it is valid for the recorded number of ranks
// only; "": it is valid for others, too.
type expression struct {
	text, fixed string
	value       func(*spot) int64 // for any number of ranks; nil: unknown. For conditions 0 or 1.
	turns       bool              // value depends on the iteration
}

// A column is the values on one rank, call after call, as a cycle.
type column struct {
	world     int // rank
	own, size int // rank in the communicator, and its size; −1: unknown
	values    []scalar
	n         int // number of values, with cycles repeated
}

// A subject describes what an expression is for.
type subject struct {
	what  string // "dest of MPI_Send at x.c:12"
	table string // name of a table of the values
	kind  mpi.Kind
	ctype string
	index string // counter of the calls, in C
	comm  string // the communicator, in C; "": MPI_COMM_WORLD
	comms []int  // its instances, by world rank; nil: unknown
	// number of iterations of the surrounding loop, according to the shape; nil: not
	// determined by it
	turns func(*spot) int64
}

// minRanks is the minimum number of ranks that determine a function of the rank: with two, (rank+1)
// % 2 can be anything.
const minRanks = 3

// expressionOf returns the value of the columns in C.
func (w *writer) expressionOf(of *subject, columns []column) (expression, error) {
	var have []column
	for _, c := range columns {
		c.values = significant(c.values)
		if len(c.values) > 0 {
			c.values = shortest(c.values)
			have = append(have, c)
		}
	}
	if len(have) == 0 {
		return expression{text: w.anything(of.kind)}, nil
	}
	if v := w.handles[of.kind]; of.kind.IsHandle() && v != nil && v.array && numbered(have) {
		place := *of
		place.kind, place.ctype = mpi.KindInt, "int"
		e, err := w.expressionOf(&place, have)
		return expression{text: w.handle(of.kind, e.text), fixed: e.fixed}, err
	}
	if !slices.ContainsFunc(have, func(c column) bool { return len(c.values) > 1 }) {
		return w.byRank(of, have)
	}
	if alike(have) {
		return w.inTurn(of, have[0])
	}
	if e, found := w.byTurn(of, have); found {
		return e, nil
	}
	if of.kind == mpi.KindRank || of.kind == mpi.KindRoot {
		if e, found := w.relative(of, have); found {
			return e, nil
		}
	}
	return w.table(of, have)
}

// significant returns a list without insignificant elements.
func significant(values []scalar) []scalar {
	if !slices.ContainsFunc(values, func(x scalar) bool { return x.name == insignificant }) {
		return values
	}
	var last *scalar
	for i := range values {
		if values[i].name != insignificant {
			last = &values[i]
			break
		}
	}
	if last == nil {
		return nil
	}
	list := slices.Clone(values)
	for i := range list {
		if list[i].name == insignificant {
			list[i] = *last
		} else {
			last = &values[i]
		}
	}
	return list
}

// numbered reports whether all values are numbers.
func numbered(columns []column) bool {
	return !slices.ContainsFunc(columns, func(c column) bool {
		return slices.ContainsFunc(c.values, func(x scalar) bool { return x.name != "" })
	})
}

func alike(columns []column) bool {
	return !slices.ContainsFunc(columns, func(c column) bool { return !slices.Equal(c.values, columns[0].values) })
}

// byRank returns a value that is constant on each rank.
func (w *writer) byRank(of *subject, columns []column) (expression, error) {
	first := columns[0].values[0]
	if alike(columns) {
		if e, found := w.neighbor(of, columns); found {
			return e, nil
		}
		return w.literal(of, first)
	}
	if of.kind == mpi.KindRank || of.kind == mpi.KindRoot {
		if e, found := w.symbol(of, columns); found {
			return e, nil
		}
	}
	if e, found := w.neighbor(of, columns); found {
		return e, nil
	}
	if !of.kind.IsHandle() {
		if e, found := w.coordinate(columns); found {
			return e, nil
		}
		if e, found := w.function(of, columns); found {
			return e, nil
		}
	}
	return w.cases(of, columns)
}

// cases returns one value for some ranks, with a simple condition, and something else for the
// others.
func (w *writer) cases(of *subject, columns []column) (expression, error) {
	var names []scalar
	for _, c := range columns {
		if !slices.Contains(names, c.values[0]) {
			names = append(names, c.values[0])
		}
	}
	around := worlds(columns)
	for _, x := range names {
		named := x.name != "" || of.kind.IsHandle()
		if !named && len(names) > 2 {
			continue
		}
		without := slices.DeleteFunc(slices.Clone(columns), func(c column) bool { return c.values[0] == x })
		condition, found := w.simple(worlds(without), around, nil)
		if !found {
			continue
		}
		other, err := w.byRank(of, without)
		if err != nil {
			continue
		}
		one, err := w.literal(of, x)
		if err != nil {
			return one, err
		}
		if strings.Contains(other.text, "?") {
			other.text = "(" + other.text + ")"
		}
		e := expression{text: fmt.Sprintf("%s ? %s : %s", condition.text, other.text, one.text), fixed: cmp.Or(condition.fixed, other.fixed, one.fixed)}
		if condition.value != nil && other.value != nil && one.value != nil {
			e.value = func(s *spot) int64 {
				if condition.value(s) != 0 {
					return other.value(s)
				}
				return one.value(s)
			}
		}
		return e, nil
	}
	return w.table(of, columns)
}

func worlds(columns []column) []int {
	list := make([]int, len(columns))
	for i, c := range columns {
		list[i] = c.world
	}
	return list
}

// literal returns a single value.
func (w *writer) literal(of *subject, x scalar) (expression, error) {
	switch {
	case x.name == memory && of.kind == mpi.KindBuffer:
		return expression{text: of.table}, nil
	case x.name == memory || x.name == insignificant:
		return expression{text: w.anything(of.kind)}, nil
	case x.name != "":
		return named(x.name), nil
	case of.kind.IsHandle():
		return expression{text: w.handle(of.kind, fmt.Sprint(x.number))}, nil
	}
	return expression{text: number(x.number), value: func(*spot) int64 { return x.number }}, nil
}

// named returns something with a name in C.
func named(name string) expression {
	e := expression{text: name}
	switch name {
	case "MPI_PROC_NULL":
		e.value = func(*spot) int64 { return noRank }
	case "MPI_ANY_SOURCE":
		e.value = func(*spot) int64 { return anyRank }
	}
	return e
}

// number formats an integer in C.
func number(x int64) string {
	if x > 1<<31-1 || x < -1<<31 {
		return fmt.Sprintf("%dL", x)
	}
	return fmt.Sprint(x)
}

// symbol returns a result of an earlier call (MPI_Cart_shift) that equals the value on all ranks.
func (w *writer) symbol(of *subject, columns []column) (expression, bool) {
	var found []*symbol
	for _, s := range w.symbols {
		if s.kind == of.kind && !slices.ContainsFunc(columns, func(c column) bool {
			x, known := s.values[c.world]
			return !known || x != c.values[0] || s.comms[c.world] != w.commOf(of, c.world)
		}) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return expression{}, false
	}
	e := expression{text: found[0].name}
	found[0].used = true
	for _, other := range found[1:] {
		if other.call != found[0].call {
			e.fixed = fmt.Sprintf("%s may be %s or %s", of.what, found[0].name, other.name)
			break
		}
	}
	return e, true
}

func (w *writer) commOf(of *subject, world int) int {
	if of.comms == nil {
		return -1
	}
	return of.comms[world]
}

// own returns the caller's rank in the communicator, and its size, in C; false: unknown.
func own(of *subject, columns []column, world int) (rank, size string, known bool) {
	differs := false // from the rank in MPI_COMM_WORLD
	for _, c := range columns {
		if c.own < 0 {
			return "rank", "size", false
		}
		differs = differs || c.own != c.world || c.size != world
	}
	if !differs || of.comm == "" {
		return "rank", "size", !differs
	}
	return "rank_in(" + of.comm + ")", "size_of(" + of.comm + ")", true
}

// function returns a number as a function of the rank.
func (w *writer) function(of *subject, columns []column) (expression, bool) {
	if slices.ContainsFunc(columns, func(c column) bool { return c.values[0].name != "" }) {
		return expression{}, false
	}
	rank, size, known := own(of, columns, len(w.ranks))
	if !known {
		for i := range columns {
			columns[i].own, columns[i].size = columns[i].world, len(w.ranks)
		}
	}
	peer := of.kind == mpi.KindRank || of.kind == mpi.KindRoot
	n, sameSize := int64(columns[0].size), true
	for _, c := range columns {
		sameSize = sameSize && int64(c.size) == n
	}
	fits := func(f func(r, n int64) int64) bool {
		return !slices.ContainsFunc(columns, func(c column) bool { return f(int64(c.own), n) != c.values[0].number })
	}
	x, r := columns[0].values[0].number, int64(columns[0].own)
	var found []expression
	try := func(text string, f func(r, n int64) int64) {
		if !fits(f) {
			return
		}
		e := expression{text: text}
		if rank == "rank" && w.inWorld(columns) {
			e.value = func(s *spot) int64 { return f(int64(s.rank), int64(s.size)) }
		}
		found = append(found, e)
	}
	try(plus(rank, x-r), func(q, _ int64) int64 { return q + x - r })
	if peer && sameSize && n > 1 {
		d := ((x-r)%n + n) % n
		if 2*d > n {
			try(fmt.Sprintf("(%s + %s %s) %% %s", rank, size, minus(n-d), size), func(q, m int64) int64 { return (q + m - (n - d)) % m })
		} else {
			try(fmt.Sprintf("(%s) %% %s", plus(rank, d), size), func(q, m int64) int64 { return (q + d) % m })
		}
		try(fmt.Sprintf("%s - 1 - %s", size, rank), func(q, m int64) int64 { return m - 1 - q })
	}
	power := n&(n-1) == 0 && n > 1
	if x >= 0 && power && peer {
		try(fmt.Sprintf("%s ^ %d", rank, x^r), func(q, _ int64) int64 { return q ^ x ^ r })
	}
	if len(columns) < minRanks {
		if len(found) == 0 {
			return expression{}, false
		}
		found[0].fixed = fmt.Sprintf("%s may be %s or something else: that takes more ranks to tell", of.what, found[0].text)
		return found[0], true
	}
	if len(found) == 0 {
		for c := int64(2); c <= n/2; c++ {
			try(fmt.Sprintf("%s %% %d", rank, c), func(q, _ int64) int64 { return q % c })
			try(fmt.Sprintf("%s / %d", rank, c), func(q, _ int64) int64 { return q / c })
		}
	}
	if a := columns[1].values[0].number - x; len(found) == 0 && columns[1].own == columns[0].own+1 && a != 0 {
		b := x - a*r
		try(sum(fmt.Sprintf("%d * %s", a, rank), b), func(q, _ int64) int64 { return a*q + b })
	}
	if len(found) == 0 {
		return expression{}, false
	}
	if peer && strings.Contains(found[0].text, "^") {
		found[0].fixed = of.what + " is " + found[0].text + ", which is a rank of some numbers of ranks only"
	}
	return found[0], true
}

func plus(term string, b int64) string { return sum(term, b) }

func sum(term string, b int64) string {
	switch {
	case b == 0:
		return term
	case b < 0:
		return fmt.Sprintf("%s - %d", term, -b)
	}
	return fmt.Sprintf("%s + %d", term, b)
}

func minus(b int64) string { return fmt.Sprintf("- %d", b) }

// inTurn returns a value that differs from call to call, but not between ranks.
func (w *writer) inTurn(of *subject, c column) (expression, error) {
	if step, ok := progression(c); ok {
		return expression{text: sum(times(step, of.index), c.values[0].number)}, nil
	}
	return w.table(of, []column{c})
}

func times(a int64, term string) string {
	switch a {
	case 1:
		return term
	case -1:
		return "-" + term
	}
	return fmt.Sprintf("%d * %s", a, term)
}

// progression returns the step of evenly spaced numbers.
func progression(c column) (int64, bool) {
	if len(c.values) < minRanks || len(c.values) != c.n {
		return 0, false
	}
	step := c.values[1].number - c.values[0].number
	for i, x := range c.values {
		if x.name != "" || x.number != c.values[0].number+int64(i)*step {
			return 0, false
		}
	}
	return step, true
}

// relative returns a peer that differs from call to call, but is the same on all ranks relative to
// the caller.
func (w *writer) relative(of *subject, columns []column) (expression, bool) {
	rank, size, known := own(of, columns, len(w.ranks))
	if !known || len(columns) < minRanks {
		return expression{}, false
	}
	for _, c := range columns {
		if c.size != columns[0].size || slices.ContainsFunc(c.values, func(x scalar) bool { return x.name != "" }) {
			return expression{}, false
		}
	}
	for _, form := range []struct {
		of   func(x, r, n int64) int64
		text string
	}{
		{func(x, r, _ int64) int64 { return x - r }, "%[1]s + %[3]s"},
		{func(x, r, n int64) int64 { return ((x-r)%n + n) % n }, "(%[1]s + %[3]s) %% %[2]s"},
		{func(x, r, _ int64) int64 { return x ^ r }, "%[1]s ^ %[3]s"},
	} {
		seen := make([]column, len(columns))
		for i, c := range columns {
			seen[i] = c
			seen[i].values = make([]scalar, len(c.values))
			for k, x := range c.values {
				seen[i].values[k] = scalar{number: form.of(x.number, int64(c.own), int64(c.size))}
			}
			seen[i].values = shortest(seen[i].values)
		}
		if !alike(seen) {
			continue
		}
		distance := *of
		distance.kind, distance.table = mpi.KindInt, "distance_"+strings.TrimPrefix(of.table, "peer_")
		e, err := w.inTurn(&distance, seen[0])
		if len(seen[0].values) == 1 {
			e, err = w.literal(&distance, seen[0].values[0])
		}
		if err != nil {
			return e, false
		}
		text := fmt.Sprintf(form.text, rank, size, e.text) // unused arguments of a form are ignored
		return expression{text: text, fixed: fmt.Sprintf("%s differs from call to call", of.what)}, true
	}
	return expression{}, false
}

// table returns a value as a table by rank and by call.
func (w *writer) table(of *subject, columns []column) (expression, error) {
	length, equal := 0, true
	for i, c := range columns {
		equal = equal && len(c.values) == len(columns[0].values)
		length = max(length, len(c.values))
		if i > 0 && !equal {
			length = max(length, c.n)
		}
	}
	if !equal {
		length = 0
		for _, c := range columns {
			length = max(length, c.n)
		}
	}
	byRank := len(columns) > 1
	rows := 1
	if byRank {
		rows = len(w.ranks)
	}
	if err := w.room(of, rows*length); err != nil {
		return expression{}, err
	}
	handles := of.kind.IsHandle()
	cells := make([][]string, rows)
	for i := range cells {
		cells[i] = make([]string, length)
		for k := range cells[i] {
			cells[i][k] = "0"
		}
	}
	for _, c := range columns {
		row := 0
		if byRank {
			row = w.row[c.world]
		}
		for k := range length {
			x := c.values[k%len(c.values)]
			switch {
			case handles && x.name != "":
				return expression{}, fmt.Errorf("%s is %s in some calls and a variable in others", of.what, x.name)
			case x.name == memory:
				return expression{}, fmt.Errorf("%s is %s in some calls and a constant in others", of.what, x.name)
			case x.name != "" && x.name != insignificant:
				cells[row][k] = x.name
			case x.name == "":
				cells[row][k] = number(x.number)
			}
		}
	}
	ctype := of.ctype
	if handles {
		ctype = "int"
	}
	text := w.array(ctype, of.table, cells, byRank)
	if length > 1 {
		text += around(of.index, length, columns)
	}
	fixed := ""
	if byRank {
		fixed = of.what + " is a table"
	}
	if handles {
		text = w.handle(of.kind, text)
	}
	return expression{text: text, fixed: fixed}, nil
}

// around returns the position in a cycle, as an index.
func around(index string, length int, columns []column) string {
	if !slices.ContainsFunc(columns, func(c column) bool { return c.n > length }) {
		return fmt.Sprintf("[%s]", index)
	}
	return fmt.Sprintf("[%s %% %d]", index, length)
}

// nothing has an insignificant value of each kind.
var nothing = map[mpi.Kind]string{
	mpi.KindDatatype: "MPI_BYTE", mpi.KindBuffer: "NULL", mpi.KindPointer: "NULL", mpi.KindString: "NULL", mpi.KindComm: "MPI_COMM_NULL",
	mpi.KindOp: "MPI_OP_NULL", mpi.KindInfo: "MPI_INFO_NULL", mpi.KindGroup: "MPI_GROUP_NULL", mpi.KindWin: "MPI_WIN_NULL",
	mpi.KindFile: "MPI_FILE_NULL", mpi.KindRequest: "MPI_REQUEST_NULL", mpi.KindMessage: "MPI_MESSAGE_NULL",
}

// anything returns an insignificant value of a kind.
func (w *writer) anything(kind mpi.Kind) string {
	if text := nothing[kind]; text != "" {
		return text
	}
	return "0"
}
