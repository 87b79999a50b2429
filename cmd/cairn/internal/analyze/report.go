package analyze

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

// NewReportCommand returns the command `cairn report`.
func NewReportCommand() *cobra.Command {
	var (
		s3   storage.Flags
		log  cli.TerminationLog
		url  string
		job  bool
		open bool

		patience storage.Patience
		wait     bool
		analyses string
	)
	c := &cobra.Command{
		Use:   "report URL",
		Short: "Print a report's summary, or open its page, from a directory or a bucket",
		Long: `Report prints a report's summary: the verdict, what to do next, efficiencies, where ranks waited, the costliest calls.

With --open it serves the page at http://127.0.0.1, for this machine only, until it is interrupted, and opens it in a
browser if there is one. This way you can read a report in a bucket with credentials that only this command has.

With --job it writes the reports of all runs of a job, from all findings that exist. A run has no report only if its
trace cannot be read.`,
		Example: `  cairn report out/report
  cairn report s3://traces/default/stencil/<uid>/0/0/report
  cairn report --open s3://traces/default/stencil/<uid>/0/0/report`,
		RunE: func(c *cobra.Command, args []string) error {
			if job {
				if len(args) > 0 || open {
					return cli.UsageError(errors.New("--job reads from --store: it takes neither a report nor --open"))
				}
				o := jobReport{wait: wait}
				if c.Flags().Changed("analyses") {
					o.asked = listed(analyses)
				}
				result, err := o.run(c, s3, patience, url)
				if logErr := log.Write(c, result.Fit()); logErr != nil && err == nil {
					return logErr
				}
				return err
			}
			if len(args) != 1 {
				return cli.UsageError(errors.New("no report is given: cairn report URL"))
			}
			where := args[0]
			for _, name := range report.FileNames {
				where = strings.TrimSuffix(where, "/"+name)
			}
			s, err := s3.Open(where)
			if err != nil {
				return err
			}
			raw, err := storage.GetBytes(c.Context(), s, report.DataFile)
			// perhaps the folder of a run, with the report beside its trace
			if store.IsNotFound(err) {
				beside, openErr := s3.Open(strings.TrimRight(where, "/") + "/report")
				if openErr != nil {
					return openErr
				}
				var other error
				if raw, other = storage.GetBytes(c.Context(), beside, report.DataFile); other == nil {
					s, err = beside, nil
				} else if store.IsNotFound(other) {
					return cli.UsageError(fmt.Errorf("%w; 'cairn run' and 'cairn analyze' write reports", err))
				}
			}
			if err != nil {
				return err
			}
			r, err := analyzer.ReadReport(raw)
			if err != nil {
				return cli.StatusError(cli.ExitBadData, fmt.Errorf("%s: %w", args[0], err))
			}
			fmt.Fprintf(c.OutOrStdout(), "%s\nreport: %s\n", r.Text(), s.URL(report.PageFile))
			if open {
				return openReport(c.Context(), c.OutOrStdout(), s)
			}
			return nil
		},
	}
	s3.Register(c)
	log.Register(c)
	patience.Register(c)
	c.Flags().BoolVar(&wait, "wait", false, "with --job: wait until every run has the findings of --analyses, or the reason why it has none")
	c.Flags().StringVar(&analyses, "analyses", "", "with --job: the analyses that the job requested, separated by commas")
	c.Flags().BoolVar(&open, "open", false, "serve the page on this machine, and open it in a browser")
	c.Flags().BoolVar(&job, "job", false, "write the reports of all runs of a job")
	c.Flags().StringVar(&url, "store", "", "with --job: the job's directory or s3://bucket/prefix")
	return c
}
