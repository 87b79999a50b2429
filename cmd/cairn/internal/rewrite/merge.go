package rewrite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// NewMergeCommand returns the command `cairn merge`.
func NewMergeCommand() *cobra.Command {
	var (
		s3       storage.Flags
		patience storage.Patience
		log      cli.TerminationLog
		out      string
		job      bool
		url      string
		attempts string
		timeout  int
		level    int
		index    int
		o        collect.Options
	)
	c := &cobra.Command{
		Use:   "merge -o OUT SHARD…",
		Short: "Merge shards into one trace",
		Long: `Merge joins shards, or traces of single ranks, of one MPI_COMM_WORLD into one finished trace. With --job it merges what
the sidecars of a TracedMPIJob uploaded below --store, waits for what is missing, and writes one trace for each run. If a
run has more shards than --fan-in, the command only plans the merge: it prints the number of parts of each --level that
must be run after it.`,
		Example: "  cairn merge -o trace.cairn s3://traces/default/stencil/<uid>/shards/<pod>/<world>/<sha256>.cairn …",
		RunE: func(c *cobra.Command, args []string) error {
			// most memory of a merge has no pointers, so that frequent collections are cheap
			debug.SetGCPercent(25)
			if job {
				if len(args) > 0 || out != "" {
					return cli.UsageError(errors.New("--job reads its shards from --store: it takes neither files nor -o"))
				}
				if o.FanIn == 1 {
					return cli.UsageError(errors.New("--fan-in 1: merging one trace per step never ends; 0 merges all in one step"))
				}
				s, err := s3.OpenPatient(c, url, patience)
				if err != nil {
					return err
				}
				if o.Attempts, err = collect.ParseAttempts(attempts); err != nil {
					return cli.UsageError(err)
				}
				o.CollectTimeout = time.Duration(timeout) * time.Second
				o.CreatedBy = version.Version
				o.Logf = func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...) }
				var result *collect.Result
				if level > 0 {
					result, err = collect.Step(c.Context(), s, level, index, o)
				} else {
					result, err = collect.Merge(c.Context(), s, o)
				}
				if errors.Is(err, collect.ErrAllDamaged) {
					err = cli.StatusError(cli.ExitBadData, err)
				}
				message := result.Message(err)
				message.Storage = storage.Failure(err)
				if logErr := log.Write(c, message.Fit()); logErr != nil && err == nil {
					return logErr
				}
				return err
			}
			if len(args) == 0 || out == "" {
				return cli.UsageError(errors.New("shards and -o are needed: cairn merge -o OUT SHARD…"))
			}
			return mergeFiles(c, s3, out, args)
		},
	}
	s3.Register(c)
	log.Register(c)
	patience.Register(c)
	flags := c.Flags()
	flags.StringVarP(&out, "output", "o", "", "the trace to write, a local path or s3://bucket/key")
	flags.BoolVar(&job, "job", false, "merge what a job's sidecars uploaded")
	flags.StringVar(&url, "store", "", "with --job: the job's directory or s3://bucket/prefix")
	flags.Var(cli.AtLeast(&timeout, 300, 0), "collect-timeout", "with --job: how long to wait for missing ranks, in seconds")
	flags.Var(cli.AtLeast(&o.FanIn, 0, 0), "fan-in", "with --job: maximum number of traces that one step merges (0: no limit)")
	flags.Var(cli.AtLeast(&level, 0, 0), "level", "with --job: run a part of this level of the plan")
	flags.Var(cli.AtLeast(&index, 0, 0), "index", "with --level: which part, counted from 0")
	flags.Var(cli.AtLeast(&o.Pods, 0, 0), "pods", "with --job: number of pods of the job (0: those with objects in the store)")
	flags.StringVar(&attempts, "attempts", "", "with --job: the starts of the launcher, as JSON")
	return c
}

// mergeFiles merges the readable inputs. Unreadable ones are named, and the command fails at the
// end.
func mergeFiles(c *cobra.Command, s3 storage.Flags, out string, inputs []string) error {
	var m merger.Merger
	var unusable []error
	merged := 0
	_, pass, end := passes.Begin(c.Context(), "merging", "traces", uint64(len(inputs)))
	for _, input := range inputs {
		err := addFile(c, s3, &m, input)
		pass.Add(1)
		if err == nil {
			merged++
			continue
		}
		unusable = append(unusable, err)
		if merged+len(unusable) < len(inputs) || merged > 0 {
			fmt.Fprintln(c.ErrOrStderr(), "cairn: left out:", err)
		}
	}
	end()
	if merged == 0 {
		return unusable[0]
	}
	contents, err := m.Finish(merger.Options{Final: true, CreatedBy: version.Version})
	if err != nil {
		return err
	}
	if len(contents) > 1 {
		return cli.StatusError(cli.ExitBadData, merger.ErrRepeatedRank)
	}
	if err := tracefile.Write(c, s3, out, contents[0]); err != nil {
		return err
	}
	summary := merger.Summarize(contents[0])
	fmt.Fprintf(c.OutOrStdout(), "%s: %d ranks, %d calls\n", out, summary.Ranks, summary.Calls)
	if len(unusable) > 0 {
		return cli.StatusError(cli.ExitBadData, fmt.Errorf("%d of %d inputs were left out", len(unusable), len(inputs)))
	}
	return nil
}

// addFile adds a trace without decoding it: times of calls stay encoded.
func addFile(c *cobra.Command, s3 storage.Flags, m *merger.Merger, path string) error {
	o, err := s3.Options()
	if err != nil {
		return err
	}
	object, err := store.OpenFile(c.Context(), path, o)
	if err != nil {
		return err
	}
	defer object.Close()
	raw := make([]byte, object.Size())
	if _, err := object.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	reader, err := trace.Open(bytes.NewReader(raw), int64(len(raw)), readlimit.Option(int64(len(raw))))
	if err != nil {
		return tracefile.Damaged(path, err)
	}
	content, err := reader.StreamedContent()
	if err != nil {
		return tracefile.Damaged(path, err)
	}
	if err := m.Add(content); err != nil {
		return tracefile.Damaged(path, err)
	}
	return nil
}
