package detail

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	ofphases "github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// detailIterations is the length of the shown window in iterations of the loop around it.
const detailIterations = 2.5

// Analysis shows details of the ranks that the verdict names.
var Analysis = analysis.New("detail", analysis.About{Title: "single calls around the longest wait, and how ranks spend their time", Version: 1}, find,
	accounts.Pass, matching.Pass, blame.Pass, ofphases.Analysis, ranks.Analysis)

func find(ctx context.Context, r *pass.Run) (f Findings, err error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return f, nil
	}
	v, c := blame.Pass.Result(r), closeUp{a, matching.Pass.Result(r)}
	if f.Detail, err = c.detail(ctx, v, ofphases.Analysis.Result(r).Phases); err != nil {
		return f, fmt.Errorf("detail: %w", err)
	}
	var shown []int
	if f.Detail != nil {
		shown = f.Detail.Ranks
	}
	if f.RankActivities, err = c.rankActivities(v, shown, ranks.Analysis.Result(r).Ranks); err != nil {
		return f, fmt.Errorf("detail: %w", err)
	}
	return f, nil
}

// A closeUp has the inputs of the analysis.
type closeUp struct {
	*accounts.Accounts
	matched *matching.Result
}

// detail returns the calls around the longest wait for one of the ranks that the verdict names. If
// it names none, or nobody waited for them, the longest wait of all is taken; without any the
// result is nil. Waits at the start and the end of the run are used only if there are no others.
func (a *closeUp) detail(ctx context.Context, v verdict.Verdict, found *phases.Findings) (*Detail, error) {
	named, err := trace.ParseRankList(v.Ranks)
	if err != nil {
		return nil, err
	}
	culprits := named.Ranks()
	location, w := a.longestWait(culprits)
	if w == nil && len(culprits) > 0 {
		location, w = a.longestWait(nil)
	}
	if w == nil {
		return nil, nil
	}
	width := detailIterations * iteration(found, accounts.Seconds(w.Begin-a.Start))
	half := max(int64(width*1e9), 3*(w.End-w.Begin)/2) / 2
	middle := w.Begin + (w.End-w.Begin)/2
	waiter, cause := a.Locations[location].Rank, a.Locations[w.Cause].Rank
	d, err := a.detailOf(ctx, middle-half, middle+half, a.around(culprits, cause, waiter))
	if err != nil {
		return nil, err
	}
	d.Title = fmt.Sprintf("Around the longest wait for rank %d: rank %d waited %s (%s)", cause, waiter, wording.Duration(accounts.Seconds(w.End-w.Begin)), w.Kind)
	return d, nil
}

// detailOf returns the calls of some ranks between two times on the common clock.
func (a *closeUp) detailOf(ctx context.Context, from, to int64, ranks []int) (*Detail, error) {
	names := func(function uint16, site uint32) (string, string) {
		p := a.Names.Call(function, site)
		return p.Function, p.CallSite
	}
	d, err := Take(ctx, a.matched.Log, names, Window{
		Start: a.Start, From: max(from, a.Start), To: min(to, a.End), Ranks: ranks,
	})
	if err != nil {
		return nil, err
	}
	for _, rank := range d.Ranks {
		for i, l := range a.Locations {
			if l.Rank == rank {
				d.Waits = append(d.Waits, a.waitsBetween(i, a.Start+d.FromNS, a.Start+d.ToNS)...)
			}
		}
	}
	d.Waits = d.Waits[:min(len(d.Waits), MaxCalls)]
	return d, nil
}

// waitsBetween returns the waits of a location that overlap an interval.
func (a *closeUp) waitsBetween(location int, from, to int64) []Wait {
	var list []Wait
	l := a.Locations[location]
	waits := a.matched.Waits[location].Backward()
	for w := waits.Before(to); w != nil && w.End > from; w = waits.Before(to) {
		list = append(list, Wait{
			Rank: l.Rank, Thread: l.Thread, BeginNS: w.Begin - a.Start, EndNS: w.End - a.Start,
			Kind: w.Kind.String(), Cause: a.Locations[w.Cause].Rank,
		})
	}
	slices.Reverse(list)
	return list
}

