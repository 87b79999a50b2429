package skeleton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// leastComputed is how much of the run a computation must take to be in the program, leastSpread by how much ranks must
// differ in it to have times of their own.
const (
	leastComputed = 0.0005
	leastSpread   = 0.005
)

// call writes a call and the computation before it. repeated: the innermost loop is of this call alone.
func (w *writer) call(out *strings.Builder, s *step, in scope, repeated bool) error {
	if s.function == nil || len(s.vectors) == 0 {
		return fmt.Errorf("%w: a function that this version does not know, %s", errUnsupported, s.text())
	}
	index := fmt.Sprintf("turn%d", s.Number)
	within := false
	if in.index != "" && (repeated || w.always(s)) {
		within = true
		for row, b := range s.ranks {
			within = within && (b == nil || b.calls.n == 0 || comesRound(len(b.calls.cycle()), in.loop.ranks[row]))
		}
		if within || w.comesOnce(in.loop) {
			index = in.index
		}
	}
	if text := w.compute(s); text != "" {
		fmt.Fprintf(out, "%s%s;\n", in.indent, text)
	}
	if !slices.ContainsFunc(s.vectors, func(v vector) bool { return !v.skipped }) {
		fmt.Fprintf(out, "%s// left out: %s\n", in.indent, s.text())
		return nil
	}
	c := caller{writer: w, step: s, index: index}
	if within {
		c.loop = in.loop
	}
	c.portable()
	var arguments []string
	for i := range s.function.Params {
		text, err := c.parameter(i)
		if err != nil {
			return err
		}
		arguments = append(arguments, text)
	}
	name := s.name
	if waits, polls := waiting[name]; polls {
		name = waits
		arguments = c.withoutFlag(arguments)
	}
	line := fmt.Sprintf("%s(%s);", name, strings.Join(arguments, ", "))
	skip, err := c.skips()
	if err != nil {
		return err
	}
	indent := in.indent
	lines := append(append(c.before, line), c.after...)
	if skip != "" {
		fmt.Fprintf(out, "%sif (%s) {\n", indent, skip)
		indent += "    "
	}
	for _, l := range lines {
		fmt.Fprintf(out, "%s%s\n", indent, l)
	}
	if s.meaning.Operation == semantics.Initialize && strings.HasPrefix(s.name, "MPI_Init") {
		fmt.Fprintf(out, "%sprepare();\n", indent)
	}
	if skip != "" {
		fmt.Fprintf(out, "%s}\n", in.indent)
	}
	if counter := fmt.Sprintf("turn%d", s.Number); strings.Contains(strings.Join(lines, "")+skip, counter) {
		w.count(counter)
		fmt.Fprintf(out, "%s%s++;\n", in.indent, counter)
	}
	return nil
}

// waiting are the functions that wait for what others ask for.
var waiting = map[string]string{
	"MPI_Test": "MPI_Wait", "MPI_Testall": "MPI_Waitall", "MPI_Testany": "MPI_Waitany", "MPI_Testsome": "MPI_Waitsome",
	"MPI_Iprobe": "MPI_Probe", "MPI_Improbe": "MPI_Mprobe", "MPI_Win_test": "MPI_Win_wait",
}

// always reports whether a step is executed once each time that a rank comes to it.
func (w *writer) always(s *step) bool {
	return !slices.ContainsFunc(s.ranks, func(b *behavior) bool { return b != nil && (b.trips.list != nil || b.trips.same != 1) })
}

// compute is what the ranks do before the calls of a step.
func (w *writer) compute(s *step) string {
	seconds := make([]float64, len(w.ranks))
	least, most, total, calls := -1.0, 0.0, 0.0, 0
	for row, b := range s.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		seconds[row] = b.computed / float64(b.calls.n)
		if least < 0 || b.computed < least {
			least = b.computed
		}
		most, total, calls = max(most, b.computed), total+b.computed, calls+b.calls.n
	}
	if most <= leastComputed*w.span {
		return ""
	}
	w.helpers["compute"] = true
	if most-least <= max(leastSpread*w.span, most/10) {
		return fmt.Sprintf("compute(%s)", secondsText(total/float64(calls)))
	}
	cells := make([][]string, len(seconds))
	for i, t := range seconds {
		cells[i] = []string{secondsText(t)}
	}
	row := w.array("double", fmt.Sprintf("seconds_%d", s.Number), cells, true)
	return fmt.Sprintf("compute(%s)", strings.Replace(row, "[rank]", "[rank % RECORDED_RANKS]", 1))
}

