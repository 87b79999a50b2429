package criticalpath

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	detailfindings "github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/detail"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/trace"
)

// detailIterations is how many iterations of the loop around it the detail shows.
const detailIterations = 2.5

// detailAnalysis looks closer at the ranks that the verdict names.
var detailAnalysis = analysis.New("detail", analysis.About{Title: "single calls around the longest wait, and what ranks spend their time with", Version: 1}, findDetail,
	accountsPass, matchingPass, blamePass, phasesAnalysis, ranksAnalysis)

func findDetail(ctx context.Context, r *pass.Run) (f detailfindings.Findings, err error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil || a.sums {
		return f, err
	}
	matched, err := matchingPass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	v, err := blamePass.Of(ctx, r)
	if err != nil {
		return f, err
	}
	inPhases, err := phasesAnalysis.Of(ctx, r)
	if err != nil {
		return f, err
	}
	times, err := ranksAnalysis.Of(ctx, r)
	if err != nil {
		return f, err
	}
	c := closeUp{a, matched}
	if f.Detail, err = c.detail(ctx, v, inPhases.Phases); err != nil {
		return f, fmt.Errorf("detail: %w", err)
	}
	var shown []int
	if f.Detail != nil {
		shown = f.Detail.Ranks
	}
	if f.RankActivities, err = c.rankActivities(v, shown, times.Ranks); err != nil {
		return f, fmt.Errorf("detail: %w", err)
	}
	return f, nil
}

// A closeUp is what a closer look is taken at.
type closeUp struct {
	*allAccounts
	forward *forward
}

// detail is the calls around the longest wait for one of the ranks that the verdict names, or the longest of all where it
// names none; nil where nobody waited. Launch and end of the run count only where there is no other wait.
func (a *closeUp) detail(ctx context.Context, v verdict.Verdict, found *phases.Findings) (*detail.Detail, error) {
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
	width := detailIterations * iteration(found, inSeconds(w.begin-a.start))
	half := max(int64(width*1e9), 3*(w.end-w.begin)/2) / 2
	middle := w.begin + (w.end-w.begin)/2
	waiter, cause := a.locations[location].Rank, a.locations[w.cause].Rank
	d, err := a.detailOf(ctx, middle-half, middle+half, a.around(culprits, cause, waiter))
	if err != nil {
		return nil, err
	}
	d.Title = fmt.Sprintf("Around the longest wait for rank %d: rank %d waited %s (%s)", cause, waiter, wording.Duration(inSeconds(w.end-w.begin)), w.kind)
	return d, nil
}

// detailOf is the calls of some ranks between two times on the common clock.
func (a *closeUp) detailOf(ctx context.Context, from, to int64, ranks []int) (*detail.Detail, error) {
	names := func(function uint16, site uint32) (string, string) {
		p := a.names.place(function, site)
		return p.Function, p.CallSite
	}
	d, err := detail.Take(ctx, a.forward.journal, names, detail.Window{
		Start: a.start, From: max(from, a.start), To: min(to, a.end), Ranks: ranks,
	})
	if err != nil {
		return nil, err
	}
	for _, rank := range d.Ranks {
		for i, l := range a.locations {
			if l.Rank == rank {
				d.Waits = append(d.Waits, a.waitsBetween(i, a.start+d.FromNS, a.start+d.ToNS)...)
			}
		}
	}
	d.Waits = d.Waits[:min(len(d.Waits), detail.MaxCalls)]
	return d, nil
}

// waitsBetween are the waits of a location of which a part is between two times.
func (a *closeUp) waitsBetween(location int, from, to int64) []detail.Wait {
	var list []detail.Wait
	l := a.locations[location]
	waits := a.forward.waits[location].backward()
	for w := waits.before(to); w != nil && w.end > from; w = waits.before(to) {
		list = append(list, detail.Wait{
			Rank: l.Rank, Thread: l.Thread, BeginNS: w.begin - a.start, EndNS: w.end - a.start,
			Kind: w.kind.String(), Cause: a.locations[w.cause].Rank,
		})
	}
	slices.Reverse(list)
	return list
}

