package plant

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// Targets of the verdict, as shares of the plants with a large loss.
const (
	MuchLost   = 0.15 // of the run: plants that cost less are counted separately
	TargetAll  = 0.95 // of all plants
	TargetKind = 0.85 // of those of each kind
)

// A Score is the number of judged plants of a kind, and the number of right judgments.
type Score struct {
	N, Cause, Who int
}

func (s *Score) add(cause, who bool) {
	s.N++
	if cause {
		s.Cause++
	}
	if cause && who {
		s.Who++
	}
}

// Wilson returns the 95% confidence interval of a share (Wilson 1927), for k successes in n.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	z := distuv.UnitNormal.Quantile(0.975)
	share, size := float64(k)/float64(n), float64(n)
	center := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return max(0, (center-half)/(1+z*z/size)), min(1, (center+half)/(1+z*z/size))
}

// A Table counts judgments by kind.
type Table struct {
	scores map[row]*Score
}

// A row is the kind and form of plants that are counted together. Those with a small loss have rows
// of their own.
type row struct {
	kind        string
	real, small bool
}

// Add counts a judgment. loss is the cost of the plant, as a share of the run; controls and
// failures cost nothing. Real plants all count as having a large loss, which their parameters
// ensure: their measured loss depends on other load on the machine.
func (t *Table) Add(p *Plant, loss float64, cause, who bool) {
	if t.scores == nil {
		t.scores = map[row]*Score{}
	}
	k, err := KindOf(p.Kind)
	at := row{p.Kind, p.Real, err == nil && k.Class == Problem && !p.Real && loss < MuchLost}
	if t.scores[at] == nil {
		t.scores[at] = &Score{}
	}
	t.scores[at].add(cause, who)
}

// Sum returns the score of all kinds of a class and form.
func (t *Table) Sum(class Class, real bool) Score { return t.sum(class, real, false) }

func (t *Table) sum(class Class, real, small bool) (sum Score) {
	for i := range Kinds {
		if s := t.scores[row{Kinds[i].Name, real, small}]; Kinds[i].Class == class && s != nil {
			sum.N, sum.Cause, sum.Who = sum.N+s.N, sum.Cause+s.Cause, sum.Who+s.Who
		}
	}
	return sum
}

// Missed reports whether a target is missed.
func (t *Table) Missed() bool { return strings.Contains(t.String(), missed) }

const missed = "MISS"

// String returns the table: for each kind the number of plants, and for how many the cause was
// right, and the ranks as well.
func (t *Table) String() string {
	var b strings.Builder
	for _, real := range []bool{false, true} {
		form := map[bool]string{false: "simulated", true: "real"}[real]
		for _, section := range []struct {
			class Class
			title string
			each  float64 // target
			all   float64
			small bool
		}{
			{Problem, "plants, " + form, TargetKind, TargetAll, false},
			{Control, "controls, " + form, 1, 1, false},
			{Failure, "hangs and crashes, " + form, TargetKind, TargetAll, false},
			{Problem, fmt.Sprintf("plants that cost less than %.0f%%, %s", 100*MuchLost, form), 0, 0, true},
		} {
			sum := t.sum(section.class, real, section.small)
			if sum.N == 0 {
				continue
			}
			fmt.Fprintf(&b, "%-44s %4s  %-22s %-22s\n", section.title, "n", "right cause", "right cause and who")
			for i := range Kinds {
				if s := t.scores[row{Kinds[i].Name, real, section.small}]; Kinds[i].Class == section.class && s != nil {
					fmt.Fprintf(&b, "  %-42s %s\n", Kinds[i].Name, s.line(section.each))
				}
			}
			fmt.Fprintf(&b, "  %-42s %s\n\n", "all", sum.line(section.all))
		}
	}
	return b.String()
}

// line formats a score with intervals, and marks it if it is below a target.
func (s Score) line(target float64) string {
	share := func(k int) string {
		low, high := Wilson(k, s.N)
		return fmt.Sprintf("%3d %4.0f%% [%3.0f–%3.0f%%]", k, 100*float64(k)/float64(s.N), 100*low, 100*high)
	}
	mark := ""
	if float64(s.Who) < target*float64(s.N) {
		mark = missed
	}
	return strings.TrimRight(fmt.Sprintf("%4d  %-22s %-22s %s", s.N, share(s.Cause), share(s.Who), mark), " ")
}