func secondsText(t float64) string {
	switch {
	case t < 1e-9:
		return "0"
	case t < 1e-3:
		return fmt.Sprintf("%.3ge-6", t*1e6)
	case t < 1:
		return fmt.Sprintf("%.3ge-3", t*1e3)
	}
	return fmt.Sprintf("%.4g", t)
}

// A caller writes the arguments of a call.
type caller struct {
	*writer
	step          *step
	index         string
	loop          *step // calls are the same each time that a rank comes to it
	before, after []string
	commText      string
	ignored       int // results
}

// columns are the values of a parameter by rank; pick chooses one of an argument's.
func (c *caller) columns(of func(*vector) *argument, pick func(*argument) scalar) []column {
	var list []column
	for row, b := range c.step.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		one := column{world: c.ranks[row], own: b.own, size: b.size, n: b.calls.n}
		if b.comm == -1 && b.own < 0 || b.comm < 0 && b.own < 0 {
			one.own, one.size = c.ranks[row], len(c.ranks)
			if b.comm == -1 && c.hasComm() {
				one.own = -1
			}
		}
		if c.loop != nil {
			one.n = int(c.loop.ranks[row].trips.same)
		}
		for _, id := range b.calls.cycle() {
			one.values = append(one.values, pick(of(&c.step.vectors[id])))
		}
		list = append(list, one)
	}
	return list
}

func (c *caller) hasComm() bool {
	return slices.Contains(c.step.meaning.Roles, semantics.Communicator)
}

func scalarIn(a *argument) scalar {
	if len(a.values) == 0 {
		return scalar{name: insignificant}
	}
	return a.values[0]
}

// position is where values of the i-th parameter are among those of its direction.
func (c *caller) position(i int, out bool) func(*vector) *argument {
	k := 0
	for j := range i {
		d := c.step.declared.Parameters[j].Direction
		if out && d != trace.In || !out && d != trace.Out {
			k++
		}
	}
	return nth(out, k)
}

