package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/redact"
	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/wording"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
)

// exporters are the supported formats, one per file (FORMAT.go).
var exporters = []exporter{perfettoExporter, otf2Exporter, simgridExporter, parquetExporter}

// An exporter writes a trace in another tool's format.
type exporter struct {
	format string // value of --format
	about  string // what is written and what opens it: a paragraph of the help
	// needs names what requires the times of single calls, for example "a timeline". It is empty
	// if nothing does.
	needs string
	flags func(*pflag.FlagSet) // registers the flags that only this format has; nil: none
	// elsewhere runs the whole command in another program, which has what this one lacks. It is nil
	// if this program can do it.
	elsewhere func() error
	write     func(ctx context.Context, r exportRequest) (summary string, err error)
}

// An exportRequest is a trace, the part of it to export, and the destination.
type exportRequest struct {
	Trace        timeline.Trace
	Out          string        // a file or a directory, depending on the format
	From, To     time.Duration // since the run began; a call is exported if it overlaps this range; To of 0: to the end
	Ranks        []int         // nil: all
	Clock        *clock.Map    // the run's clock map; nil: make one
	Leads        []int         // the ranks of a reduced trace that have their own times; nil: all have
	Part         bool          // a time range or ranks were asked for
	Extrapolated string        // describes the calls with extrapolated times; empty: none
}

// NewExportCommand returns the command `cairn export`.
func NewExportCommand() *cobra.Command {
	var (
		s3                storage.Flags
		format, out, list string
		only              tracefile.Part
		hidden            []string
		leads             bool
	)
	var formats, about []string
	for _, e := range exporters {
		formats, about = append(formats, e.format), append(about, e.about)
	}
	c := &cobra.Command{
		Use:   "export FILE -o OUT",
		Short: "Write a trace for another tool: " + strings.Join(formats, ", "),
		Long:  "Write a trace for another tool.\n\n" + strings.Join(about, "\n\n"),
		Example: `  cairn export out/trace.cairn -o out/trace.perfetto.gz
  cairn export s3://traces/default/stencil/<uid>/0/0/trace.cairn -o part.perfetto --from 10 --to 10.5 --ranks 0-7,64`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			i := slices.Index(formats, format)
			if i < 0 {
				return cli.UsageError(fmt.Errorf("--format %s: the formats are %s", format, strings.Join(formats, ", ")))
			}
			if out == "" {
				return cli.UsageError(errors.New("-o is missing: cairn export FILE -o OUT"))
			}
			if err := only.Check(); err != nil {
				return err
			}
			if leads && list != "" {
				return cli.UsageError(errors.New("--ranks and --leads exclude each other"))
			}
			hide, err := redact.Parse(hidden)
			if err != nil {
				return cli.UsageError(fmt.Errorf("--redact: %w", err))
			}
			if exporters[i].elsewhere != nil {
				return exporters[i].elsewhere()
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			r := exportRequest{Trace: timeline.Of(f.Reader), Out: out, From: only.From.Duration(), To: only.To.Duration()}
			if r.Ranks, err = tracefile.ChosenRanks(f, args[0], list); err != nil {
				return err
			}
			if r.Clock, err = tracefile.ClockBeside(c.Context(), args[0], s3, f); err != nil {
				return err
			}
			if len(hidden) > 0 {
				reader, err := tracefile.Redacted(f, hide)
				if err != nil {
					return tracefile.Damaged(args[0], err)
				}
				r.Trace = timeline.Of(reader)
			}
			if exporters[i].needs != "" {
				if err := timeline.NeedTimes(r.Trace, exporters[i].needs); err != nil {
					return tracefile.Damaged(args[0], err)
				}
			}
			if leads {
				if r.Ranks, err = leadRanks(c.Context(), f); err != nil {
					return tracefile.Damaged(args[0], err)
				}
			}
			r.Leads, r.Extrapolated = f.Leads(), extrapolated(f)
			r.Part = only.Given() || r.Ranks != nil
			summary, err := exporters[i].write(c.Context(), r)
			if errors.Is(err, errNothingToExport) {
				return only.Nothing(args[0])
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", out, summary)
			return nil
		},
	}
	s3.Register(c)
	c.Flags().StringVar(&format, "format", "perfetto", strings.Join(formats, ", "))
	c.Flags().StringVarP(&out, "output", "o", "", "the file or directory to write")
	only.Register(c.Flags())
	c.Flags().StringSliceVar(&hidden, "redact", nil, "replace names as 'cairn redact' does: paths, hosts, arguments (without a value: all three)")
	c.Flags().Lookup("redact").NoOptDefVal = strings.Join(tracefile.Everything, ",")
	for _, e := range exporters {
		if e.flags != nil {
			e.flags(c.Flags())
		}
	}
	c.Flags().StringVar(&list, "ranks", "", "only these ranks, such as 0-7,64 (default all)")
	c.Flags().BoolVar(&leads, "leads", false, "only one lead rank of each cluster, as with 'cairn reduce --leads'")
	return c
}

// leadRanks returns the lead ranks that `cairn reduce` would keep.
func leadRanks(ctx context.Context, f *tracefile.File) ([]int, error) {
	if leads := f.Leads(); leads != nil {
		return leads, nil
	}
	found, err := clusters.Groups(ctx, timeline.Of(f.Reader), clusters.Options{})
	if err != nil {
		return nil, err
	}
	choice, err := reduce.Choose(ctx, f.Reader, &found)
	if err != nil {
		return nil, err
	}
	return choice.Leads(), nil
}

// extrapolated describes the calls of a trace that have no times of their own. It
// is "" if all have.
func extrapolated(f *tracefile.File) string {
	if leads := f.Leads(); leads != nil {
		ranks := f.Ranks().Len()
		return fmt.Sprintf("calls and times of %d of %d ranks are extrapolated from %s", ranks-len(leads), ranks,
			wording.Count(len(leads), "lead rank", "lead ranks"))
	}
	var of, summed uint64
	for _, thread := range f.Threads().All() {
		of += thread.CallsExtrapolated()
	}
	for _, c := range f.Coarse() {
		summed += c.To - c.From
	}
	var parts []string
	if of > 0 {
		parts = append(parts, fmt.Sprintf("times of %d of %d calls are extrapolated from lead ranks", of, f.Threads().Calls()))
	}
	if summed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d calls have only sums of times, which are spread evenly", summed, f.Threads().Calls()))
	}
	return strings.Join(parts, "; ")
}

// with appends the note about extrapolated times to a summary.
func (r *exportRequest) with(summary string) string {
	if r.Extrapolated == "" {
		return summary
	}
	return summary + "; " + r.Extrapolated
}

// errNothingToExport is returned for a part of the run without calls.
var errNothingToExport = errors.New("no calls in this part of the run")
