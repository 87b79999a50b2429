package rewrite

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer/clusters"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/tracefile"
	"github.com/cairn-mpi/cairn/internal/readlimit"
	"github.com/cairn-mpi/cairn/trace"
)

// NewReduceCommand returns the command `cairn reduce`.
func NewReduceCommand() *cobra.Command {
	var (
		s3        storage.Flags
		o         clusters.Options
		leads     bool
		histogram bool
		out       string
	)
	c := &cobra.Command{
		Use:   "reduce FILE (--leads | --histogram) -o FILE",
		Short: "Write a smaller trace: of lead ranks that represent all ranks, or of histograms",
		Long: `With --leads, reduce writes a trace with the times and results of lead ranks only. Each lead represents ranks that make
the same calls (cairn clusters) and have similar computation times at the same times of the run. Every command reads the
trace as if it had all ranks: a represented rank has the calls and times of its lead, with peers at the same distance from
itself. Reduce prints how accurate that is: it compares the run time predicted for another network, and the load balance,
with those of the whole trace.

With --histogram, reduce writes a trace that does not grow with the length of the run or the number of ranks, even for an
irregular program. Varying arguments, durations and gaps become histograms, for each cluster of ranks that behave alike
and each call (a function with its call site). The sums of calls, bytes and times are exact. The order of calls is lost,
except which call came directly before which. info and dump read such a trace; commands that need single calls refuse it.
Reduce prints what is lost, and the error of the communication matrix.`,
		Example: `  cairn reduce out/trace.cairn --leads -o leads.cairn
  cairn reduce out/trace.cairn --histogram -o small.cairn`,
		Args: cli.Exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			if leads == histogram || out == "" {
				return cli.UsageError(errors.New("--leads or --histogram, and -o, are needed: cairn reduce FILE --leads -o FILE, or cairn reduce FILE --histogram -o FILE"))
			}
			if histogram {
				return reduceToHistograms(c, s3, args[0], out)
			}
			f, err := tracefile.Open(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			if err := tracefile.CheckGroups(f, args[0], o.K); err != nil {
				return err
			}
			whole := timeline.Of(f.Reader)
			found, err := clusters.Groups(c.Context(), whole, o)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			choice, err := reduce.Choose(c.Context(), f.Reader, &found)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			clocks, err := tracefile.ClockBeside(c.Context(), args[0], s3, f)
			if err != nil {
				return err
			}
			content, err := f.StreamedContent()
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			roles, err := timeline.Roles(c.Context(), whole)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if err := reduce.Leads(content, clocks.Clocks, roles, choice.Of); err != nil {
				return tracefile.Damaged(args[0], err)
			}
			var file bytes.Buffer
			if err := trace.Write(&file, content); err != nil {
				return err
			}
			reduced, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()), readlimit.Option(int64(file.Len())))
			if err != nil {
				return err
			}
			accuracy, err := reduce.Compare(c.Context(), whole, clocks.Clocks, timeline.Of(reduced), predictedNetwork)
			if err != nil {
				return tracefile.Damaged(args[0], err)
			}
			if err := tracefile.Write(c, s3, out, content); err != nil {
				return err
			}
			w, chosen := c.OutOrStdout(), choice.Leads()
			fmt.Fprintf(w, "%s: %d of %d ranks (%s) in %d bytes, %.1f%% of the whole trace's\n", out, len(chosen), f.Ranks().Len(), tracefile.ListRanks(chosen), file.Len(), 100*float64(file.Len())/float64(f.Object.Size()))
			fmt.Fprintf(w, "run time on a network of 2 µs and 10 GB/s, by replay: %.4g s, leads only %.4g s: ACC %.1f%%\n", accuracy.Whole.Seconds, accuracy.Leads.Seconds, 100*accuracy.ACC)
			fmt.Fprintf(w, "load balance: %.1f%%, leads only %.1f%%\n", 100*accuracy.Whole.LoadBalance, 100*accuracy.Leads.LoadBalance)
			if !accuracy.Enough() {
				fmt.Fprintf(w, "These leads do not represent the run: use %s for conclusions about time, or more leads (--k).\n", args[0])
			}
			return nil
		},
	}
	s3.Register(c)
	flags := c.Flags()
	flags.BoolVar(&leads, "leads", false, "keep one lead rank of each cluster")
	flags.BoolVar(&histogram, "histogram", false, "keep histograms per cluster of ranks and per call")
	flags.StringVarP(&out, "output", "o", "", "the trace to write, a local path or s3://bucket/key")
	flags.Var(cli.AtLeast(&o.K, 0, 0), "k", "number of leads of each cluster (0: as many as give a strong structure)")
	flags.StringSliceVar(&o.Ignore, "ignore", nil, "parameters to ignore when calls are compared")
	flags.Var(cli.AtLeast(&o.Frames, 0, 0), "frames", "treat calls as equal if their call paths differ in at most this many frames")
	return c
}

// predictedNetwork is the network for which the accuracy of a reduced trace is computed. On a
// network other than the measured one, all waiting times follow anew from computations and
// dependencies.
var predictedNetwork = predict.Network{Latency: 2000, PerByte: 0.1}
