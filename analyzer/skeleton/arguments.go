package skeleton

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
)

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
	c.noteRestriction(e)
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

// text returns a string; names of files are replaced by those of scratch files.
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
	c.noteRestriction(e)
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
		pick = func(a *argument) scalar { // MPI_COMM_NULL is also possible
			x := scalarIn(a)
			if x.name != "" {
				return scalar{name: insignificant}
			}
			return x
		}
	}
	e, err := c.expressionOf(about, c.columns(of, pick))
	c.noteRestriction(e)
	if err == nil && (p.Direction != mpi.In || p.ByPointer) {
		if strings.HasPrefix(e.text, "MPI_") { // skip missing handles
			return fmt.Sprintf("&(%s){%s}", p.CType, e.text), nil
		}
		return "&" + e.text, nil
	}
	return e.text, err
}

// changed returns a number, or a list of them, that the call changes.
func (c *caller) changed(p *mpi.Param, of func(*vector) *argument, about *subject) (string, error) {
	if !p.IsArray() {
		e, err := c.expressionOf(about, c.columns(of, scalarIn))
		c.noteRestriction(e)
		return fmt.Sprintf("&(%s){%s}", p.CType, e.text), err
	}
	length, _ := c.length(of)
	if length > 0 && c.step.name == "MPI_Dims_create" && c.reachedOnce(c.step) && c.always(c.step) {
		return c.dimensions(p, of, about, length)
	}
	return c.elements(p, of, about)
}
