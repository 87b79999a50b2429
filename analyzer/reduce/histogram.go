package reduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/histogram"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// Histograms makes a trace of histograms from a trace of the given number of bytes. What differs
// from call to call is a histogram per cluster of ranks that behave alike (clusters.Alike),
// function and call site. Every call is decoded once. Memory grows with the program's text, and
// with the pairs of ranks that communicate.
func Histograms(ctx context.Context, r *trace.Reader, bytes int64) (*trace.Histograms, error) {
	if !r.Meta().Final {
		return nil, errors.New("only a finished trace can be reduced: others are of some of a job's ranks")
	}
	h := &trace.Histograms{
		Meta: *r.Meta(), Functions: r.Functions(), Sites: r.Sites(), Ranks: ranksOnly(r.Ranks()), Lost: lost(r),
		From: trace.HistogramsFrom{Bytes: bytes, Calls: r.Threads().Calls(), Signatures: len(r.Signatures()), Rules: len(r.Grammar().Rules)},
	}
	h.Meta.Clustering = nil
	groups := clusters.Alike(timeline.Of(r))
	of := map[int]*clusterHistograms{}
	list := make([]*clusterHistograms, len(groups))
	for i, ranks := range groups {
		list[i] = newClusterHistograms(r, ranks)
		for _, rank := range ranks {
			of[rank] = list[i]
		}
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for i, th := range r.Threads().All() {
		if err := of[th.Rank].thread(ctx, i, &th); err != nil {
			return nil, err
		}
		begin, end := r.Span(i)
		first, last = min(first, begin), max(last, end)
	}
	if r.Threads().Len() > 0 {
		h.DurationNS = last - first
	}
	matrix, err := traffic.Matrix(r)
	if err != nil {
		return nil, fmt.Errorf("communication matrix: %w", err)
	}
	for _, t := range matrix {
		if c := of[t.Source]; c != nil {
			c.matrix = append(c.matrix, t)
		}
	}
	for _, c := range list {
		h.Clusters = append(h.Clusters, c.cluster())
	}
	h.Meta.Notes = append(h.Meta.Notes[:len(h.Meta.Notes):len(h.Meta.Notes)],
		fmt.Sprintf("This is a trace of histograms: %d calls of %d ranks as %d clusters. It lacks: %s.",
			h.From.Calls, h.Ranks.Len(), len(h.Clusters), joined(h.Lost)))
	return h, nil
}

func joined(list []string) string {
	text := ""
	for i, s := range list {
		text += []string{"; ", ""}[boolInt(i == 0)] + s
	}
	return text
}

func boolInt(x bool) int {
	if x {
		return 1
	}
	return 0
}

// lost lists what the trace has that its histograms lack.
func lost(r *trace.Reader) []string {
	list := []string{
		"the order of calls, except which call directly preceded which",
		"which values and times occurred together in one call",
		"which rank of a cluster made which call, and on which thread",
		"requests, addresses and floating-point values",
		"members of communicators",
	}
	if slices.ContainsFunc(r.Ranks().List(), func(rank trace.Rank) bool { return len(rank.Context)+len(rank.Evidence)+len(rank.Threads) > 0 }) {
		list = append(list, "the operating system's counters of the ranks")
	}
	return list
}

// ranksOnly returns the ranks with where they ran and how they ended.
func ranksOnly(t *trace.RankTable) trace.RankTable {
	start := int64(math.MaxInt64)
	for _, x := range t.Starts().All() {
		start = min(start, x)
	}
	var some trace.RankTable
	for _, r := range t.All() {
		kept := trace.Rank{Rank: r.Rank, Host: r.Host, Pod: r.Pod, Node: r.Node, BootID: r.BootID, Executable: r.Executable,
			StartRealtimeNS: start, Clock: timing.Clock{Kind: "monotonic"}, EndedEarly: r.EndedEarly, Dropped: r.Dropped}
		if r.End != nil {
			kept.End = &trace.End{Signal: r.End.Signal, ExitCode: r.End.ExitCode}
		}
		some.Append(kept)
	}
	return some
}

// A call is a function and a call site.
type call struct {
	function uint16
	site     uint32
}

func compareCalls(a, b call) int {
	return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.site, b.site))
}