// parameter is the i-th one in C.
func (c *caller) parameter(i int) (string, error) {
	s := c.step
	p := &s.function.Params[i]
	of := c.position(i, p.Direction == mpi.Out)
	about := &subject{what: p.Name + " of " + s.text(), table: fmt.Sprintf("%s_%d", p.Name, s.Number), kind: p.Kind, ctype: p.CType, index: c.index,
		comm: c.comm(), comms: c.comms()}
	switch {
	case p.Kind == mpi.KindStatus:
		return c.status(p), nil
	case p.Kind == mpi.KindBuffer:
		return c.buffer(p, of, about)
	case p.Kind == mpi.KindInfo && p.Direction == mpi.In:
		return "MPI_INFO_NULL", nil
	case p.Kind == mpi.KindArgc || p.Kind == mpi.KindArgv:
		return "NULL", nil
	case p.Kind == mpi.KindFunction:
		return c.callback(p)
	case p.Kind == mpi.KindString && p.Direction == mpi.Out:
		return c.ignore(), nil
	case p.Kind == mpi.KindString:
		return c.text(p, of, about)
	case p.Kind == mpi.KindRequest:
		return c.requests(p, of, about)
	case p.Kind.IsHandle():
		return c.handleArgument(p, of, about)
	case p.Direction == mpi.Out:
		return c.result(p, of), nil
	case p.Direction == mpi.InOut:
		return c.changed(p, of, about)
	case p.Inner > 0:
		text, err := c.numbers(p, of, about)
		return fmt.Sprintf("(%s(*)[%d])%s", p.CType, p.Inner, text), err
	case p.IsArray():
		return c.numbers(p, of, about)
	case p.Kind == mpi.KindPointer:
		return "NULL", nil
	}
	e, err := c.expressionOf(about, c.columns(of, scalarIn))
	if p.Kind == mpi.KindRank && isNumber(e.text) || p.Kind == mpi.KindRoot && isNumber(e.text) && e.text != "0" {
		e.fixed = first(e.fixed, about.what+" is "+e.text)
	}
	c.holds(e)
	if s.name == "MPI_Dims_create" && e.text == fmt.Sprint(len(c.ranks)) && i == 0 {
		e.text = "size" // what the grid is for
	}
	return e.text, err
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// portable notes why a call may be another one with other numbers of ranks: one trace does not tell whether what some ranks
// send is what others receive then. It is if all ranks call, with peers as functions of rank and size.
func (c *caller) portable() {
	s := c.step
	switch s.meaning.Operation {
	case semantics.Send, semantics.Receive, semantics.SendReceive, semantics.MatchedReceive, semantics.Probe, semantics.MatchedProbe,
		semantics.RemoteAccess:
		if n := len(c.ranksOf([]*step{s})); n < len(c.ranks) {
			c.holds(expression{fixed: fmt.Sprintf("only %d of %d ranks come to %s", n, len(c.ranks), s.text())})
		}
	case semantics.CommunicatorCreate, semantics.GroupCreate:
		for i := range s.function.Params {
			p := &s.function.Params[i]
			if n, _ := c.length(c.position(i, false)); p.IsArray() && p.Direction == mpi.In && p.Kind != mpi.KindBool && n > 0 && c.listSymbol(c.position(i, false), n) == "" {
				c.holds(expression{fixed: fmt.Sprintf("%s of %s is a list", p.Name, s.text())})
			}
		}
	}
}

// comm is the communicator of the call in C.
func (c *caller) comm() string {
	if c.commText != "" {
		return c.commText
	}
	for i := range c.step.function.Params {
		p := &c.step.function.Params[i]
		if p.Kind != mpi.KindComm || p.Direction == mpi.Out || p.IsArray() {
			continue
		}
		e, err := c.expressionOf(&subject{what: p.Name + " of " + c.step.text(), table: fmt.Sprintf("%s_%d", p.Name, c.step.Number), kind: p.Kind, index: c.index},
			c.columns(c.position(i, false), scalarIn))
		if err == nil {
			c.commText = e.text
		}
		break
	}
	return c.commText
}

// comms are its instances by world rank.
func (c *caller) comms() []int {
	list := make([]int, slices.Max(c.ranks)+1)
	for row, b := range c.step.ranks {
		if b != nil {
			list[c.ranks[row]] = b.comm
		}
	}
	return list
}

func (c *caller) status(p *mpi.Param) string {
	if p.IsArray() {
		if c.step.ignored {
			return "MPI_STATUSES_IGNORE"
		}
		c.helpers["statuses"] = true
		for i := range c.step.function.Params {
			if q := &c.step.function.Params[i]; q.Kind == mpi.KindRequest && q.IsArray() {
				n, _ := c.length(c.position(i, false))
				c.statusesOf = max(c.statusesOf, n, 1)
			}
		}
		return "statuses"
	}
	if c.step.ignored && p.Direction != mpi.In {
		return "MPI_STATUS_IGNORE"
	}
	c.helpers["status"] = true
	return "&status"
}

func (c *caller) buffer(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	about.table = "receive_buffer"
	if p.Direction == mpi.In {
		about.table = "send_buffer"
	}
	switch c.step.meaning.Operation {
	case semantics.SendBuffers, semantics.WindowCreate, semantics.WindowMemory:
		if p.Direction != mpi.In {
			return c.ignore(), nil
		}
		for i := range c.step.function.Params {
			if size := &c.step.function.Params[i]; size.Kind == mpi.KindBytes || size.Kind == mpi.KindAint || size.Kind == mpi.KindCount {
				text, err := c.parameter(i)
				c.helpers["allocate"] = true
				return fmt.Sprintf("allocate(%s)", text), err
			}
		}
	}
	e, err := c.expressionOf(about, c.columns(of, scalarIn))
	c.holds(e)
	if e.text == "NULL" && p.Direction != mpi.In {
		e.text = about.table
	}
	return e.text, err
}

func (c *caller) callback(*mpi.Param) (string, error) {
	if c.step.meaning.Operation != semantics.OpCreate {
		return "", fmt.Errorf("%w: %s has a function of the program's own", errUnsupported, c.step.text())
	}
	c.helpers["combine"] = true
	return "combine", nil
}

// text is a string: the names of files are those of scratch files.
func (c *caller) text(_ *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	columns := c.columns(of, scalarIn)
	if op := c.step.meaning.Operation; op == semantics.FileOpen || op == semantics.FileChange {
		for i := range columns {
			values := slices.Clone(columns[i].values)
			for k, x := range values {
				at := slices.Index(c.files, x.name)
				if at < 0 {
					at = len(c.files)
					c.files = append(c.files, x.name)
				}
				if c.step.name == "MPI_File_open" || c.step.name == "MPI_File_delete" {
					values[k].name = fmt.Sprintf("\"scratch-%d\"", at)
				}
			}
			columns[i].values = values
		}
	}
	about.ctype = "char *"
	e, err := c.expressionOf(about, columns)
	c.holds(e)
	return e.text, err
}

func (c *caller) handleArgument(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	if p.IsArray() {
		if p.Direction != mpi.In {
			return "", fmt.Errorf("%w: %s", errUnsupported, c.step.text())
		}
		return c.elements(p, of, about)
	}
	pick := scalarIn
	if p.Direction == mpi.Out {
		pick = func(a *argument) scalar { // MPI_COMM_NULL may come instead
			x := scalarIn(a)
			if x.name != "" {
				return scalar{name: insignificant}
			}
			return x
		}
	}
	e, err := c.expressionOf(about, c.columns(of, pick))
	c.holds(e)
	if err == nil && (p.Direction != mpi.In || p.ByPointer) {
		if strings.HasPrefix(e.text, "MPI_") { // what is not there
			return fmt.Sprintf("&(%s){%s}", p.CType, e.text), nil
		}
		return "&" + e.text, nil
	}
	return e.text, err
}

// maxElements is how long a list may be that stands in the call.
const maxElements = 12

// elements is a list, each element an expression of its own.
func (c *caller) elements(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	length, same := c.length(of)
	if length == 0 {
		return "NULL", nil
	}
	if !same {
		return "", fmt.Errorf("%w: %s has lists of different lengths", errUnsupported, c.step.text())
	}
	words := make([]string, length)
	for k := range words {
		one := *about
		one.table = fmt.Sprintf("%s_%d", about.table, k)
		e, err := c.expressionOf(&one, c.columns(of, func(a *argument) scalar { return a.at(k) }))
		if err != nil {
			return "", err
		}
		c.holds(e)
		words[k] = e.text
	}
	return fmt.Sprintf("(%s[]){%s}", p.CType, strings.Join(words, ", ")), nil
}

func (a *argument) at(k int) scalar {
	if k >= len(a.values) {
		return scalar{name: insignificant}
	}
	return a.values[k]
}

// length is how long lists are at most, and whether all that are there are.
func (c *caller) length(of func(*vector) *argument) (n int, same bool) {
	same = true
	first := true
	for i := range c.step.vectors {
		a := of(&c.step.vectors[i])
		if !a.list {
			continue
		}
		same = same && (first || len(a.values) == n)
		first = false
		n = max(n, len(a.values))
	}
	return n, same
}

// numbers is a list of numbers: of few in place, of many as a table.
func (c *caller) numbers(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	length, same := c.length(of)
	if length == 0 {
		e, err := c.expressionOf(&subject{what: about.what, table: about.table, kind: mpi.KindPointer, index: c.index}, c.columns(of, scalarIn))
		if err != nil || e.text == "0" {
			e.text = "NULL"
		}
		return e.text, err
	}
	if same && length <= maxElements {
		if symbol := c.listSymbol(of, length); symbol != "" {
			return symbol, nil
		}
		cells, fixed := c.cells, len(c.fixed)
		tables := c.tables.String()
		text, err := c.elements(p, of, about)
		if err == nil && !strings.Contains(strings.ReplaceAll(text, "[]", ""), "[") {
			return text, nil
		}
		c.cells, c.fixed = cells, c.fixed[:fixed]
		c.tables.Reset()
		c.tables.WriteString(tables)
	}
	return c.rows(p, of, about, length)
}

// rows is a list as a row of a table, by rank and by call.
func (c *caller) rows(p *mpi.Param, of func(*vector) *argument, about *subject, length int) (string, error) {
	columns := c.columns(of, scalarIn)
	lists := make([][]*argument, len(columns))
	at, byRank, turns := 0, false, 1
	for _, b := range c.step.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		for _, id := range b.calls.cycle() {
			lists[at] = append(lists[at], of(&c.step.vectors[id]))
		}
		at++
	}
	key := func(list []*argument) string {
		var b strings.Builder
		for _, a := range list {
			fmt.Fprint(&b, a.values, ";")
		}
		return b.String()
	}
	equal := true
	for i, list := range lists {
		keys := make([]string, len(list))
		for k, a := range list {
			keys[k] = key([]*argument{a})
		}
		lists[i] = list[:len(shortest(keys))]
		byRank = byRank || key(lists[i]) != key(lists[0])
		equal = equal && len(lists[i]) == len(lists[0])
	}
	for i := range lists {
		if equal {
			turns = max(turns, len(lists[i]))
		} else {
			turns = max(turns, columns[i].n)
		}
	}
	rows := 1
	if byRank {
		rows = len(c.ranks)
		c.holds(expression{fixed: about.what + " is a table"})
	} else {
		lists = lists[:1]
	}
	if err := c.room(about, rows*turns*length); err != nil {
		return "", err
	}
	cells := make([][]string, rows)
	zeros := strings.TrimSuffix(strings.Repeat("0, ", length), ", ")
	for i := range cells {
		cells[i] = slices.Repeat([]string{zeros}, turns)
	}
	for i, list := range lists {
		row := 0
		if byRank {
			row = c.row[columns[i].world]
		}
		for k := range turns {
			words := slices.Repeat([]string{"0"}, length)
			for j, x := range list[k%len(list)].values {
				if x.name != "" && x.name != insignificant {
					words[j] = x.name
				} else if x.name == "" {
					words[j] = number(x.number)
				}
			}
			cells[row][k] = strings.Join(words, ", ")
		}
	}
	for i := range c.step.vectors {
		if len(of(&c.step.vectors[i]).values) == len(c.ranks) {
			c.holds(expression{fixed: about.what + " has an element for each rank"})
		}
	}
	ctype := p.CType
	if p.Kind == mpi.KindRequest {
		ctype = "int"
	}
	text := c.table3(ctype, about.table, c.index, cells, length, byRank)
	if !p.Const && p.Kind != mpi.KindRequest {
		text = fmt.Sprintf("(%s *)(size_t)%s", ctype, text)
	}
	return text, nil
}

