package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/scaling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewScaleCommand returns the command `cairn scale`.
func NewScaleCommand() *cobra.Command {
	var (
		s3     storage.Flags
		ranks  []int
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "scale FILE FILE...",
		Short: "Report how calls and computations grow with the number of ranks, and which will hurt first",
		Long: `Scale takes traces of one program at several numbers of ranks, and fits a model to each MPI call and to each computation
between two calls: c0 + c1 · p^i · log2(p)^j, like Extra-P, with the error of predicting each size from the others. It
prints the time of each at more ranks, its share of the run there, and which will hurt first. A trace is given by its
file, or by the folder of a run.

Models of times need five sizes. Models of calls and bytes need two sizes for a constant, three for one term, five for
two. Several runs of a size show how much equal runs differ: three of each are better than one. Sizes that double are
more informative than sizes that are close. The runs may show strong scaling (the same problem for all sizes) or weak
scaling (the same problem for each rank).`,
		Example: `  cairn scale run-2 run-4 run-8 run-16 run-32 --ranks 1024
  cairn scale n*/trace.cairn --ranks 256,1024 --json`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkScale(args, ranks); err != nil {
				return cli.UsageError(fmt.Errorf("%w (see '%s --help')", err, c.CommandPath()))
			}
			var recordings []scaling.Recording
			for _, arg := range args {
				path := traceOf(arg)
				f, err := tracefile.Open(c.Context(), path, s3)
				if err != nil {
					return err
				}
				defer f.Close()
				r := scaling.Recording{Trace: timeline.Of(f.Reader), Name: arg}
				if r.Clock, err = tracefile.ClockBeside(c.Context(), path, s3, f); err != nil {
					return err
				}
				recordings = append(recordings, r)
			}
			found, err := scaling.Analyze(c.Context(), recordings, ranks)
			switch {
			case errors.Is(err, scaling.ErrOneSize):
				return cli.UsageError(err)
			case err != nil:
				return tracefile.Damaged("scaling", err)
			case asJSON:
				return cli.WriteJSON(c.OutOrStdout(), found)
			}
			return found.WriteText(c.OutOrStdout())
		},
	}
	s3.Register(c)
	c.Flags().IntSliceVar(&ranks, "ranks", nil, "numbers of ranks to predict (default: four times the largest run's)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON, for programs")
	return c
}

// checkScale returns an error for arguments that cannot be used.
func checkScale(paths []string, ranks []int) error {
	if len(paths) < 2 {
		return errors.New("traces of at least two sizes are needed, of five or more for models of times")
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return fmt.Errorf("%s is given twice: each run counts once", path)
		}
	}
	for _, n := range ranks {
		if n < 1 {
			return fmt.Errorf("--ranks %d: at least one rank is needed", n)
		}
	}
	return nil
}
