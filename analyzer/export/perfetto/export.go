package perfetto

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	ofphases "github.com/cairn-mpi/cairn/analyzer/analyses/phases"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/passes"
)

// Options select what is written.
type Options struct {
	// From and To are times since the run began. A call is shown if it overlaps the range. A To of
	// 0 means the end.
	From, To time.Duration
	// Ranks to show; empty: all.
	Ranks []int
	// Clock is the run's clock map; nil: it is computed.
	Clock *clock.Map
}

// A Summary counts what was written.
type Summary struct {
	Calls    uint64
	Messages uint64 // arrows
	Segments int    // of the critical path
	Phases   int
	Counters int // lines of them
	Bytes    int64
	causality.Repairs
}

// findings are those that are shown.
type findings struct {
	runStartNS int64
	path       []path.Segment
	phases     *phases.Findings
}

var wanted = pass.New("perfetto", func(_ context.Context, r *pass.Run) (findings, error) {
	return findings{
		run.Analysis.Result(r).RunStartNS, path.Analysis.Result(r).Path.Segments, ofphases.Analysis.Result(r).Phases,
	}, nil
}, run.Analysis, path.Analysis, ofphases.Analysis)

// Write writes a trace.
func Write(ctx context.Context, w io.Writer, t timeline.Trace, o Options) (Summary, error) {
	if err := timeline.NeedTimes(t, "a timeline"); err != nil {
		return Summary{}, err
	}
	clocks := o.Clock
	if clocks == nil {
		var err error
		if clocks, err = clock.Analyze(ctx, t); err != nil {
			return Summary{}, err
		}
	}
	found, err := pass.Find(ctx, t, wanted, func(r *pass.Run) { pass.Give(r, matching.Given, clocks) })
	if err != nil {
		return Summary{}, err
	}
	e := newExport(t, found.runStartNS, o)
	if e.flows.shown = e.shown; e.none() {
		return Summary{}, fmt.Errorf("the trace has none of the ranks %v", o.Ranks)
	}
	repaired, err := causality.Find(passes.Named(ctx, "ordering effects after causes"), t, clocks.Clocks)
	if err != nil {
		return Summary{}, err
	}
	moved := repaired.Clocks(clocks.Clocks)
	if _, err := match.All(ctx, t, moved, &e.flows, nil); err != nil {
		return Summary{}, err
	}
	e.packets.out = w
	e.tracks()
	e.criticalPath(found.path)
	e.phases(found.phases)
	e.bytesInFlight(e.flows.inFlight)
	e.flows.inFlight = nil
	e.cpus(clocks.Clocks)
	calls := newCalls(&e.packets, &e.flows, len(e.locations), e.time)
	err = timeline.Each(passes.Named(ctx, "writing calls"), t, moved, func(c *timeline.Call) error {
		e.call(calls, c)
		return e.packets.err
	})
	if err != nil {
		return Summary{}, err
	}
	calls.finish()
	e.summary.Repairs = repaired.Repairs
	e.summary.Messages, e.summary.Bytes = uint64(len(e.flows.messages)), e.packets.bytes
	return e.summary, e.packets.err
}

// export is the state of one Write.
type export struct {
	trace     timeline.Trace
	locations []timeline.Location
	chosen    []bool // by location
	from, to  int64  // on the common clock
	start     int64  // of the run

	packets packets
	flows   flows
	summary Summary
}

// uuids of tracks: ranks' threads are numbered from firstTrack on, followed by the counters of
// ranks.
const (
	pathTrack       = 1
	ranksTrack      = 2 // the parent of all ranks
	phasesTrack     = 3
	efficiencyTrack = 4
	flightTrack     = 5
	firstTrack      = 16
)

