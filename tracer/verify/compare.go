package verify

import (
	"cmp"
	"errors"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// ErrNoReference reports that a rank's process wrote no reference log.
var ErrNoReference = errors.New("there is no reference log: was the program run with --verify?")

// Compare compares every call of a trace with the reference logs in the process
// directories. It ignores directories of processes that are not in the trace, since a spool
// may have several worlds.
func Compare(reader *trace.Reader, directories []string) (Result, error) {
	var result Result
	var processes []*process
	for _, dir := range directories {
		p, err := readProcess(dir)
		if err != nil {
			return result, err
		}
		processes = append(processes, p)
	}
	threads := map[int]map[int]int{} // by rank and number: the row in the trace
	for row, t := range reader.Threads().All() {
		if threads[t.Rank] == nil {
			threads[t.Rank] = map[int]int{}
		}
		threads[t.Rank][t.Thread] = row
	}
	for _, rank := range reader.Ranks().All() {
		p := find(processes, &rank)
		if p == nil {
			result.add(Disagreement{Rank: rank.Rank, Reason: ErrNoReference.Error()})
			continue
		}
		log, err := readLog(p.dir)
		if err != nil {
			return result, err
		}
		if len(log) == 0 {
			return result, fmt.Errorf("%s: %w", p.dir, ErrNoReference)
		}
		cursors := map[int]cursor{}
		for thread := range threads[rank.Rank] {
			if cursors[thread], err = reader.Cursor(rank.Rank, thread); err != nil {
				return result, err
			}
		}
		m := newMatch(rank.Rank, p, reader.Sites())
		m.ended = rank.EndedEarly != ""
		m.times.settings, m.times.bufferBytes = reader.Meta().Timing, p.BufferBytes
		m.times.clock = timing.NewClockMap(&rank.Clock)
		for _, c := range reader.Coarse() {
			if c.Rank == rank.Rank {
				m.times.coarse = append(m.times.coarse, c)
			}
		}
		m.readings = float64(rank.Clock.AtMost(m.times.settings.MomentLimit())) / 1e9
		before := result.count()
		if err := addPast(&result, rank.Rank, p.dir); err != nil {
			return result, err
		}
		if err := compareRank(&result, m, cursors, log); err != nil {
			return result, err
		}
		if m.times.settings.Mode == timing.Aggregated && result.count() == before {
			if err := compareAggregates(&result, m, reader, threads[rank.Rank]); err != nil {
				return result, err
			}
		}
		if result.count() == before {
			result.Ranks++
		}
	}
	return result, nil
}

// find returns the process of a rank. Several may have its host, pid and approximate start, if each
// has a PID namespace of its own; the launcher's variables tell them apart.
func find(processes []*process, rank *trace.Rank) (found *process) {
	for _, p := range processes {
		if !p.of(rank) {
			continue
		}
		described := record.Process{Environment: p.Environment}
		if own, _ := described.RankFromEnvironment(); own == rank.Rank {
			return p
		}
		found = cmp.Or(found, p)
	}
	return found
}

// A cursor is trace.Cursor.
type cursor interface {
	Next() bool
	Event() *trace.Event
	Err() error
}

// A callEdge is an entry into a call or a return from it.
type callEdge struct {
	order  uint64
	call   *loggedCall
	leaves bool
}

// compareRank processes the calls of one process in the order of their entries and returns.
func compareRank(result *Result, m *match, cursors map[int]cursor, log map[int][]*loggedCall) error {
	rank := m.rank
	var callEdges []callEdge
	for _, calls := range log {
		for _, c := range calls {
			if !c.finished {
				// Its rank ended in it. The trace has the call with its inputs, if it
				// had begun by then.
				result.Unfinished++
				callEdges = append(callEdges, callEdge{c.entered, c, false})
				continue
			}
			callEdges = append(callEdges, callEdge{c.entered, c, false}, callEdge{c.left, c, true})
		}
	}
	sort.Slice(callEdges, func(i, j int) bool { return callEdges[i].order < callEdges[j].order })

	type pending struct {
		*comparison
		ok bool
	}
	open := map[*loggedCall]pending{}
	ended := map[int]bool{}  // threads without further calls in the trace
	unread := map[int]bool{} // threads whose current event was not compared yet
	for _, at := range callEdges {
		c := at.call
		if at.leaves {
			if o, ok := open[c]; ok {
				o.ok = o.leave() && o.ok
				if o.ok {
					result.Calls++
					if o.generalized {
						result.Generalized++
					}
				}
				for _, d := range o.disagreements {
					result.add(d)
				}
				delete(open, c)
			}
			continue
		}
		if ended[c.thread] {
			continue
		}
		events := cursors[c.thread]
		if events == nil || !unread[c.thread] && !events.Next() {
			ended[c.thread] = true
			if events != nil && events.Err() != nil {
				return fmt.Errorf("rank %d, thread %d: %w", rank, c.thread, events.Err())
			}
			if !c.finished {
				continue
			}
			result.add(Disagreement{Rank: rank, Thread: c.thread, Index: c.index, Function: c.function,
				Reason: fmt.Sprintf("the trace ends before this call; the log has %d", len(log[c.thread]))})
			continue
		}
		// what the log has begun and not ended is not in the trace if the shim had not begun it
		e := events.Event()
		if unread[c.thread] = !c.finished && !e.Unfinished() && !e.Left(); unread[c.thread] {
			continue
		}
		if err := c.parse(); err != nil {
			return fmt.Errorf("rank %d, thread %d, call %d: %w", rank, c.thread, c.index, err)
		}
		o := m.begin(events.Event(), c)
		if ok := o.enter(); c.finished {
			open[c] = pending{o, ok}
		} else {
			for _, d := range o.disagreements {
				result.add(d)
			}
		}
		if o.wrongFunction {
			// All later calls of this thread would disagree, too.
			ended[c.thread] = true
		}
	}
	for thread, events := range cursors {
		if !ended[thread] && (unread[thread] || events.Next()) {
			index, function := events.Event().Index, events.Event().Function.Name
			if last := !events.Next(); !last || !m.ended {
				result.add(Disagreement{Rank: rank, Thread: thread, Index: index, Function: function, Reason: "the log ends before this call"})
			}
		}
		if err := events.Err(); err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", rank, thread, err)
		}
	}
	if reason := m.times.conclude(); reason != "" {
		result.add(Disagreement{Rank: rank, Reason: reason})
	}
	return nil
}

// compareAggregates compares the statistics of the threads of a rank; threads maps their numbers to
// rows in the trace.
func compareAggregates(result *Result, m *match, reader *trace.Reader, threads map[int]int) error {
	for number, row := range threads {
		traced, err := reader.Aggregates(row)
		if err != nil {
			return fmt.Errorf("rank %d, thread %d: %w", m.rank, number, err)
		}
		if reason := m.times.thread(number).compareAggregates(traced); reason != "" {
			result.add(Disagreement{Rank: m.rank, Thread: number, Argument: "time", Reason: reason})
		}
	}
	return nil
}
