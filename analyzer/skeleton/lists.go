package skeleton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
)

// maxElements is the maximum length of a list within a call.
const maxElements = 12

// elements returns a list with a separate expression for each element.
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
		c.noteRestriction(e)
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

// length returns the maximum length of lists, and whether all non-empty ones have it.
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

// numbers returns a list of numbers: a short one in place, a long one as a table.
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

// rows returns a list as a row of a table, by rank and by call.
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
		c.noteRestriction(expression{fixed: about.what + " is a table"})
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
			c.noteRestriction(expression{fixed: about.what + " has an element for each rank"})
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
