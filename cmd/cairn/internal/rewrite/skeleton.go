package rewrite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/program"
	"github.com/cairn-mpi/cairn/analyzer/skeleton"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewSkeletonCommand returns the command `cairn skeleton`.
func NewSkeletonCommand() *cobra.Command {
	var (
		s3     storage.Flags
		o      skeleton.Options
		out    string
		traced string
	)
	c := &cobra.Command{
		Use:   "skeleton FILE -o DIR",
		Short: "Write a C program that communicates as the traced one does",
		Long: `Skeleton writes a performance skeleton: a C program for any MPI that makes the calls of the traced program and
spends the same time between them, but computes nothing. It is readable: it has loops, functions of the call path (if the
trace has call paths: cairn run --call-sites path), conditions on the rank, and peers as functions of rank and size. It
runs on the recorded number of ranks. It also runs on other numbers if everything that differs by rank is such a function,
or if peers are neighbors in a grid, torus, hypercube or binomial tree.`,
		Example: `  cairn skeleton out/trace.cairn -o proxy && make -C proxy CC=mpicc && mpirun -np 16 proxy/skeleton
  cairn skeleton out/trace.cairn -o proxy --scale 0.01
  cairn skeleton out/trace.cairn --compare traced-skeleton/trace.cairn`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if (out == "") == (traced == "") {
				return cli.UsageError(errors.New("either -o DIR, to write a skeleton, or --compare TRACE is needed"))
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			if traced != "" {
				return compareSkeleton(c, args[0], f, traced, s3)
			}
			s, err := skeleton.New(c.Context(), timeline.Of(f.Reader), o)
			if errors.Is(err, skeleton.ErrUnsupported) || errors.Is(err, program.ErrIrregular) {
				return cli.StatusError(cli.ExitBadData, fmt.Errorf("%s: %w", args[0], err))
			}
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if err := writeSkeleton(out, s); err != nil {
				return err
			}
			return summarize(c.OutOrStdout(), out, s)
		},
	}
	s3.Register(c)
	c.Flags().StringVarP(&out, "output", "o", "", "the folder to write skeleton.c, a Makefile and a README to")
	c.Flags().StringVar(&traced, "compare", "", "compare with this trace of a skeleton, and fail if the skeleton made other calls")
	c.Flags().Var(cli.Within(&o.Scale, 1, 1e-6, 1), "scale", "fraction of the iterations of outermost loops: 0.01 for a hundredth")
	return c
}

// compareSkeleton returns an error if a skeleton that was run and traced does not make the calls of
// the program.
func compareSkeleton(c *cobra.Command, path string, f *tracefile.File, traced string, s3 storage.Flags) error {
	again, err := tracefile.Open(c.Context(), traced, s3)
	if err != nil {
		return err
	}
	defer again.Close()
	difference, err := skeleton.Compare(c.Context(), timeline.Of(f.Reader), timeline.Of(again.Reader))
	if err != nil {
		return tracefile.Damaged(path, err)
	}
	if difference != "" {
		return cli.StatusError(cli.ExitBadData, fmt.Errorf("%s is not the program of %s: %s", traced, path, difference))
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: the same program\n", traced)
	return err
}

func writeSkeleton(dir string, s *skeleton.Skeleton) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"skeleton.c": s.Source, "Makefile": s.Makefile, "README.md": s.Readme} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// summarize prints what was written.
func summarize(out io.Writer, dir string, s *skeleton.Skeleton) error {
	fmt.Fprintf(out, "%s: %d lines, %s, %s\n", filepath.Join(dir, "skeleton.c"), strings.Count(s.Source, "\n"), wording.Count(s.Functions, "function", "functions"), wording.Count(s.Calls, "MPI call", "MPI calls"))
	if len(s.Fixed) > 0 {
		fmt.Fprintf(out, "runs on %d ranks only: %s\n", s.Ranks, s.Fixed[0])
	} else if s.Topology != "" {
		fmt.Fprintf(out, "runs on %s\n", s.Sizes)
	} else {
		fmt.Fprintf(out, "recorded on %d ranks, also runs on other numbers of ranks\n", s.Ranks)
	}
	for _, l := range s.Shortened {
		fmt.Fprintf(out, "%d of %d iterations of the loop that begins with %s\n", l.First, l.Iterations, l.FirstCall)
	}
	if s.Seconds > 0 {
		fmt.Fprintf(out, "the program ran for %.3g s; expected: %.3g s\n", s.Seconds, s.Expected)
	}
	for _, l := range s.LeftOut {
		fmt.Fprintf(out, "left out: %s (%d calls)\n", l.Function, l.Calls)
	}
	for _, note := range s.Notes {
		fmt.Fprintf(out, "%s\n", note)
	}
	return nil
}
