package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// seen describes a run of which neither a hang nor a crash is known.
func (s *Stop) seen() string {
	text := fmt.Sprintf("This job was stopped after %s", wording.Duration(s.Seconds))
	if s.progressed() {
		text += " while it was making progress"
	}
	text += s.by()
	parts := append(s.outside(s.Named), s.clauses(s.Others)...)
	if len(parts) > 0 {
		text += fmt.Sprintf("; in its last %s %s", wording.Duration(s.Waited), joined(parts))
	}
	if len(s.Doubts) == 0 {
		return text + "."
	}
	parts = nil
	for i := range s.Doubts {
		if i == maxNamed {
			parts = append(parts, "more")
			break
		}
		d := &s.Doubts[i]
		parts = append(parts, fmt.Sprintf("%s (%s)", d.What, names(d.Ranks, d.Count)))
	}
	return text + ". Whether it hung is not known: the trace does not show " + and(parts) + "."
}

// outside says what ranks in no call did, one clause per last call.
func (s *Stop) outside(list []Who) (parts []string) {
	for i := range list {
		if i == maxNamed {
			parts = append(parts, "others made none")
			break
		}
		w := &list[i]
		did := "made no call after"
		if w.Tests {
			did = "made tests without success, the last with"
		}
		part := fmt.Sprintf("%s %s %s", s.all(w.Ranks, w.Count), did, w.After.At())
		if was := w.Activity.words(); was != "" {
			part += " (" + was + ")"
		}
		parts = append(parts, part)
	}
	return parts
}

// during describes for how long.
func (s *Stop) during() string {
	if s.Waited <= 0 {
		return ""
	}
	return fmt.Sprintf(" for its last %s", wording.Duration(s.Waited))
}

// maxNamed is the number of ranks of a cycle, or groups of others, that a sentence names.
const maxNamed = 4

func (s *Stop) cycle() string {
	var b strings.Builder
	fmt.Fprintf(&b, "This job hung%s: ", s.during())
	first := &s.Cycle[0]
	alike := len(s.Cycle) > 2 && !slices.ContainsFunc(s.Cycle, func(w Waiting) bool { return w.Call != first.Call })
	switch {
	case len(s.Cycle) == 1:
		fmt.Fprintf(&b, "rank %s waited for itself in %s.", first.Ranks, first.in())
	case alike:
		fmt.Fprintf(&b, "%d ranks waited for each other in a circle, all in %s", len(s.Cycle), first.Call.At())
		if first.For != "" {
			fmt.Fprintf(&b, " (rank %s: %s)", first.Ranks, first.For)
		}
		var parts []string
		for i := range s.Cycle {
			if i == maxNamed && len(s.Cycle) > maxNamed+1 {
				parts = append(parts, "so on")
				break
			}
			parts = append(parts, fmt.Sprintf("rank %s for rank %s", s.Cycle[i].Ranks, s.Cycle[i].Rank))
		}
		fmt.Fprintf(&b, ": %s.", and(parts))
	default:
		for i := range s.Cycle {
			if i == maxNamed {
				fmt.Fprintf(&b, ", and so on, %d ranks in all", len(s.Cycle))
				break
			}
			if i > 0 {
				b.WriteString(", ")
				if i == len(s.Cycle)-1 {
					b.WriteString("and ")
				}
			}
			fmt.Fprintf(&b, "rank %s %s", s.Cycle[i].Ranks, s.Cycle[i].does())
		}
		if len(s.Cycle) == 2 {
			b.WriteString(": they waited for each other.")
		} else {
			b.WriteString(": each waited for the next, and the last for the first.")
		}
	}
	return b.String() + s.Stray + s.others("Meanwhile")
}

func (s *Stop) missing() string {
	who := &s.Named[0]
	var b strings.Builder
	fmt.Fprintf(&b, "This job hung: %s never ", who.name())
	waited, long, apart := s.name(&s.Others[0]), "", ""
	if s.Waited > 0 {
		long = " for the last " + wording.Duration(s.Waited)
		apart = "," + long + ","
	}
	switch {
	case s.Comm != "":
		fmt.Fprintf(&b, "came to the %s (%s), in which %s waited%s", s.Call.At(), s.Comm, waited, long)
	case s.Window:
		fmt.Fprintf(&b, "did what %s had been waiting for%s in %s (%s)", waited, apart, s.Call.At(), s.Others[0].For)
	case s.Send:
		fmt.Fprintf(&b, "received what %s had been sending%s in %s (%s)", waited, apart, s.Call.At(), s.Others[0].For)
	default:
		fmt.Fprintf(&b, "sent what %s had been waiting for%s in %s (%s)", waited, apart, s.Call.At(), s.Others[0].For)
	}
	if who.Gone {
		b.WriteString("; it had come through MPI_Finalize by then")
	} else {
		fmt.Fprintf(&b, "; it was in %s", who.In.At())
	}
	rest := *s
	rest.Others = s.Others[1:]
	return b.String() + "." + rest.others("Meanwhile")
}

// stalled describes a run in which ranks waited for one that was outside MPI, or made other calls.
func (s *Stop) stalled() string {
	who, first := &s.Named[0], &s.Others[0]
	where, it, was := first.in(), "it", "was"
	if s.Comm != "" {
		where = fmt.Sprintf("%s (%s)", s.Call.At(), s.Comm)
	}
	if who.Count > 1 {
		it, was = "they", "were"
	}
	did := "made no MPI call after " + who.After.At()
	switch {
	case who.Busy:
		did = "went on making MPI calls, the last " + who.After.At()
	case who.In.Function != "":
		did = was + " in " + who.In.At()
	}
	text := fmt.Sprintf("%s waited for %s for the last %s, in %s: %s %s", capital(s.name(first)), who.name(), wording.Duration(s.Waited), where, it, did)
	if did := who.Activity.words(); did != "" {
		text += fmt.Sprintf(", and %s %s", was, did)
	}
	if list := append(s.outside(s.Named[1:]), s.clauses(s.Others[1:])...); len(list) > 0 {
		text += ". Meanwhile " + and(list)
	}
	return fmt.Sprintf("%s. This job was stopped after %s%s; whether it would have gone on is not known.", text, wording.Duration(s.Seconds), s.by())
}

// words describes an activity; "" if it is not known.
func (a Activity) words() string {
	switch a {
	case Running:
		return "running on a CPU"
	case InKernel:
		return "blocked in the kernel"
	case Suspended:
		return "suspended by a signal or a debugger"
	case Unseen:
	}
	return ""
}

func (s *Stop) mismatch() string {
	var b strings.Builder
	b.WriteString("This job hung in collective calls that do not match")
	if s.Waited > 0 {
		fmt.Fprintf(&b, ", for its last %s", wording.Duration(s.Waited))
	}
	fmt.Fprintf(&b, ": as collective number %d on %s, ", s.Number, s.Comm)
	total := 0
	for i := range s.Named {
		who := &s.Named[i]
		switch {
		case i == 0:
		case i == len(s.Named)-1:
			b.WriteString(", but ")
		default:
			b.WriteString(", ")
		}
		name := who.name()
		if total += who.Count; i > 0 && who.Count > 1 && total == s.Ranks {
			name = fmt.Sprintf("the other %d ranks", who.Count)
		}
		fmt.Fprintf(&b, "%s called %s", name, who.In.At())
		if who.Detail != "" {
			b.WriteString(" " + who.Detail)
		}
	}
	return b.String() + "."
}
