package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/cairn-mpi/cairn/analyzer/export/perfetto"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
)

var perfettoExporter = exporter{
	format: "perfetto",
	about: `perfetto: a file for https://ui.perfetto.dev, which shows it without sending it anywhere: a track per rank with a
slice per MPI call, an arrow per message, the critical path and the phases as tracks of their own, and counters: parallel
efficiency, bytes in flight, of all ranks and of each that sent them, and each rank's CPU use, waiting for a CPU and throttling. A message whose receive began
before its send ends at the instant "received" in it. Where rounded times or clocks have a message received before it
was sent, the receive is moved after the send; the summary says how often, and by how much at most. A file whose name ends in .gz is compressed by gzip, to about a fifth; Perfetto
opens it as it is.`,
	needs: "a time line",
	write: exportPerfetto,
}

func exportPerfetto(ctx context.Context, r exportRequest) (string, error) {
	var summary perfetto.Summary
	var size int64
	err := storage.WriteWhole(r.Out, func(file *os.File) (err error) {
		o := perfetto.Options{From: r.From, To: r.To, Ranks: r.Ranks, Clock: r.Clock}
		summary, size, err = writePerfetto(ctx, file, strings.HasSuffix(r.Out, ".gz"), r.Trace, o)
		if err == nil && summary.Calls == 0 && r.Part {
			err = errNothingToExport
		}
		return err
	})
	return r.with(fmt.Sprintf("%d calls, %d messages, %d segments of the critical path, %d phases, %d counters, %d bytes; %s", summary.Calls,
		summary.Messages, summary.Segments, summary.Phases, summary.Counters, size, summary.Repairs.Text())), err
}

// writePerfetto writes a trace for Perfetto and returns the file's size in bytes.
func writePerfetto(ctx context.Context, file *os.File, compressed bool, t timeline.Trace, o perfetto.Options) (perfetto.Summary, int64, error) {
	buffered := bufio.NewWriterSize(file, 1<<20)
	flush := buffered.Flush
	w := io.Writer(buffered)
	if compressed {
		packed := gzip.NewWriter(buffered)
		w, flush = packed, func() error { return errors.Join(packed.Close(), buffered.Flush()) }
	}
	summary, err := perfetto.Write(ctx, w, t, o)
	if err == nil {
		err = flush()
	}
	if err != nil {
		return summary, 0, err
	}
	size, err := file.Seek(0, io.SeekCurrent)
	return summary, size, err
}
