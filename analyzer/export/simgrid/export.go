package simgrid

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-mpi/cairn/analyzer/activity"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// Options configure the export.
type Options struct {
	// Clock is the run's clock map; nil: it is computed.
	Clock *clock.Map
	// Latency of a message; 0: measured in the run.
	Latency time.Duration
	// Bandwidth of a message, in GB/s; 0: measured in the run.
	Bandwidth float64
}

// A Summary counts what was written.
type Summary struct {
	Ranks    int
	Actions  uint64
	Messages uint64 // sends, without those of collectives that are written as messages
	Network  Network
	Measured bool // the network, or a part of it, was measured in the run
	// HandshakeFrom is the size in bytes from which on a send waits for its receive: as measured in
	// the run, or 64 KiB.
	HandshakeFrom int64
	// AsMessages counts, by function, the calls of collectives that are written as messages.
	AsMessages []Omission
	LeftOut    []Omission
}

// defaultHandshake is the size in bytes from which on messages use a handshake, if the run does not
// show it.
const defaultHandshake = 64 << 10

// Write writes a trace into a folder, which it creates.
func Write(ctx context.Context, dir string, t timeline.Trace, o Options) (Summary, error) {
	if err := timeline.NeedTimes(t, "a simulation"); err != nil {
		return Summary{}, err
	}
	clocks := o.Clock
	if clocks == nil {
		var err error
		if clocks, err = clock.Analyze(ctx, t); err != nil {
			return Summary{}, err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return Summary{}, err
	}
	e := &export{trace: t, clocks: clocks.Clocks, recorder: newRecorder(t), asMessages: omissions{}}
	left, err := match.All(ctx, t, e.clocks, e.recorder, e.recorder.see)
	if err != nil {
		return Summary{}, err
	}
	for _, l := range left {
		e.recorder.left.add("operations without a partner: "+t.Function(l.Function).Name, uint64(l.Count))
	}
	if e.summary.HandshakeFrom, err = handshakes(ctx, t, e.clocks); err != nil {
		return Summary{}, err
	}
	e.network(o)
	e.world = worldOf(t)
	e.recorder.arrange(e.world)
	if err := e.ranks(ctx, dir); err != nil {
		return Summary{}, err
	}
	if err := e.platform(dir); err != nil {
		return Summary{}, err
	}
	e.summary.Ranks = t.Meta().WorldSize
	e.summary.AsMessages, e.summary.LeftOut = e.asMessages.list(), e.recorder.left.list()
	return e.summary, nil
}

// export is the state of one Write.
type export struct {
	trace      timeline.Trace
	clocks     *timeline.Clocks
	recorder   *recorder
	world      int // the communicator with all ranks whose tags are kept
	asMessages omissions
	summary    Summary
}

func handshakes(ctx context.Context, t timeline.Trace, clocks *timeline.Clocks) (int64, error) {
	j, err := eventlog.Record(ctx, t, clocks)
	if err != nil {
		return 0, err
	}
	defer j.Close()
	if from := j.Handshakes(); from > 0 && from < 1<<31 {
		return from, nil
	}
	return defaultHandshake, nil
}

func (e *export) network(o Options) {
	n := &e.summary.Network
	*n, e.summary.Measured = e.recorder.fits.network()
	if o.Latency > 0 {
		n.Latency = float64(o.Latency)
	}
	if o.Bandwidth > 0 {
		n.Bandwidth = o.Bandwidth
	}
	e.summary.Measured = e.summary.Measured && (o.Latency == 0 || o.Bandwidth == 0)
}

// worldOf returns the first communicator with all ranks in order.
func worldOf(t timeline.Trace) int {
	for i, c := range t.Communicators() {
		if isWorld(c.Members.Ranks(), t.Meta().WorldSize) {
			return i
		}
	}
	return -1
}

func isWorld(ranks []int, size int) bool {
	for i, r := range ranks {
		if i != r {
			return false
		}
	}
	return len(ranks) == size
}

// ranks writes the file of each rank.
func (e *export) ranks(ctx context.Context, dir string) error {
	program, err := activity.NewProgram(e.trace)
	if err != nil {
		return err
	}
	start, err := e.start(ctx, program)
	if err != nil {
		return err
	}
	gaps, roots := polling.NewGaps(e.trace), e.trace.Threads().Roots()
	there := make([]bool, e.trace.Meta().WorldSize)
	for i, l := range e.recorder.locations {
		if l.Main != i || l.Rank >= len(there) {
			e.recorder.left.add("calls of threads other than the first of each rank", e.calls(i))
			continue
		}
		there[l.Rank] = true
		err := writeFile(filepath.Join(dir, fmt.Sprintf("%d.ti", l.Rank)), func(out *bufio.Writer) error {
			w := newWriter(e, out, i, start)
			w.thread, w.gaps = program.Thread(int(roots.At(i))), gaps.Of(i)
			w.begin()
			err := timeline.EachOf(ctx, e.trace, i, l, e.clocks, w.call)
			w.end()
			return err
		})
		if err != nil {
			return err
		}
	}
	for rank, is := range there {
		if is {
			continue
		}
		err := writeFile(filepath.Join(dir, fmt.Sprintf("%d.ti", rank)), func(w *bufio.Writer) error {
			_, err := fmt.Fprintf(w, "%d init\n%d finalize\n", rank, rank)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *export) calls(location int) uint64 { return e.trace.Threads().At(location).Calls }

// start returns when the run began: at the first call that counts.
func (e *export) start(ctx context.Context, program *activity.Program) (int64, error) {
	first, roots := int64(1<<63-1), e.trace.Threads().Roots()
	for i, l := range e.recorder.locations {
		if l.Main != i {
			continue
		}
		thread := program.Thread(int(roots.At(i)))
		err := timeline.EachOf(ctx, e.trace, i, l, e.clocks, func(c *timeline.Call) error {
			if thread.See(&c.Record, polling.None) == nil {
				return nil
			}
			first = min(first, c.Enter)
			return errStop
		})
		if err != nil && !errors.Is(err, errStop) {
			return 0, err
		}
	}
	return first, nil
}
