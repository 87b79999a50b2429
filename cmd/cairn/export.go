package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/perfetto"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

func newExportCommand() *cobra.Command {
	var (
		s3                s3Flags
		format, out, list string
		only              part
		o                 perfetto.Options
	)
	c := &cobra.Command{
		Use:   "export FILE -o OUT",
		Short: "Write a trace for another tool: a time line for Perfetto (https://ui.perfetto.dev)",
		Long: `Write a trace for another tool.

perfetto: a track per rank with a slice per MPI call, an arrow per message, and the critical path as a track of its
own. Open the file in https://ui.perfetto.dev, which shows it without sending it anywhere. A message whose receive began
before its send ends at the instant "received" in it. One that was received before it was sent, by what clocks or
rounded times are off, points backward.

A file whose name ends in .gz is compressed by gzip, to about a fifth; Perfetto opens it as it is.`,
		Example: `  cairn export out/trace.cairn -o out/trace.perfetto.gz
  cairn export s3://traces/default/stencil/<uid>/0/0/trace.cairn -o part.perfetto --from 10 --to 10.5 --ranks 0-7,64`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "perfetto" {
				return usageError{fmt.Errorf("--format %s: there is only perfetto", format)}
			}
			if out == "" {
				return usageError{errors.New("where to? cairn export FILE -o OUT")}
			}
			if err := only.check(); err != nil {
				return err
			}
			o.From, o.To = only.from.duration(), only.to.duration()
			f, err := openTrace(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			if o.Ranks, err = chosenRanks(f, args[0], list); err != nil {
				return err
			}
			if o.Clock, err = clockBeside(c.Context(), args[0], s3, f); err != nil {
				return err
			}
			if err := timeline.NeedTimes(timeline.Of(f.Reader), "a time line"); err != nil {
				return damaged(args[0], err)
			}
			var summary perfetto.Summary
			var size int64
			err = writeWhole(out, func(file *os.File) (err error) {
				summary, size, err = writePerfetto(c.Context(), file, strings.HasSuffix(out, ".gz"), timeline.Of(f.Reader), o)
				if err == nil && summary.Calls == 0 && (only.given() || o.Ranks != nil) {
					err = only.nothing(args[0])
				}
				return err
			})
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d calls, %d messages, %d segments of the critical path, %d bytes\n",
				out, summary.Calls, summary.Messages, summary.Segments, size)
			return nil
		},
	}
	s3.register(c)
	c.Flags().StringVar(&format, "format", "perfetto", "of what tool")
	c.Flags().StringVarP(&out, "output", "o", "", "the file to write")
	only.register(c.Flags())
	c.Flags().StringVar(&list, "ranks", "", "only these ranks, as 0-7,64 (default all)")
	return c
}

// writePerfetto writes a trace for Perfetto, and gives the file's size.
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

// writeWhole writes a file, whole or not at all: until then it has another name. What is no ordinary file is written as it
// comes.
func writeWhole(path string, write func(*os.File) error) error {
	name := path + ".partial"
	if about, err := os.Stat(path); err == nil && !about.Mode().IsRegular() {
		name = path
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	switch {
	case name == path:
		return err
	case err == nil:
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
	}
	return err
}

// maxListedRanks bounds what a typing error may ask for.
const maxListedRanks = 1 << 24

// parseRanks reads a list as 0-7,64; nil for an empty one.
func parseRanks(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var ranks []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		low, err := strconv.Atoi(first)
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(last)
		}
		if err != nil || low < 0 || high < low || high-low >= maxListedRanks {
			return nil, fmt.Errorf("ranks %s: %q is neither a rank nor a range as 0-7", list, part)
		}
		for r := low; r <= high; r++ {
			ranks = append(ranks, r)
		}
	}
	return ranks, nil
}

// chosenRanks reads a list of ranks that a trace has; nil for an empty list.
func chosenRanks(f *traceFile, path, list string) ([]int, error) {
	ranks, err := parseRanks(list)
	if err != nil {
		return nil, usageError{err}
	}
	for _, rank := range ranks {
		if !hasRank(f, rank) {
			return nil, usageError{fmt.Errorf("%s has no rank %d", path, rank)}
		}
	}
	return ranks, nil
}
