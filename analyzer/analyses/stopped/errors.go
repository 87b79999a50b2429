package stopped

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/datatypes"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// A doubt about an argument is whether a call can fail because of it.
type doubt uint8

const (
	sound  doubt = iota // the call has no such argument, or it is valid
	unsure              // it cannot be checked here
	faulty
)

// A fault is a check of the arguments that an error class is about.
type fault struct {
	doubt doubt
	words string // of a faulty one: "count -3"; "" if the words about the operation have it
}

// largestTag is the largest tag that every MPI library allows.
const largestTag = 32767

// faultsOf checks the arguments of a call by error class.
func faultsOf(c *timeline.Call, comms []trace.Communicator) map[string]fault {
	faults := map[string]fault{}
	check := func(class, what string, valid func(*trace.Value) doubt, roles ...semantics.Role) {
		for _, role := range roles {
			i := c.Semantics.In[role]
			if i < 0 || int(i) >= len(c.Event.In) {
				continue
			}
			v := &c.Event.In[i]
			found := fault{doubt: valid(v)}
			if found.doubt == faulty && what != "" {
				found.words = what + " " + textOf(v)
			}
			if found.doubt >= faults[class].doubt {
				faults[class] = found
			}
		}
	}
	inside := null("")
	if i := c.Event.Comm; i >= 0 && i < len(comms) {
		most := int64(max(comms[i].Members.Len(), comms[i].Remote.Len()) - 1)
		inside = func(v *trace.Value) doubt { return within(v, most) }
	}
	request := null("")
	if c.Semantics.Operation == semantics.Start {
		request = null("MPI_REQUEST_NULL")
	}
	check("MPI_ERR_COUNT", "count", func(v *trace.Value) doubt { return within(v, math.MaxInt64) }, semantics.Count, semantics.ReceiveCount, semantics.TargetCount)
	check("MPI_ERR_TYPE", "datatype", datatype, semantics.Datatype, semantics.ReceiveDatatype, semantics.TargetDatatype)
	check("MPI_ERR_TAG", "tag", tag, semantics.Tag, semantics.ReceiveTag)
	check("MPI_ERR_RANK", "", inside, semantics.Destination, semantics.Source, semantics.Target)
	check("MPI_ERR_ROOT", "", inside, semantics.Root)
	check("MPI_ERR_OP", "operation", null("MPI_OP_NULL"), semantics.Operator)
	if words := misapplied(c); words != "" {
		faults["MPI_ERR_OP"] = fault{faulty, words}
	}
	check("MPI_ERR_COMM", "communicator", communicator, semantics.Communicator)
	check("MPI_ERR_REQUEST", "request", request, semantics.Request)
	if f := askedIn(c.Event); f.sent > f.bytes && f.bytes >= 0 {
		faults["MPI_ERR_TRUNCATE"] = fault{faulty, fmt.Sprintf("it sends %d bytes to each rank and has room for %d from each", f.sent, f.bytes)}
	}
	return faults
}

// within checks that a number, or each of a list, is from 0 to most. Names of constants are valid
// where they are allowed at all.
func within(v *trace.Value, most int64) doubt {
	switch {
	case v.Form == trace.Name:
		return sound
	case v.Form == trace.List:
		found := sound
		for i := range v.List {
			found = max(found, within(&v.List[i], most))
		}
		return found
	case v.Form != trace.Int:
		return unsure
	case v.Int < 0 || v.Int > most:
		return faulty
	}
	return sound
}

// tag checks a tag. How large tags may be depends on the library.
func tag(v *trace.Value) doubt {
	if v.Form == trace.Int && v.Int > largestTag {
		return unsure
	}
	return within(v, largestTag)
}

func datatype(v *trace.Value) doubt {
	if _, predefined := datatypes.Size(v.Text); v.Form == trace.Name && predefined {
		return sound
	}
	return null("MPI_DATATYPE_NULL")(v)
}

// null checks that a handle is not the null handle with a name ("": there is none). Nothing else is
// known of it.
func null(name string) func(*trace.Value) doubt {
	return func(v *trace.Value) doubt {
		if v.Form == trace.Name && name != "" && v.Text == name {
			return faulty
		}
		return unsure
	}
}

// communicator checks a communicator. Others than those of MPI may have been freed.
func communicator(v *trace.Value) doubt {
	if v.Form == trace.Name && v.Text != "MPI_COMM_NULL" {
		return sound
	}
	return null("MPI_COMM_NULL")(v)
}

func textOf(v *trace.Value) string {
	switch v.Form {
	case trace.Int:
		return fmt.Sprint(v.Int)
	case trace.List:
		var parts []string
		for i := range v.List {
			parts = append(parts, textOf(&v.List[i]))
		}
		return strings.Join(parts, " ")
	default:
		return v.Text
	}
}

// truncates returns whether a rank may receive more than it has room for: the message of a receive
// was sent; or ranks pass different amounts of data to a collective, and this one less than others.
func (s *search) truncates(r *state, w *match.Wait) doubt {
	differ := s.differing(w)
	if own := r.detail.faults["MPI_ERR_TRUNCATE"].doubt; w.Collective && own != sound {
		return own
	}
	switch {
	case differ != nil:
		mine, most := int64(0), int64(0)
		for _, g := range differ.groups {
			most = max(most, g.bytes)
			if slices.Contains(g.rows, r.row) {
				mine = g.bytes
			}
		}
		if mine < most {
			return faulty
		}
		return sound
	case w.Collective && (r.detail.amount >= 0 || !s.trace.Semantics(w.Post.Function).MovesData()), w.Send, !w.Collective && len(w.For) > 0:
		return sound
	}
	return unsure
}

// differing returns the collective that a call waits for if ranks pass different amounts of data to
// it, otherwise nil.
func (s *search) differing(w *match.Wait) *instance {
	i := s.collectives.mismatchAt(w.Comm, w.Ordinal)
	if !w.Collective || i == nil || i.ordinal != w.Ordinal {
		return nil
	}
	differ := false
	for _, g := range i.groups {
		if g.bytes < 0 || g.function != i.groups[0].function {
			return nil
		}
		differ = differ || g.bytes != i.groups[0].bytes
	}
	if !differ {
		return nil
	}
	return i
}

// amounts describes the different amounts that ranks pass to a collective: "400 bytes on rank 0 and
// 40 bytes on ranks 1-3".
func (s *search) amounts(i *instance) string {
	var parts []string
	for _, g := range i.groups {
		parts = append(parts, fmt.Sprintf("%d bytes on %s", g.bytes, who(s.list(g.rows), len(g.rows))))
	}
	return strings.Join(parts, " and ")
}