// table3 writes a table of lists.
func (w *writer) table3(ctype, name, index string, cells [][]string, length int, byRank bool) string {
	turns := len(cells[0])
	name = w.unique(name)
	text, dimensions := name, ""
	if byRank {
		text, dimensions = text+"[rank]", fmt.Sprintf("[%d]", len(cells))
	}
	if turns > 1 {
		text, dimensions = text+fmt.Sprintf("[%s %% %d]", index, turns), dimensions+fmt.Sprintf("[%d]", turns)
	}
	var rows []string
	for _, row := range cells {
		lists := slices.Clone(row)
		if turns > 1 {
			for i := range lists {
				lists[i] = "{" + wrapped(lists[i]) + "}"
			}
		}
		one := strings.Join(lists, ", ")
		if byRank {
			one = "{" + wrapped(one) + "}"
		}
		rows = append(rows, one)
	}
	body := strings.Join(rows, ",\n    ")
	if !byRank {
		body = wrapped(body)
	}
	fmt.Fprintf(&w.tables, "static const %s %s%s[%d] = {\n    %s,\n};\n", ctype, name, dimensions, length, body)
	return text
}

// result is where a call puts a number.
func (c *caller) result(p *mpi.Param, of func(*vector) *argument) string {
	s := c.step
	if s.name == "MPI_Comm_rank" && c.comm() == "MPI_COMM_WORLD" {
		return "&rank"
	}
	if s.name == "MPI_Comm_size" && c.comm() == "MPI_COMM_WORLD" {
		return "&size"
	}
	if !p.IsArray() && p.Kind == mpi.KindRank && c.comesOnce(s) && c.always(s) {
		one := &symbol{name: c.unique(fmt.Sprintf("%s_%d", p.Name, s.Number)), kind: p.Kind, call: s.Number, values: map[int]scalar{}, comms: map[int]int{}}
		for _, col := range c.columns(of, scalarIn) {
			if len(col.values) == 1 {
				one.values[col.world] = col.values[0]
				one.comms[col.world] = c.comms()[col.world]
			}
		}
		c.symbols = append(c.symbols, one)
		return "&" + one.name
	}
	return c.ignore()
}