// clusterHistograms collects the calls of the ranks of a cluster.
type clusterHistograms struct {
	trace               *trace.Reader
	ranks               []int
	calls               map[call]*callHistograms
	made, spans, inside histogram.Builder
	matrix              []traffic.Pair
}

func newClusterHistograms(r *trace.Reader, ranks []int) *clusterHistograms {
	coarse := histogram.Builder{Coarse: true}
	return &clusterHistograms{trace: r, ranks: ranks, calls: map[call]*callHistograms{}, made: coarse, spans: coarse, inside: coarse}
}

// thread adds the thread in a row.
func (c *clusterHistograms) thread(ctx context.Context, row int, th *trace.Thread) error {
	c.made.Add(int64(th.Calls), 1)
	begin, end := c.trace.Span(row)
	c.spans.Add(end-begin, 1)
	stretch := 1.0 // ns per tick
	if ticks := th.EndTick - th.FirstTick; ticks > 0 {
		stretch = float64(end-begin) / float64(ticks)
	}
	c.inside.Add(int64(math.Round(float64(th.InsideTicks)*stretch)), 1)
	if err := c.sums(row, stretch); err != nil {
		return err
	}
	cursor, err := c.trace.Cursor(th.Rank, th.Thread)
	if err != nil {
		return err
	}
	var before *callHistograms
	for exit := int64(0); cursor.Next(); {
		e := cursor.Event()
		if e.Index%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		of := c.of(e)
		of.add(e)
		if e.Timed {
			of.durations.Add(e.Exit-e.Enter, 1)
			if before != nil && !e.Signature.Untraced {
				of.gap(before.call).Add(e.Enter-exit-e.Overhead, 1)
			}
		}
		before, exit = of, e.Exit
	}
	return cursor.Err()
}

// sums adds the times of a trace that has only their sums.
func (c *clusterHistograms) sums(row int, stretch float64) error {
	list, err := c.trace.Aggregates(row)
	if err != nil {
		return err
	}
	for i := range list {
		s := &c.trace.Signatures()[list[i].Terminal]
		of := c.at(call{s.Function, s.Site})
		of.durations.AddStatistics(&list[i].Durations, stretch)
		if !s.Untraced {
			of.gap(noCall).AddStatistics(&list[i].Gaps, stretch)
		}
	}
	return nil
}

func (c *clusterHistograms) of(e *trace.Event) *callHistograms {
	return c.at(call{e.Function.ID, e.Signature.Site})
}

func (c *clusterHistograms) at(k call) *callHistograms {
	of := c.calls[k]
	if of == nil {
		of = newCallHistograms(k, c.trace)
		c.calls[k] = of
	}
	return of
}

// cluster returns what was collected.
func (c *clusterHistograms) cluster() trace.RankCluster {
	order := slices.SortedFunc(maps.Keys(c.calls), compareCalls)
	index := map[call]int{noCall: -1}
	for i, k := range order {
		index[k] = i
	}
	made := trace.RankCluster{Ranks: trace.NewRankList(c.ranks), Traffic: trafficBins(c.matrix),
		ThreadCalls: c.made.Histogram(), ThreadSpans: c.spans.Histogram(), ThreadInside: c.inside.Histogram()}
	for _, k := range order {
		made.Calls = append(made.Calls, c.calls[k].histograms(index))
	}
	return made
}

// trafficBins returns traffic by distance or by destination, whichever more of the senders have in
// common.
func trafficBins(matrix []traffic.Pair) []trace.TrafficBin {
	to, distance := map[int]int{}, map[int]int{}
	for _, t := range matrix {
		to[t.Dest]++
		distance[t.Dest-t.Source]++
	}
	bins := make([]trace.TrafficBin, len(matrix))
	for i, t := range matrix {
		at, fixed := t.Dest-t.Source, t.Dest < 0 || to[t.Dest] > distance[t.Dest-t.Source]
		if fixed {
			at = t.Dest
		}
		bins[i] = trace.TrafficBin{Fixed: fixed, Low: int64(at), High: int64(at), Messages: t.Messages, Bytes: t.Bytes, Unsized: t.Unsized}
	}
	return trace.JoinTraffic(bins)
}
