package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/compare"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/merger/collect"
)

// NewCompareCommand returns the command `cairn compare`.
func NewCompareCommand() *cobra.Command {
	var (
		s3     storage.Flags
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "compare (A B | A... -- B...)",
		Short: "Report what became slower from one run of a program to another, or from several to several",
		Long: `Compare traces of one program, A before and B after: the difference of the run times, what makes it on the critical
path, which never waits, and the ranks with different iterations. A trace is given by its file, or by the folder of a
run.

One run per side does not show how much equal runs differ: on a busy machine that is often more than the difference of
interest. Several runs per side, at least two and better five, show it. Then a difference is significant only if it is
larger than those between runs of one side (Welch's t-test; at most 5% of equal runs are reported as different). Run
both sides in turns, so that changes of the machine affect both.`,
		Example: `  cairn compare before/trace.cairn after/trace.cairn
  cairn compare before-1 before-2 before-3 -- after-1 after-2 after-3`,
		RunE: func(c *cobra.Command, args []string) error {
			before, after, err := sides(args, c.ArgsLenAtDash())
			if err != nil {
				return cli.UsageError(fmt.Errorf("%w (see '%s --help')", err, c.CommandPath()))
			}
			var recordings []compare.Recording
			for _, path := range slices.Concat(before, after) {
				path = traceOf(path)
				f, err := tracefile.Open(c.Context(), path, s3)
				if err != nil {
					return err
				}
				defer f.Close()
				clock, err := tracefile.ClockBeside(c.Context(), path, s3, f)
				if err != nil {
					return err
				}
				recordings = append(recordings, compare.Recording{Trace: timeline.Of(f.Reader), Clock: clock})
			}
			found, err := compare.Compare(c.Context(), recordings[:len(before)], recordings[len(before):])
			if err != nil {
				return tracefile.Damaged(strings.Join(args, ", "), err)
			}
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(found)
			}
			return found.WriteText(c.OutOrStdout())
		},
	}
	s3.Register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	return c
}

// sides splits arguments at --. dash is the number of arguments before it, or −1 without one.
func sides(args []string, dash int) (before, after []string, err error) {
	switch {
	case dash < 0 && len(args) > 2:
		return nil, nil, fmt.Errorf("%d traces are given without -- between those before and those after: use A... -- B... for several runs per side", len(args))
	case dash < 0 && len(args) < 2:
		return nil, nil, errors.New("no traces are given: use A B, or A... -- B... for several runs per side")
	case dash < 0:
		dash = 1
	}
	before, after = args[:dash], args[dash:]
	if err := compare.CheckRuns(len(before), len(after)); err != nil {
		return nil, nil, err
	}
	if len(before) > 1 {
		for i, path := range args {
			if slices.Contains(args[:i], path) {
				return nil, nil, fmt.Errorf("%s is given twice: each run counts once", path)
			}
		}
	}
	return before, after, nil
}

// traceOf returns the trace in a run's folder, or path itself if it is not such a folder.
func traceOf(path string) string {
	inside := filepath.Join(path, collect.TraceFile)
	if about, err := os.Stat(inside); err == nil && about.Mode().IsRegular() {
		return inside
	}
	return path
}
