package skeleton

import (
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

// requests returns a request, or a list of them, in C.
func (c *caller) requests(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	if p.Direction == mpi.Out {
		if p.IsArray() {
			return "", fmt.Errorf("%w: %s", errUnsupported, c.step.text())
		}
		if c.step.counts {
			return "&requests[posted++]", nil
		}
		return c.handleArgument(p, of, about)
	}
	if c.step.counts {
		c.after = append(c.after, "posted = 0;")
		return "requests", nil
	}
	switch c.step.meaning.Operation {
	case semantics.WaitAny:
		return c.pickOne(of, about)
	case semantics.WaitSome:
		return c.pickSome(p, of, about)
	}
	null := false
	for i := range c.step.vectors {
		for _, x := range of(&c.step.vectors[i]).values {
			null = null || x.name == "MPI_REQUEST_NULL"
		}
	}
	if !p.IsArray() {
		if p.Direction == mpi.In && !p.ByPointer || !null {
			return c.handleArgument(p, of, about)
		}
		id := *about
		id.kind, id.ctype = mpi.KindInt, "int"
		e, err := c.expressionOf(&id, c.columns(of, func(a *argument) scalar { return requestNumber(scalarIn(a)) }))
		c.noteRestriction(e)
		return c.pick("1", fmt.Sprintf("(int[]){%s}", e.text), 1), err
	}
	length, _ := c.length(of)
	if length == 0 { // Open MPI refuses NULL even then
		v := c.handles[mpi.KindRequest]
		v.n = max(v.n, 1)
		return "requests", nil
	}
	if !null && c.consecutive(of) {
		from := *about
		from.kind, from.ctype = mpi.KindInt, "int"
		e, err := c.expressionOf(&from, c.columns(of, scalarIn))
		c.noteRestriction(e)
		if e.text == "0" {
			return "requests", err
		}
		return fmt.Sprintf("&requests[%s]", e.text), err
	}
	ids, err := c.requestNumbers(p, of, about)
	return c.pick(fmt.Sprint(length), ids, length), err
}

func requestNumber(x scalar) scalar {
	if x.name == "MPI_REQUEST_NULL" {
		return scalar{number: -1}
	}
	return x
}

// consecutive reports whether all lists are consecutive requests.
func (c *caller) consecutive(of func(*vector) *argument) bool {
	for i := range c.step.vectors {
		for k, x := range of(&c.step.vectors[i]).values {
			if x.name != "" || x.number != of(&c.step.vectors[i]).values[0].number+int64(k) {
				return false
			}
		}
	}
	return true
}

// requestNumbers returns a list of indices into requests, −1 for none.
func (c *caller) requestNumbers(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	numbers := *about
	numbers.kind, numbers.ctype = mpi.KindInt, "int"
	as := *p
	as.Const, as.CType = true, "int"
	changed := map[*vector]*argument{}
	for i := range c.step.vectors {
		v := &c.step.vectors[i]
		a := of(v)
		one := &argument{list: a.list, values: slices.Clone(a.values)}
		for k := range one.values {
			one.values[k] = requestNumber(one.values[k])
		}
		changed[v] = one
	}
	as.Kind = mpi.KindInt
	return c.numbers(&as, func(v *vector) *argument { return changed[v] }, &numbers)
}

// pick writes the helper that makes a list of requests, and the one that stores them after the
// call.
func (c *caller) pick(n, ids string, length int) string {
	c.helpers["pick"] = true
	c.longest = max(c.longest, length)
	v := c.handles[mpi.KindRequest]
	v.n = max(v.n, 1) // the helper names the array, even if the program has null requests only
	c.after = append(c.after, "put_back();")
	return fmt.Sprintf("pick(%s, %s)", n, ids)
}

// pickOne returns a list in which only the request is active that was completed in the recorded
// run.
func (c *caller) pickOne(of func(*vector) *argument, about *subject) (string, error) {
	index, ids := map[*vector]*argument{}, map[*vector]*argument{}
	length := 0
	for i := range c.step.vectors {
		v := &c.step.vectors[i]
		at := int64(-1)
		if k := c.step.meaning.Out[semantics.Index]; k >= 0 && int(k) < len(v.out) {
			if x := scalarIn(&v.out[k]); x.name == "" {
				at = x.number
			}
		}
		list := of(v).values
		length = max(length, len(list))
		id := scalar{number: -1}
		if at >= 0 && int(at) < len(list) {
			id = requestNumber(list[at])
		}
		index[v], ids[v] = &argument{values: []scalar{{number: max(at, 0)}}}, &argument{values: []scalar{id}}
	}
	words := make([]string, 2)
	for k, values := range []map[*vector]*argument{index, ids} {
		one := *about
		one.kind, one.ctype, one.table = mpi.KindInt, "int", fmt.Sprintf("%s_%d", []string{"completed", "request"}[k], c.step.Number)
		e, err := c.expressionOf(&one, c.columns(func(v *vector) *argument { return values[v] }, scalarIn))
		if err != nil {
			return "", err
		}
		c.noteRestriction(e)
		words[k] = e.text
	}
	c.helpers["pick"], c.helpers["pick_one"] = true, true
	c.longest = max(c.longest, length)
	v := c.handles[mpi.KindRequest]
	v.n = max(v.n, 1) // the helper names the array, even if the program has null requests only
	c.after = append(c.after, "put_back();")
	return fmt.Sprintf("pick_one(%d, %s, %s)", length, words[0], words[1]), nil
}

// pickSome returns a list in which only those requests are active that were completed in the
// recorded run.
func (c *caller) pickSome(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	completed := map[*vector]*argument{}
	length := 0
	for i := range c.step.vectors {
		v := &c.step.vectors[i]
		list := of(v).values
		length = max(length, len(list))
		done := map[int64]bool{}
		if k := c.step.meaning.Out[semantics.Index]; k >= 0 && int(k) < len(v.out) {
			for _, x := range v.out[k].values {
				done[x.number] = x.name == ""
			}
		}
		one := &argument{list: true, values: make([]scalar, len(list))}
		for k, x := range list {
			one.values[k] = scalar{name: "MPI_REQUEST_NULL"}
			if done[int64(k)] {
				one.values[k] = x
			}
		}
		completed[v] = one
	}
	if length == 0 {
		return "NULL", nil
	}
	ids, err := c.requestNumbers(p, func(v *vector) *argument { return completed[v] }, about)
	c.helpers["ready"] = true
	return "ready(" + c.pick(fmt.Sprint(length), ids, length) + ")", err
}