func newExport(t timeline.Trace, start int64, o Options) *export {
	e := &export{trace: t, locations: timeline.Locations(t), start: start, from: start + o.From.Nanoseconds(), to: math.MaxInt64}
	if o.From <= 0 {
		e.from = math.MinInt64 // include calls before MPI_Init
	}
	if o.To > 0 {
		e.to = start + o.To.Nanoseconds()
	}
	wanted := map[int]bool{}
	for _, r := range o.Ranks {
		wanted[r] = true
	}
	e.chosen = make([]bool, len(e.locations))
	for i, l := range e.locations {
		e.chosen[i] = len(wanted) == 0 || wanted[l.Rank]
	}
	e.flows = flows{sent: map[call][]uint64{}, received: map[call][]uint64{}}
	return e
}

func (e *export) none() bool {
	for _, chosen := range e.chosen {
		if chosen {
			return false
		}
	}
	return len(e.chosen) > 0
}

func (e *export) shown(location int, enter, exit int64) bool {
	return e.chosen[location] && exit >= e.from && enter < e.to
}

// time converts a time to that of the file. Perfetto has no negative times: calls before MPI_Init
// are moved to 0.
func (e *export) time(t int64) int64 { return max(0, t-e.start) }

func (e *export) tracks() {
	e.packets.track(track{uuid: pathTrack, name: "Critical path"})
	e.packets.track(track{uuid: ranksTrack, name: "MPI ranks", orders: true})
	ranks := e.trace.Ranks().Lookup()
	for i, l := range e.locations {
		if !e.chosen[i] {
			continue
		}
		r := ranks(l.Row)
		name := fmt.Sprintf("rank %d", r.Rank)
		for _, where := range []string{r.Pod, r.Node, r.Host} {
			if where != "" && !strings.Contains(name, where) {
				name += " · " + where
			}
		}
		own := track{uuid: firstTrack + uint64(i), parent: ranksTrack, name: name, rank: r.Rank, orders: l.Main == i}
		if l.Main != i {
			own.parent, own.name, own.rank = firstTrack+uint64(l.Main), fmt.Sprintf("thread %d", l.Thread), l.Thread
		}
		e.packets.track(own)
	}
}

// criticalPath writes which rank was on the path at which time, and what it did.
func (e *export) criticalPath(segments []path.Segment) {
	for _, s := range segments {
		start, end := e.start+s.StartNS, e.start+s.EndNS
		if end < e.from || start >= e.to {
			continue
		}
		what := string(s.Kind)
		if s.Function != "" && s.Kind != accounts.Computation {
			what = callsite.At(s.Function, s.CallSite)
		}
		show := slice{
			track: pathTrack, start: s.StartNS, name: fmt.Sprintf("rank %d: %s", s.Rank, what), category: "critical path",
			annotations: []annotation{{"kind", string(s.Kind)}},
		}
		if s.CallSite != "" {
			show.annotations = append(show.annotations, annotation{"call site", callsite.At(s.Function, s.CallSite)})
		}
		if s.Merged > 0 {
			show.annotations = append(show.annotations, annotation{"represents", fmt.Sprintf("%d short segments, of which this is the longest", s.Merged+1)})
		}
		e.packets.begin(&show, arrows{})
		e.packets.end(pathTrack, s.EndNS, arrows{})
		e.summary.Segments++
	}
}

func (e *export) call(to *calls, c *timeline.Call) {
	if !e.shown(c.Location, c.Enter, c.Exit) {
		return
	}
	s := slice{
		track: firstTrack + uint64(c.Location), start: e.time(c.Enter),
		name: c.Function.Name, category: c.Semantics.Words,
		annotations: []annotation{{"call", c.Event.Text()}},
	}
	if c.Event.Site != nil {
		s.annotations = append(s.annotations, annotation{"call site", callsite.Name(c.Event.Site)})
	}
	if c.Event.TimesOf != c.Event.Rank {
		s.annotations = append(s.annotations, annotation{"times of", timesOf(c.Event.TimesOf)})
	}
	to.add(call{c.Location, c.Enter, c.Exit, c.Function.ID, c.Signature.Site}, s)
	e.summary.Calls++
}

// timesOf describes whose times a call has, if they are not its own.
func timesOf(rank int) string {
	if rank < 0 {
		return "no rank: only the sum of the times is known, and it is spread evenly"
	}
	return fmt.Sprintf("rank %d", rank)
}
