package skeleton

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// Compare describes where a traced skeleton differs from the program, "" if it is the same program:
// all ranks make the same calls with the same arguments, except for what a skeleton replaces
// (buffers, statuses, files, unsuccessful polls, which of some requests are active) and what it
// leaves out. Objects are the same if they were created in the same order.
func Compare(ctx context.Context, original, traced timeline.Trace) (string, error) {
	var sides [2]struct {
		timeline.Trace
		erased func(int32) bool
	}
	for i, t := range []timeline.Trace{original, traced} {
		sides[i].Trace = t
		var err error
		if _, sides[i].erased, err = leaveOut(t); err != nil {
			return "", err
		}
	}
	for _, r := range original.Ranks().All() {
		var walkers [2]*walker
		for i, side := range sides {
			cursor, err := side.Calls(r.Rank, 0)
			if err != nil {
				return fmt.Sprintf("rank %d: %v", r.Rank, err), nil
			}
			walkers[i] = &walker{observer: &observer{ctx: ctx, trace: side, erased: side.erased}, cursor: cursor, rank: r.Rank, objects: map[mpi.Kind]map[int64]int64{}, opened: map[mpi.Kind]map[int64]int{}}
		}
		for k := 0; ; k++ {
			var words [2]string
			var places [2]string
			for i, w := range walkers {
				if words[i], places[i] = w.normal(k); w.cursor.Err() != nil {
					return "", w.cursor.Err()
				}
			}
			if words[0] != words[1] {
				return fmt.Sprintf("rank %d, call %d: %s in the program (%s), %s in the skeleton (%s)", r.Rank, k, orNothing(words[0]), places[0], orNothing(words[1]), places[1]), nil
			}
			if words[0] == "" {
				break
			}
		}
	}
	return "", ctx.Err()
}

func orNothing(text string) string {
	if text == "" {
		return "no more calls"
	}
	return text
}

// normal returns the next call in a normal form, and its call site; "" at the end.
func (w *walker) normal(k int) (text, place string) {
	e := w.next()
	for e != nil && (failedPoll(e.Semantics, e.Out) || w.strange(e) || failed(e)) {
		e = w.next()
	}
	if e == nil {
		return "", ""
	}
	w.meet(e, false)
	s := &step{function: mpi.ByID(e.Function.ID), declared: e.Function, meaning: e.Semantics}
	v := w.vector(s, e)
	name := e.Function.Name
	if waits, polls := waiting[name]; polls {
		name = waits
	}
	text = name + "("
	in := 0
	for i := range e.Function.Parameters {
		p := &e.Function.Parameters[i]
		if p.Direction == trace.Out {
			continue
		}
		if in < len(v.in) && s.function != nil && i < len(s.function.Params) {
			if word := w.normalArgument(s, &s.function.Params[i], &v.in[in], k); word != "" {
				text += p.Name + "=" + word + " "
			}
		}
		in++
	}
	w.handles(e, true, func(kind mpi.Kind, number int64) {
		if w.opened[kind] == nil {
			w.opened[kind] = map[int64]int{}
		}
		w.opened[kind][number] = k
	})
	if e.Site != nil {
		place = callsite.Name(e.Site)
	}
	return text + ")", place
}

// normalArgument returns the significant part of an argument of call k, "" if there is none. An
// object is identified by how many calls ago it was created: traces may number objects by where
// they are created, which differs in a skeleton.
func (w *walker) normalArgument(s *step, p *mpi.Param, a *argument, k int) string {
	switch p.Kind {
	case mpi.KindBuffer, mpi.KindPointer:
		if x := scalarIn(a); x.name == "MPI_IN_PLACE" {
			return x.name
		}
		return ""
	case mpi.KindStatus, mpi.KindInfo, mpi.KindFunction, mpi.KindString, mpi.KindArgc, mpi.KindArgv:
		return ""
	case mpi.KindRequest:
		if s.meaning.Operation == semantics.WaitAny || s.meaning.Operation == semantics.WaitSome {
			return fmt.Sprint(len(a.values), " requests")
		}
	}
	text := ""
	for _, x := range a.values {
		switch {
		case x.name == insignificant:
		case x.name != "":
			text += x.name + ","
		case p.Kind.IsHandle():
			text += fmt.Sprint("made ", k-w.opened[p.Kind][x.number], " calls before,")
		default:
			text += fmt.Sprint(x.number, ",")
		}
	}
	return text
}
