package skeleton

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// call writes a call and the computation before it. repeated: the innermost loop contains only this
// call.
func (w *writer) call(out *strings.Builder, s *step, in scope, repeated bool) error {
	if s.function == nil || len(s.vectors) == 0 {
		return fmt.Errorf("%w: a function that this version does not know, %s", errUnsupported, s.text())
	}
	index := fmt.Sprintf("turn%d", s.Number)
	within := false
	if in.index != "" && (repeated || w.always(s)) {
		within = true
		for row, b := range s.ranks {
			within = within && (b == nil || b.calls.n == 0 || repeatsEachTime(len(b.calls.cycle()), in.loop.ranks[row]))
		}
		if within || w.reachedOnce(in.loop) {
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
	c := caller{writer: w, step: s, index: index, roles: map[semantics.Role]expression{}}
	if within {
		c.loop = in.loop
		c.turns = in.loop.turns
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
	c.exchanges(in)
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

// always reports whether a step is executed once each time that a rank reaches it.
func (w *writer) always(s *step) bool {
	return !slices.ContainsFunc(s.ranks, func(b *behavior) bool { return b != nil && (b.trips.list != nil || b.trips.same != 1) })
}

// A caller writes the arguments of a call.
type caller struct {
	*writer
	step          *step
	index         string
	loop          *step // calls are the same each time that a rank reaches this loop
	before, after []string
	// number of iterations of the surrounding loop according to the shape; nil: not
	// determined by it
	turns    *expression
	roles    map[semantics.Role]expression
	commText string
	ignored  int // number of ignored results so far
}

// columns returns the values of a parameter by rank; pick selects one value of an argument.
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

// position returns where values of the i-th parameter are among those of its direction.
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

// parameter returns the i-th parameter in C.
func (c *caller) parameter(i int) (string, error) {
	s := c.step
	p := &s.function.Params[i]
	of := c.position(i, p.Direction == mpi.Out)
	about := &subject{what: p.Name + " of " + s.text(), table: fmt.Sprintf("%s_%d", p.Name, s.Number), kind: p.Kind, ctype: p.CType, index: c.index,
		comm: c.comm(), comms: c.comms()}
	if c.turns != nil {
		about.turns = c.turns.value
	}
	switch {
	case c.step.counts && s.meaning.Roles[i] == semantics.RequestCount:
		return "posted", nil
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
	if e.turns && c.turns == nil {
		e.fixed = cmp.Or(e.fixed, about.what+" differs from call to call")
	}
	if p.Kind == mpi.KindRank && isNumber(e.text) || p.Kind == mpi.KindRoot && isNumber(e.text) && e.text != "0" {
		e.fixed = cmp.Or(e.fixed, about.what+" is "+e.text)
	}
	c.noteRestriction(e)
	c.roles[s.meaning.Roles[i]] = e
	if s.name == "MPI_Dims_create" && e.text == fmt.Sprint(len(c.ranks)) && i == 0 {
		e.text = "size" // the grid's size
	}
	return e.text, err
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// comm returns the communicator of the call in C.
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

// comms returns its instances by world rank.
func (c *caller) comms() []int {
	list := make([]int, slices.Max(c.ranks)+1)
	for row, b := range c.step.ranks {
		if b != nil {
			list[c.ranks[row]] = b.comm
		}
	}
	return list
}