// longestWait is the longest wait for one of the ranks, of all where there are none, and the location that waited.
func (a *closeUp) longestWait(causes []int) (location int, longest *wait) {
	wanted := make([]bool, len(a.locations))
	for i, l := range a.locations {
		wanted[i] = len(causes) == 0 || slices.Contains(causes, l.Rank)
	}
	length, where := int64(0), waitPartner{}
	for i := range a.locations {
		for p, t := range a.forward.tables[i].partners {
			if !wanted[p.cause] || t.longest == 0 {
				continue
			}
			order := cmp.Compare(t.longest, length)
			if length > 0 && edge(p.kind) != edge(where.kind) {
				order = 1
				if edge(p.kind) {
					order = -1
				}
			}
			if order > 0 || order == 0 && i == location && (p.cause < where.cause || p.cause == where.cause && p.kind < where.kind) { // tables have no order
				location, length, where = i, t.longest, p
			}
		}
	}
	if length == 0 {
		return 0, nil
	}
	waits := forwardWaits{log: &a.forward.waits[location]}
	for w := waits.peek(); w != nil; w = waits.peek() {
		waits.next++
		if w.end-w.begin == length && w.cause == where.cause && w.kind == where.kind {
			return location, new(*w)
		}
	}
	return 0, nil // it cannot be read: the journal has the error
}

// edge reports whether a wait is at the beginning or the end of the run.
func edge(k waitstate.Kind) bool { return k == waitstate.WaitAtInit || k == waitstate.WaitAtFinalize }

// iteration is how long one iteration takes of the loop that the run is in at a time, all in seconds; 0 where it is in none.
func iteration(found *phases.Findings, at float64) float64 {
	for _, p := range found.Phases {
		if p.Loop && p.StartSeconds <= at && at < p.EndSeconds {
			return p.MedianIteration
		}
	}
	return 0
}

// around are the ranks to be shown: half of them at most culprits, then cause and waiter of the wait, then who waits for
// messages of those shown, longest first, then who waits for them otherwise, and all others where there is room for all.
func (a *closeUp) around(culprits []int, cause, waiter int) []int {
	ranks := newShown(culprits[:min(len(culprits), detail.MaxRanks/2)]...)
	ranks.add(cause, waiter)
	for _, kinds := range []func(waitstate.Kind) bool{forMessage, func(waitstate.Kind) bool { return true }} {
		for n := 0; n != len(ranks.list); {
			n = len(ranks.list)
			ranks.add(a.waiters(ranks, kinds)...)
		}
	}
	if len(a.ranks) <= detail.MaxRanks {
		for i := range a.ranks {
			ranks.add(a.ranks[i].Rank)
		}
	}
	return ranks.list
}

// shown is a list of different ranks, at most as many as a detail has.
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
		if len(s.list) < detail.MaxRanks && !s.there[rank] {
			s.there[rank] = true
			s.list = append(s.list, rank)
		}
	}
}

// waiters are the ranks that waited for some others in some ways, longest first, at most as many as a detail has.
func (a *closeUp) waiters(causes *shown, kinds func(waitstate.Kind) bool) []int {
	type waiter struct {
		rank int
		ns   int64
	}
	var waiters []waiter
	for i, l := range a.locations {
		w := waiter{rank: l.Rank}
		for p, t := range a.forward.tables[i].partners {
			if kinds(p.kind) && causes.there[a.locations[p.cause].Rank] {
				w.ns += t.ns
			}
		}
		if w.ns > 0 && !causes.there[l.Rank] {
			waiters = append(waiters, w)
		}
	}
	slices.SortStableFunc(waiters, func(x, y waiter) int { return cmp.Compare(y.ns, x.ns) })
	var ranks []int
	for _, w := range waiters[:min(len(waiters), detail.MaxRanks)] {
		ranks = append(ranks, w.rank)
	}
	return ranks
}

// forMessage reports whether a wait is for a message.
func forMessage(k waitstate.Kind) bool {
	return k == waitstate.LateSender || k == waitstate.LateReceiver || k == waitstate.LateProgress
}
