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
	about: `perfetto: a file for https://ui.perfetto.dev, which shows it without uploading it. It has a track per rank with a slice
per MPI call, an arrow per message, tracks for the critical path and the phases, and counters: parallel efficiency,
bytes in flight (of all ranks and of each sender), and each rank's CPU use, time without a CPU and throttling. If a
receive began before its send, the arrow ends at the instant "received" in it. If rounded times or clocks show a
message as received before it was sent, the receive is moved after the send. The summary reports how often, and by how
much at most. A file name that ends in .gz selects compression with gzip, to about a fifth. Perfetto opens such a file
directly.`,
	needs: "a timeline",
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
	return r.with(fmt.Sprintf("%d calls, %d messages, %d path segments, %d phases, %d counters, %d bytes; %s", summary.Calls,
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