// ignore is memory for a result that nothing depends on.
func (c *caller) ignore() string {
	c.helpers["ignored"] = true
	c.ignored++
	return fmt.Sprintf("(void *)ignored[%d]", c.ignored-1)
}

// changed is a number, or a list of them, that the call changes.
func (c *caller) changed(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	if !p.IsArray() {
		e, err := c.expressionOf(about, c.columns(of, scalarIn))
		c.holds(e)
		return fmt.Sprintf("&(%s){%s}", p.CType, e.text), err
	}
	length, _ := c.length(of)
	if length > 0 && c.step.name == "MPI_Dims_create" && c.comesOnce(c.step) && c.always(c.step) {
		return c.dimensions(p, of, about, length)
	}
	return c.elements(p, of, about)
}

// dimensions is a variable for what MPI_Dims_create gives: it depends on the number of ranks.
func (c *caller) dimensions(p *mpi.Param, of func(*vector) *argument, about *subject, length int) (string, error) {
	one := &symbol{name: c.unique(fmt.Sprintf("%s_%d", p.Name, c.step.Number)), kind: p.Kind, call: c.step.Number, values: map[int]scalar{}, length: length}
	given, err := c.elements(p, of, about)
	if err != nil {
		return "", err
	}
	out := nth(true, 0)
	for _, col := range c.columns(out, func(a *argument) scalar { return scalar{name: fmt.Sprint(a.values)} }) {
		one.values[col.world] = col.values[0]
	}
	c.symbols = append(c.symbols, one)
	c.helpers["string"] = true
	c.before = append(c.before, fmt.Sprintf("memcpy(%s, %s, sizeof %s);", one.name, given, one.name))
	return one.name, nil
}

