package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/reexecution"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// NewReplayFeedCommand returns the command that each process of a re-execution starts for itself.
// It decodes the calls of its rank and writes them to files that it inherits open, one for each
// thread.
func NewReplayFeedCommand() *cobra.Command {
	var (
		rank, threads, firstFile int
		scratch                  string
	)
	c := &cobra.Command{
		Use:    "replay-feed FILE",
		Short:  "Decode the calls of a rank for the process that executes them again",
		Hidden: true,
		Args:   cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := tracefile.Open(c.Context(), args[0], storage.Flags{})
			if err != nil {
				return err
			}
			defer f.Close()
			if err := feedThreads(c.Context(), f, rank, threads, firstFile, scratch); err != nil {
				return tracefile.Damaged(args[0], err)
			}
			return nil
		},
	}
	c.Flags().Var(cli.AtLeast(&rank, 0, 0), "rank", "the rank to decode")
	c.Flags().Var(cli.AtLeast(&threads, 1, 1), "threads", "number of files")
	c.Flags().Var(cli.AtLeast(&firstFile, 3, 3), "first-file", "file descriptor of the first file")
	c.Flags().StringVar(&scratch, "scratch", ".", "folder of files that MPI reads and writes")
	return c
}

// feedThreads writes the calls of all threads of a rank concurrently. Files without a thread get an
// empty sequence.
func feedThreads(ctx context.Context, f *tracefile.File, rank, threads, firstFile int, scratch string) error {
	t := timeline.Of(f.Reader)
	feeds := make([]int, 0, threads) // locations
	for i, l := range timeline.Locations(t) {
		if l.Rank == rank {
			feeds = append(feeds, i)
		}
	}
	if len(feeds) == 0 {
		return fmt.Errorf("the trace has no rank %d", rank)
	}
	if len(feeds) > threads {
		return fmt.Errorf("rank %d has %d threads, but there are %d files for them", rank, len(feeds), threads)
	}
	failures := make([]error, threads)
	var all sync.WaitGroup
	for i := range threads {
		location := -1
		if i < len(feeds) {
			location = feeds[i]
		}
		all.Go(func() {
			file := os.NewFile(uintptr(firstFile+i), "calls")
			defer file.Close()
			if err := feed(ctx, t, feeds, location, file, scratch); err != nil && !errors.Is(err, syscall.EPIPE) {
				failures[i] = err // a reader that ended early has reported the reason itself
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// feed writes the calls of one of a rank's locations; for location -1 only the end of the sequence.
func feed(ctx context.Context, t timeline.Trace, locations []int, location int, file *os.File, scratch string) error {
	w := bufio.NewWriterSize(file, 1<<16)
	e := reexecution.NewEncoder(w, scratch)
	if location >= 0 {
		others := reexecution.NewOthers(ctx, t, locations, location)
		defer others.Close()
		err := reexecution.Each(ctx, t, location, func(c *reexecution.Call) (err error) {
			if c.After, err = others.Before(c); err != nil {
				return err
			}
			return e.Call(c)
		})
		if err != nil {
			return err
		}
	}
	if err := e.End(); err != nil {
		return err
	}
	return w.Flush()
}
