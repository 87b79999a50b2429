package plant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Larger is the factor from which one of two problems must be named first because it costs more.
const Larger = 1.5

// negligible is the largest part of the run that a second problem may cost without being listed.
const negligible = 0.05

// Judge compares the causes of a run with the truth. The first cause is the one in the first
// sentence of the report. cause reports whether it is right, who whether it names the right ranks.
// why describes what is wrong; it is "" if all is right.
func Judge(causes []verdict.Cause, truth Truth) (cause, who bool, why string) {
	if len(causes) > 0 && causes[0].Kind == verdict.Nobody {
		causes = nil
	}
	switch {
	case len(truth.Planted) == 0:
		return judgeControl(causes, truth)
	case len(causes) == 0:
		return false, false, "nobody is blamed"
	case len(truth.Planted) == 1:
		return judgeOne(&causes[0], &truth.Planted[0])
	}
	return judgeTwo(causes, truth)
}

// judgeControl reports whether nothing is blamed wrongly.
func judgeControl(causes []verdict.Cause, truth Truth) (cause, who bool, why string) {
	if len(causes) == 0 {
		return true, true, ""
	}
	first := &causes[0]
	who = first.Ranks == "" && first.Rank == nil
	cause = who && slices.Contains(truth.May, first.Kind)
	if !cause {
		why = "false blame: " + Name(first)
	}
	return cause, who, why
}

// judgeOne compares one cause with one problem. who is true only with a right cause.
func judgeOne(c *verdict.Cause, p *Planted) (cause, who bool, why string) {
	why = "wrong cause: " + Name(c)
	for _, e := range p.Accepted {
		if e.Kind != c.Kind || e.Forms != nil && !slices.Contains(e.Forms, c.Form) {
			continue
		}
		cause = true
		if e.names(c) {
			return true, true, ""
		}
		why = "wrong ranks: " + Name(c)
	}
	return cause, false, why
}

// names reports whether a cause is about the expected ranks.
func (e Expected) names(c *verdict.Cause) bool {
	if e.Who == nil {
		return true
	}
	ranks := Listed(c)
	if e.Exact {
		return slices.Equal(ranks, e.Who)
	}
	for _, r := range ranks {
		if !slices.Contains(e.Who, r) {
			return false
		}
	}
	return len(ranks) > 0
}

// judgeTwo compares causes with two problems. The first cause must be one of them: the larger one,
// if it costs much more than the other. The other must be in the list, unless its cost is
// negligible.
func judgeTwo(causes []verdict.Cause, truth Truth) (cause, who bool, why string) {
	planted := truth.Planted
	mustBeFirst := planted[0].LossSeconds >= Larger*planted[1].LossSeconds && planted[1].LossSeconds > 0
	for i := range planted {
		if i > 0 && mustBeFirst {
			break
		}
		named, whom, wrong := judgeOne(&causes[0], &planted[i])
		if why == "" || named {
			why = wrong
		}
		if !named {
			continue
		}
		cause = true
		other := &planted[1-i]
		if whom && other.LossSeconds > 0 && other.LossSeconds < negligible*truth.RunSeconds {
			return true, true, ""
		}
		for k := range causes[1:] {
			if found, right, _ := judgeOne(&causes[k+1], other); found && right && whom {
				return true, true, ""
			}
		}
		if whom {
			why = other.Kind + " is not among the causes"
		}
	}
	return cause, false, why
}

// Listed returns the ranks of a cause, ascending.
func Listed(c *verdict.Cause) []int {
	ranks, err := parseRanks(c.Ranks)
	if err != nil || len(ranks) == 0 && c.Rank == nil {
		return nil
	}
	if len(ranks) == 0 {
		return []int{*c.Rank}
	}
	return ranks
}

// parseRanks parses the output of trace.RankList.String: "0-3,8,10-20:2".
func parseRanks(list string) ([]int, error) {
	var ranks []int
	if list == "" {
		return nil, nil
	}
	for _, part := range strings.Split(list, ",") {
		span, by, hasStride := strings.Cut(part, ":")
		first, last, isSpan := strings.Cut(span, "-")
		if !isSpan {
			last = first
		}
		if !hasStride {
			by = "1"
		}
		var numbers [3]int
		for i, s := range []string{first, last, by} {
			n, err := strconv.Atoi(s)
			if err != nil {
				return nil, fmt.Errorf("plant: ranks %q: %w", list, err)
			}
			numbers[i] = n
		}
		for r := numbers[0]; r <= numbers[1]; r += max(1, numbers[2]) {
			ranks = append(ranks, r)
		}
	}
	slices.Sort(ranks)
	return ranks, nil
}

// Name describes a cause in a few words.
func Name(c *verdict.Cause) string {
	s := string(c.Kind)
	if c.Form != verdict.NoForm {
		s += "/" + string(c.Form)
	}
	switch {
	case c.Ranks != "":
		s += " of " + c.Ranks
	case c.Rank != nil:
		s += fmt.Sprintf(" of %d", *c.Rank)
	}
	return s
}
