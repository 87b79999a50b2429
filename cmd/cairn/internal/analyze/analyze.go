package analyze

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// NewAnalyzeCommand returns the command `cairn analyze`.
func NewAnalyzeCommand() *cobra.Command {
	var (
		s3       storage.Flags
		patience storage.Patience
		log      cli.TerminationLog
		out, url string
		job      bool
		name     string
		index    int
		of       int
		within   tracefile.Part
		only     []string
	)
	c := &cobra.Command{
		Use:   "analyze FILE -o DIR",
		Short: "Analyze a trace and write its report",
		Long: `Analyze writes DIR/index.html, DIR/report.json and DIR/summary.txt. It also writes the clock map of the run beside the
trace (clock.json), which other commands use.
With --only it runs only some analyses, and the report lists what it lacks. There are sets and single analyses:

` + listAnalyses() + `
--from and --to restrict the analysis to a part of the run. Once the whole run has been analyzed, only that part of the
trace is read, beginning at a time when no message was in flight, if there is one.
With --job it writes the findings of one analysis, or set, for one run of a TracedMPIJob, or for every N-th; report --job
assembles them into a report.`,
		Example: `  cairn analyze out/trace.cairn -o out/report
  cairn analyze out/trace.cairn -o out/waits --only waits,rootcauses
  cairn analyze out/trace.cairn -o out/part --from 10 --to 12.5`,
		RunE: func(c *cobra.Command, args []string) error {
			if job {
				if len(args) > 0 || out != "" || name == "" || within.Given() || len(only) > 0 {
					return cli.UsageError(errors.New("--job reads its trace from --store and needs --analysis: it takes neither a file nor -o, --only, --from and --to"))
				}
				result, err := analyzeJob(c, s3, patience, url, jobPart{analysis: name, index: index, of: of})
				if logErr := log.Write(c, result.Fit()); logErr != nil && err == nil {
					return logErr
				}
				return err
			}
			if len(args) != 1 || out == "" {
				return cli.UsageError(errors.New("a trace and -o are needed: cairn analyze FILE -o DIR"))
			}
			if _, err := analyses.Select(only...); err != nil {
				return cli.UsageError(err)
			}
			if err := within.Check(); err != nil {
				return err
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			r, failed := ReportOn(c.Context(), f, args[0], s3, within, report.Job{TraceURI: args[0]}, only...)
			if r == nil {
				return failed
			}
			s, err := s3.Open(out)
			if err != nil {
				return err
			}
			if err := WriteReport(c.Context(), s, "", r); err != nil {
				return err
			}
			fmt.Fprint(c.OutOrStdout(), r.Summary())
			fmt.Fprintln(c.OutOrStdout(), "report:", s.URL("index.html"))
			return failed
		},
	}
	s3.Register(c)
	log.Register(c)
	patience.Register(c)
	flags := c.Flags()
	flags.StringVarP(&out, "output", "o", "", "directory for the report, a local one or s3://bucket/prefix")
	flags.StringSliceVar(&only, "only", nil, "run only these analyses and sets of analyses")
	within.Register(flags)
	flags.BoolVar(&job, "job", false, "run one analysis on one run of a job")
	flags.StringVar(&url, "store", "", "with --job: the job's directory or s3://bucket/prefix")
	flags.StringVar(&name, "analysis", "", "with --job: which analysis")
	flags.Var(cli.AtLeast(&index, 0, 0), "index", "with --job: which run, counted from 0 in runs.json")
	flags.Var(cli.AtLeast(&of, 0, 0), "of", "with --index I: also runs I + N, I + 2 N and so on (0: only run I)")
	return c
}

// collectRarely returns a reserve of memory that the caller keeps reachable during an analysis. The
// reserve raises the garbage collector's target but takes no physical memory, since nobody writes
// to it. Without it the collector would run every few milliseconds before and after the calls are
// read, when no decoders are in memory; that costs up to a tenth of the whole time.
//
// A trace of many ranks has many decoders, and most of their memory stays in use. Waiting for as
// much garbage again would double the memory.
func collectRarely(r *trace.Reader) (reserve []byte) {
	const many = 4096
	switch {
	case os.Getenv("GOGC") != "":
		return nil
	case r.Threads().Len() < many:
		return make([]byte, 8<<20)
	}
	debug.SetGCPercent(50)
	return make([]byte, 32<<20)
}

// listAnalyses describes each set of analyses and each analysis.
func listAnalyses() string {
	var b strings.Builder
	for _, set := range analyses.Sets {
		fmt.Fprintf(&b, "  %-14s %s:\n", set.Name, set.Title)
		for _, a := range set.Analyses {
			fmt.Fprintf(&b, "    %-12s %s\n", a.Name(), a.Describe().Title)
		}
	}
	return b.String()
}

// ReportOn runs the analyses that names select (all if names is empty), assembles the report and
// writes the run's clock map beside the trace. An error of the trace itself is marked as bad data.
// If only some analyses fail, ReportOn returns both a report, which lacks their findings, and an
// error.
func ReportOn(ctx context.Context, f *tracefile.File, path string, s3 storage.Flags, within tracefile.Part, job report.Job, names ...string) (*report.Report, error) {
	defer runtime.KeepAlive(collectRarely(f.Reader))
	clocks, err := tracefile.LeftClock(ctx, path, s3, f)
	if err != nil {
		return nil, err
	}
	left := clocks != nil && len(clocks.Cuts) > 0
	if within.Given() {
		if clocks, err = clocksWithin(ctx, f, path, s3, clocks, within); err != nil {
			return nil, err
		}
		left = true
	}
	if job.Asked, err = analyses.Selected(names...); err != nil {
		return nil, cli.UsageError(err)
	}
	findings, clocks, failed := analyzer.Run(ctx, f.Reader, clocks, names...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed != nil {
		failed = tracefile.Damaged(path, failed)
	}
	if len(findings) == 0 {
		return nil, failed
	}
	if !left && clocks != nil {
		tracefile.LeaveClock(ctx, path, s3, clocks)
	}
	job.Failed = analyzer.Reasons(failed)
	return analyzer.Report(f.Reader, findings, job), failed
}

// clocksWithin returns the clock map for a part of a run, cut from the clock map m of the whole
// run. If m is nil, it makes that map and writes it beside the trace.
func clocksWithin(ctx context.Context, f *tracefile.File, path string, s3 storage.Flags, m *clock.Map, part tracefile.Part) (*clock.Map, error) {
	if m == nil {
		var err error
		if m, err = tracefile.MakeClock(ctx, path, f); err != nil {
			return nil, err
		}
		tracefile.LeaveClock(ctx, path, s3, m)
	}
	within, err := analyzer.Within(ctx, f.Reader, m, float64(part.From), part.End())
	var none analyzer.PartError
	switch {
	case errors.As(err, &none):
		return nil, cli.UsageError(err)
	case err != nil:
		return nil, tracefile.Damaged(path, err)
	}
	return within, nil
}

// WriteReport writes the files of a report below prefix, and the page last. Once begun, it is not
// interrupted.
func WriteReport(ctx context.Context, s store.Store, prefix string, r *report.Report) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	for _, name := range report.FileNames {
		if err := storage.PutBytes(ctx, s, prefix+name, files[name]); err != nil {
			return err
		}
	}
	return nil
}
