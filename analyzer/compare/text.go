package compare

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// much is the part of the difference from which on something is said to make most of it.
const much = 0.5

// sentence says what the difference is, where most of it is, and which rank became slower, if any did beyond doubt.
func (f *Findings) sentence() string {
	text := fmt.Sprintf("B took as long as A (%s).", wording.Duration(f.A.Seconds))
	if f.Difference != 0 {
		how := "longer"
		if f.Difference < 0 {
			how = "less long"
		}
		text = fmt.Sprintf("B took %s %s than A (%s, %s).", wording.Duration(math.Abs(f.Difference)), how, wording.Duration(f.A.Seconds), wording.Duration(f.B.Seconds))
	}
	slower, faster := map[int]bool{}, map[int]bool{} // ranks; one may be in several phases
	var worst *Change
	for i := range f.Changes {
		c := &f.Changes[i]
		if c.What != "computation" {
			continue
		}
		if c.Shift > 0 {
			slower[c.Rank] = true
			if worst == nil || c.Seconds > worst.Seconds {
				worst = c
			}
		} else {
			faster[c.Rank] = true
		}
	}
	if worst == nil || worst.Seconds < much*f.Difference {
		text += f.mostOfIt() // else others wait for that rank, and their waiting would be the most
	}
	switch {
	case f.Tests == 0:
		return text + " The runs have no loop in common with enough iterations to tell a change from chance."
	case worst != nil:
		text += fmt.Sprintf(" Rank %d computes %.1f%% longer in an iteration of %s: %s in all.", worst.Rank, worst.Percent, worst.Phase, wording.Duration(worst.Seconds))
		if len(slower) > 1 {
			text += fmt.Sprintf(" %s became slower too.", wording.Count(len(slower)-1, "other", "others"))
		}
	case len(faster) > 0:
		text += fmt.Sprintf(" Computation became faster, significantly so on %s; it became slower on none.", wording.Count(len(faster), "rank", "ranks"))
	case len(f.Changes) > 0:
		c := f.Changes[0]
		text += fmt.Sprintf(" No rank's computation changed significantly; time in MPI did, most on rank %d in %s: %+.1f%% per iteration.", c.Rank, c.Phase, c.Percent)
	default:
		text += " No rank's iterations changed significantly, neither in computation nor in MPI."
	}
	return text
}

// mostOfIt names the places that together make most of the difference, the largest first, if three are enough.
func (f *Findings) mostOfIt() string {
	var names []string
	sum := 0.0
	for _, p := range f.Places[:min(len(f.Places), 3)] {
		if p.Difference*f.Difference <= 0 {
			continue // the other way
		}
		sum += p.Difference
		names = append(names, fmt.Sprintf("%s (%s)", p.name(), wording.Duration(math.Abs(p.Difference))))
		if sum/f.Difference >= much {
			return fmt.Sprintf(" Most of that, on average over ranks: %s.", strings.Join(names, ", "))
		}
	}
	return ""
}

// name is the place in words.
func (p *Place) name() string {
	name := callsite.At(p.Function, p.CallSite)
	if p.What == "computation" {
		return "computation before " + name
	}
	return name
}

// textRows bounds the tables on a terminal.
const textRows = 15

// WriteText writes what a terminal shows.
func (f *Findings) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s\nMean over ranks: computation %+.6f s, MPI %+.6f s.\n", f.Text, f.Computation, f.MPI)
	for _, note := range f.Notes {
		fmt.Fprintln(w, "Note:", note)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nPhase\tA, s\tB, s\tB - A, s\n")
	for _, p := range f.Phases {
		fmt.Fprintf(t, "%s\t%.6f\t%.6f\t%+.6f\n", p.Name, p.A, p.B, p.B-p.A)
	}
	if len(f.Changes) > 0 {
		fmt.Fprintf(t, "\nSignificant: rank\twhat\tper iteration\t\ttotal, s\tp\tphase\n")
		for _, c := range f.Changes[:min(len(f.Changes), textRows)] {
			fmt.Fprintf(t, "%d\t%s\t%s\t%+.1f%%\t%+.6f\t%.1g\t%s\n", c.Rank, c.What, wording.Duration(c.Shift), c.Percent, c.Seconds, c.PValue, c.Phase)
		}
	}
	fmt.Fprintf(t, "\nPlace, mean over ranks\tA, s\tB, s\tB - A, s\tmost on rank\n")
	for _, p := range f.Places[:min(len(f.Places), textRows)] {
		fmt.Fprintf(t, "%s\t%.6f\t%.6f\t%+.6f\t%d (%+.6f)\n", p.name(), p.A, p.B, p.Difference, p.Rank, p.RankDifference)
	}
	return t.Flush()
}
