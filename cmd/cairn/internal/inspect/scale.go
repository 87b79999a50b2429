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
		Short: "Say how calls and computations grow with the number of ranks, and which will hurt first",
		Long: `Scale takes traces of one program at several numbers of ranks, and makes a model of each MPI call and of each
computation between two calls: c0 + c1 · p^i · log2(p)^j, as Extra-P does, with the error of predicting each size from the
others. Out comes the time of each at more ranks, its share of the run then, and which will hurt first. A trace is given by
its file, or by the folder of a run.

Times have models from five sizes on. Of fewer, calls and bytes have: two sizes for a constant, three for one term, five for
two. Several runs of a size show how far apart equal runs are: three each are better than one. Sizes that double tell more
than sizes that are close, and strong scaling (the same problem for all) or weak scaling (the same problem for each rank)
makes no difference here.`,
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
	c.Flags().BoolVar(&asJSON, "json", false, "write the findings as JSON, for tools")
	return c
}

// checkScale returns an error for arguments that cannot be used.
func checkScale(paths []string, ranks []int) error {
	if len(paths) < 2 {
		return errors.New("which traces? Two sizes at least, five or more for models of times")
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return fmt.Errorf("%s is given twice: each run counts once", path)
		}
	}
	for _, n := range ranks {
		if n < 1 {
			return fmt.Errorf("--ranks %d: one rank at least", n)
		}
	}
	return nil
}