// longestWait returns the longest wait for one of the ranks in causes (of all ranks if it is empty)
// and the location that waited.
func (a *closeUp) longestWait(causes []int) (location int, longest *matching.Wait) {
	wanted := make([]bool, len(a.Locations))
	for i, l := range a.Locations {
		wanted[i] = len(causes) == 0 || slices.Contains(causes, l.Rank)
	}
	length, where := int64(0), matching.WaitPartner{}
	for i := range a.Locations {
		for p, t := range a.matched.Tables[i].Partners {
			if !wanted[p.Cause] || t.Longest == 0 {
				continue
			}
			order := cmp.Compare(t.Longest, length)
			if length > 0 && edge(p.Kind) != edge(where.Kind) {
				order = 1
				if edge(p.Kind) {
					order = -1
				}
			}
			// maps are unordered
			if order > 0 || order == 0 && i == location && (p.Cause < where.Cause || p.Cause == where.Cause && p.Kind < where.Kind) {
				location, length, where = i, t.Longest, p
			}
		}
	}
	if length == 0 {
		return 0, nil
	}
	waits := matching.ForwardWaits{Log: &a.matched.Waits[location]}
	for w := waits.Peek(); w != nil; w = waits.Peek() {
		waits.Next++
		if w.End-w.Begin == length && w.Cause == where.Cause && w.Kind == where.Kind {
			return location, new(*w)
		}
	}
	return 0, nil // reading failed: the event log has the error
}

// edge reports whether a wait is at the start or the end of the run.
func edge(k waitstate.Kind) bool { return k == waitstate.WaitAtInit || k == waitstate.WaitAtFinalize }

// iteration returns the duration in seconds of one iteration of the loop that the run is in at a
// time; 0 if it is in none.
func iteration(found *phases.Findings, at float64) float64 {
	for _, p := range found.Phases {
		if p.Loop && p.StartSeconds <= at && at < p.EndSeconds {
			return p.MedianIteration
		}
	}
	return 0
}

// around returns the ranks to show, in this order:
//
//   - culprits, at most half of MaxRanks;
//   - the cause of the wait and the waiting rank;
//   - ranks that wait for messages of ranks in the list, longest wait first;
//   - ranks that wait for them otherwise;
//   - all others, if all ranks of the run fit.
func (a *closeUp) around(culprits []int, cause, waiter int) []int {
	ranks := newShown(culprits[:min(len(culprits), MaxRanks/2)]...)
	ranks.add(cause, waiter)
	for _, kinds := range []func(waitstate.Kind) bool{forMessage, func(waitstate.Kind) bool { return true }} {
		for n := 0; n != len(ranks.list); {
			n = len(ranks.list)
			ranks.add(a.waiters(ranks, kinds)...)
		}
	}
	if len(a.Ranks) <= MaxRanks {
		for i := range a.Ranks {
			ranks.add(a.Ranks[i].Rank)
		}
	}
	return ranks.list
}

// shown is a list of distinct ranks, at most MaxRanks.
type shown struct {
	list  []int
	there map[int]bool
}

func newShown(ranks ...int) *shown {
	s := &shown{there: map[int]bool{}}
	s.add(ranks...)
	return s
}

func (s *shown) add(ranks ...int) {
	for _, rank := range ranks {
		if len(s.list) < MaxRanks && !s.there[rank] {
			s.there[rank] = true
			s.list = append(s.list, rank)
		}
	}
}

// waiters returns the ranks, not in causes themselves, that waited for ranks in causes in wait
// states of some kinds: longest wait first, at most MaxRanks.
func (a *closeUp) waiters(causes *shown, kinds func(waitstate.Kind) bool) []int {
	type waiter struct {
		rank int
		ns   int64
	}
	var waiters []waiter
	for i, l := range a.Locations {
		w := waiter{rank: l.Rank}
		for p, t := range a.matched.Tables[i].Partners {
			if kinds(p.Kind) && causes.there[a.Locations[p.Cause].Rank] {
				w.ns += t.Ns
			}
		}
		if w.ns > 0 && !causes.there[l.Rank] {
			waiters = append(waiters, w)
		}
	}
	slices.SortStableFunc(waiters, func(x, y waiter) int { return cmp.Compare(y.ns, x.ns) })
	var ranks []int
	for _, w := range waiters[:min(len(waiters), MaxRanks)] {
		ranks = append(ranks, w.rank)
	}
	return ranks
}

// forMessage reports whether a wait is for a message.
func forMessage(k waitstate.Kind) bool {
	return k == waitstate.LateSender || k == waitstate.LateReceiver || k == waitstate.LateProgress
}