// listSymbol is the variable that has a list, "" if there is none.
func (c *caller) listSymbol(of func(*vector) *argument, length int) string {
	columns := c.columns(of, func(a *argument) scalar { return scalar{name: fmt.Sprint(a.values)} })
	for _, s := range c.symbols {
		if s.length == length && !slices.ContainsFunc(columns, func(col column) bool {
			return len(shortest(col.values)) > 1 || s.values[col.world] != col.values[0]
		}) {
			s.used = true
			return s.name
		}
	}
	return ""
}

// withoutFlag leaves out the flag that a function has which polls.
func (c *caller) withoutFlag(arguments []string) []string {
	var list []string
	for i, a := range arguments {
		if c.step.meaning.Roles[i] != semantics.Flag {
			list = append(list, a)
		}
	}
	return list
}

// skips is the condition of a poll that sometimes finds nothing, "" if it always finds something.
func (c *caller) skips() (string, error) {
	if !slices.ContainsFunc(c.step.vectors, func(v vector) bool { return v.skipped }) {
		return "", nil
	}
	var columns []column
	for row, b := range c.step.ranks {
		if b == nil || b.calls.n == 0 {
			continue
		}
		one := column{world: c.ranks[row], own: c.ranks[row], size: len(c.ranks), n: b.calls.n}
		for _, id := range b.calls.cycle() {
			x := scalar{number: 1}
			if c.step.vectors[id].skipped {
				x.number = 0
			}
			one.values = append(one.values, x)
		}
		columns = append(columns, one)
	}
	e, err := c.presence(c.step, columns, c.index)
	c.holds(e)
	return e.text, err
}
