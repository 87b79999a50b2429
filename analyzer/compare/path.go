package compare

import (
	"cmp"
	"context"
	"math"
	"slices"

	ofpath "github.com/cairn-mpi/cairn/analyzer/analyses/path"
	ofranks "github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	ofrun "github.com/cairn-mpi/cairn/analyzer/analyses/run"
	ofverdict "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// findings are those about a run that are compared.
type findings struct {
	seconds     float64
	causes      []verdict.Cause
	path        *ofpath.Path
	computation []ofranks.RegionTime
}

var wanted = pass.New("compare", func(_ context.Context, r *pass.Run) (findings, error) {
	return findings{
		ofrun.Analysis.Result(r).RunSeconds, ofverdict.Analysis.Result(r).Verdict.Causes,
		ofpath.Analysis.Result(r).Path, ofranks.Analysis.Result(r).Computation,
	}, nil
}, ofrun.Analysis, ofverdict.Analysis, ofpath.Analysis, ofranks.Analysis)

// A step is the part of a run's critical path at one call site, or between two.
type step struct {
	function      string // like a Cause's
	after, before place  // for computation, the calls around it; else before is the call itself
	seconds       float64
}

// otherSites names the part of the path at more call sites than findings list.
const otherSites = "other"

// pathOf splits the critical path into steps, which add up to the run time.
func pathOf(t timeline.Trace, f *findings) []step {
	inFunction := map[string]string{}
	sites := t.Sites()
	for i := range sites {
		inFunction[callsite.Name(&sites[i])] = callsite.InFunction(&sites[i])
	}
	at := func(function, site string) place { return place{function: function, site: inFunction[site]} }
	var steps []step
	left := f.seconds
	add := func(s step) {
		if s.seconds > 0 {
			steps = append(steps, s)
			left -= s.seconds
		}
	}
	const computation = string(accounts.Computation)
	for _, r := range f.computation {
		add(step{computation, at(r.After.Function, r.After.CallSite), at(r.Before.Function, r.Before.CallSite), *r.Path})
	}
	for _, s := range f.path.ByCallSite {
		if s.Function != computation {
			add(step{function: s.Function, before: at(s.Function, s.CallSite), seconds: s.Seconds})
		}
	}
	for _, s := range f.path.ByFunction {
		if s.Function == string(accounts.Launch) || s.Function == string(accounts.Untraced) {
			add(step{function: s.Function, seconds: s.Seconds})
		}
	}
	if left > float64(len(steps)+1)*tick {
		steps = append(steps, step{function: otherSites, seconds: left})
	}
	return steps
}

// A part is the key by which steps are added up.
type part struct {
	function string
	call     place
	after    bool // computation after the call rather than before it
}

// compareCauses splits the difference of the critical paths. Computation is identified by the call
// after it, unless the call before it explains much more: a new call splits computation in two, and
// only one of the ends is unchanged.
func (f *Findings) compareCauses(x, y []*run) {
	best := math.Inf(1)
	for _, after := range []bool{false, true} {
		causes := causesBy(after, x, y)
		moved := 0.0
		for _, c := range causes {
			moved += math.Abs(c.Difference)
		}
		if moved < best*much {
			best, f.Causes = moved, causes
		}
	}
	f.Causes = f.Causes[:min(len(f.Causes), maxListed)]
}

func causesBy(after bool, x, y []*run) []Cause {
	all := map[part]*Cause{}
	each := func(side []*run, add func(c *Cause, seconds float64)) {
		for _, r := range side {
			for _, s := range r.path {
				p := part{function: s.function, call: s.before}
				if s.function == string(accounts.Computation) && after {
					p.call, p.after = s.after, true
				}
				if all[p] == nil {
					all[p] = &Cause{Function: s.function, CallSite: p.site()}
				}
				add(all[p], s.seconds/float64(len(side)))
			}
		}
	}
	each(x, func(c *Cause, seconds float64) { c.A += seconds })
	each(y, func(c *Cause, seconds float64) { c.B += seconds })
	causes := make([]Cause, 0, len(all))
	for p, c := range all {
		c.Difference = c.B - c.A
		if p.function == string(accounts.Computation) {
			c.Rank = p.rank(c.Difference, x, y)
		}
		causes = append(causes, *c)
	}
	slices.SortFunc(causes, func(a, b Cause) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Difference), math.Abs(b.Difference)), cmp.Compare(a.Function, b.Function), cmp.Compare(a.CallSite, b.CallSite))
	})
	return causes
}

// site returns the call site of a Cause.
func (p *part) site() string {
	switch {
	case p.function != string(accounts.Computation):
		return p.call.site
	case p.after:
		return "after " + p.call.at()
	}
	return "before " + p.call.at()
}

// rank returns the rank whose own computation there makes at least half of the difference, while
// that of others hardly changed; nil if there is none. The path's own ranks do not determine it: if
// ranks are equal, it is random which of them the path leads through.
func (p *part) rank(difference float64, x, y []*run) *int {
	if p.after || len(y[0].ranks) < 2 {
		return nil
	}
	at := place{p.call.function, p.call.site, true}
	var changes []float64
	most, rank := 0.0, -1
	for _, k := range y[0].ranks {
		d := (meanAt(y, k, at) - meanAt(x, k, at)) * sign(difference)
		changes = append(changes, d)
		if rank < 0 || d > most {
			most, rank = d, k
		}
	}
	slices.Sort(changes)
	if second := changes[len(changes)-2]; most < much*math.Abs(difference) || second > much*most {
		return nil
	}
	return &rank
}

// meanAt returns the time of a rank at a place, as a mean over runs.
func meanAt(side []*run, rank int, at place) float64 {
	sum := 0.0
	for _, r := range side {
		sum += r.byRank[rank][at]
	}
	return sum / float64(len(side))
}
