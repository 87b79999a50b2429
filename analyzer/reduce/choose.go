package reduce

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/trace"
)

// A Choice is the lead of each rank.
type Choice map[int]int

// Of returns the lead of a rank.
func (c Choice) Of(rank int) int { return c[rank] }

// Leads returns all leads, in order.
func (c Choice) Leads() []int {
	leads := map[int]bool{}
	for _, lead := range c {
		leads[lead] = true
	}
	return slices.Sorted(maps.Keys(leads))
}

// Choose chooses leads for the ranks of a run. It begins with those of the clusters (ranks that
// make the same calls, communicate over the same mean distance, and compute for as long), and
// divides them until
//
//   - every rank computes at the same times of the run as its lead, and
//   - the peers of its lead, moved to the rank, are the peers of the rank. The clusters do not
//     ensure this: in a butterfly, for example, the mean distance is the same for ranks with other
//     partners.
func Choose(ctx context.Context, whole *trace.Reader, found *clusters.Findings) (Choice, error) {
	if err := timeline.NeedTimes(timeline.Of(whole), "a choice of lead ranks"); err != nil {
		return nil, err
	}
	choice := Choice{}
	for _, r := range whole.Ranks().All() {
		choice[r.Rank] = found.LeadOf(r.Rank)
	}
	t := timeline.Of(whole)
	if err := choice.byTimeOfComputation(ctx, t); err != nil {
		return nil, err
	}
	traffic, err := t.Matrix()
	if err != nil {
		return nil, err
	}
	known := sent(traffic)
	roles, err := timeline.Roles(ctx, t)
	if err != nil {
		return nil, err
	}
	content, err := whole.StreamedContent()
	if err != nil {
		return nil, err
	}
	for round := 0; len(choice.groups()) < len(choice); round++ {
		leads, err := choice.matrix(*content, roles)
		if err != nil {
			return nil, err
		}
		if !choice.byPeers(known, leads, round >= maxRounds) {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return choice, ctx.Err()
}

// maxRounds is the maximum number of rounds in which the rest of a group gets one more lead. After
// that each of its ranks is its own lead.
const maxRounds = 6

const (
	// slicesOfRun is the number of slices, with equally many calls each, of a rank's calls, for
	// comparing when it computes.
	slicesOfRun = 8
	// sliceTolerance is the maximum sum of the differences of two ranks in all slices, as a share
	// of the longest computation.
	sliceTolerance = 0.1
)

// byTimeOfComputation gives separate leads to ranks that compute at other times than their leads.
func (c Choice) byTimeOfComputation(ctx context.Context, t timeline.Trace) error {
	computed, err := computationBySlice(ctx, t)
	if err != nil {
		return err
	}
	longest := 0.0
	for _, seconds := range clusters.Computation(t) {
		longest = max(longest, seconds)
	}
	for lead, ranks := range c.groups() {
		leads := []int{lead}
		for _, rank := range ranks {
			nearest := slices.MinFunc(leads, func(a, b int) int {
				return cmp.Compare(apart(computed[a], computed[rank]), apart(computed[b], computed[rank]))
			})
			if rank != lead && apart(computed[nearest], computed[rank]) > sliceTolerance*longest {
				nearest, leads = rank, append(leads, rank)
			}
			c[rank] = nearest
		}
	}
	return nil
}

// groups returns the ranks of each lead, in order.
func (c Choice) groups() map[int][]int {
	groups := map[int][]int{}
	for _, rank := range slices.Sorted(maps.Keys(c)) {
		groups[c[rank]] = append(groups[c[rank]], rank)
	}
	return groups
}

// apart returns the sum of the differences of two ranks' slices.
func apart(a, b [slicesOfRun]float64) float64 {
	sum := 0.0
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum
}

// computationBySlice returns the computation time in seconds of each rank's main thread in each
// slice of its calls.
func computationBySlice(ctx context.Context, t timeline.Trace) (map[int][slicesOfRun]float64, error) {
	all := map[int][slicesOfRun]float64{}
	locations := timeline.Locations(t)
	for i, thread := range t.Threads().All() {
		if locations[i].Main != i || thread.Calls == 0 {
			continue
		}
		cursor, err := t.Calls(thread.Rank, thread.Thread)
		if err != nil {
			return nil, err
		}
		var s [slicesOfRun]float64
		for last := int64(math.MaxInt64); cursor.Next(); {
			e := cursor.Event()
			s[e.Index*slicesOfRun/thread.Calls] += float64(max(0, e.Enter-last-e.Overhead)) / 1e9
			last = e.Exit
			if e.Index%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if err := cursor.Err(); err != nil {
			return nil, err
		}
		all[thread.Rank] = s
	}
	return all, nil
}

// A messages identifies the messages of a rank to another one.
type messages struct{ comm, dest int }

// sent returns the number of messages and bytes from each rank to each.
func sent(traffic []traffic.Pair) map[int]map[messages][2]uint64 {
	all := map[int]map[messages][2]uint64{}
	for _, t := range traffic {
		if all[t.Source] == nil {
			all[t.Source] = map[messages][2]uint64{}
		}
		all[t.Source][messages{t.Comm, t.Dest}] = [2]uint64{t.Messages, t.Bytes}
	}
	return all
}

// matrix returns the traffic in the trace of the leads.
func (c Choice) matrix(content trace.Content, roles []int) (map[int]map[messages][2]uint64, error) {
	if err := Leads(&content, nil, roles, c.Of); err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := trace.Write(&file, &content); err != nil {
		return nil, err
	}
	reduced, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), readlimit.Option(int64(file.Len())))
	if err != nil {
		return nil, err
	}
	pairs, err := traffic.Matrix(reduced)
	return sent(pairs), err
}

// byPeers separates ranks that send elsewhere than their leads suggest: those of a group get one
// lead together or, in the end, each its own. It reports whether there were any.
func (c Choice) byPeers(known, leads map[int]map[messages][2]uint64, separately bool) bool {
	changed := false
	for _, ranks := range c.groups() {
		next := -1
		for _, rank := range ranks {
			if c[rank] == rank || maps.Equal(known[rank], leads[rank]) {
				continue
			}
			if next < 0 || separately {
				next = rank
			}
			c[rank], changed = next, true
		}
	}
	return changed
}
