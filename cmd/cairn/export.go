package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/perfetto"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

func newExportCommand() *cobra.Command {
	var (
		s3                s3Flags
		format, out, list string
		o                 perfetto.Options
	)
	c := &cobra.Command{
		Use:   "export FILE -o OUT",
		Short: "Write a trace for another tool: a time line for Perfetto (https://ui.perfetto.dev)",
		Long: `Write a trace for another tool.

perfetto: a track per rank with a slice per MPI call, an arrow per message, and the critical path as a track of its
own. Open the file in https://ui.perfetto.dev, which shows it without sending it anywhere.`,
		Example: `  cairn export out/trace.cairn -o out/trace.perfetto
  cairn export s3://traces/default/stencil/<uid>/0/0/trace.cairn -o part.perfetto --from 10s --to 10.5s --ranks 0-7,64`,
		Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "perfetto" {
				return usageError{fmt.Errorf("--format %s: there is only perfetto", format)}
			}
			if out == "" {
				return usageError{errors.New("where to? cairn export FILE -o OUT")}
			}
			if o.From < 0 || o.To < 0 || o.To > 0 && o.To <= o.From {
				return usageError{fmt.Errorf("--from %v --to %v: times count from the begin of the run, and --to comes after --from", o.From, o.To)}
			}
			var err error
			if o.Ranks, err = parseRanks(list); err != nil {
				return usageError{err}
			}
			f, err := openTrace(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			for _, rank := range o.Ranks {
				if !hasRank(f, rank) {
					return usageError{fmt.Errorf("%s has no rank %d", args[0], rank)}
				}
			}
			if o.Clock, err = clockBeside(c.Context(), args[0], s3, f); err != nil {
				return err
			}
			file, err := os.Create(out)
			if err != nil {
				return err
			}
			w := bufio.NewWriterSize(file, 1<<20)
			summary, err := perfetto.Write(c.Context(), w, timeline.Of(f.Reader), o)
			if err == nil {
				err = w.Flush()
			}
			if closed := file.Close(); err == nil {
				err = closed
			}
			if err != nil {
				os.Remove(out)
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d calls, %d messages, %d segments of the critical path, %d bytes\n",
				out, summary.Calls, summary.Messages, summary.Segments, summary.Bytes)
			return nil
		},
	}
	s3.register(c)
	c.Flags().StringVar(&format, "format", "perfetto", "of what tool")
	c.Flags().StringVarP(&out, "output", "o", "", "the file to write")
	c.Flags().DurationVar(&o.From, "from", 0, "show what happened from this time on, counted from the begin of the run")
	c.Flags().DurationVar(&o.To, "to", 0*time.Second, "and before this (0: to the end)")
	c.Flags().StringVar(&list, "ranks", "", "only these ranks, as 0-7,64 (default all)")
	return c
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
