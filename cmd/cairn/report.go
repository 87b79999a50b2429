package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// reportResult is the termination message of report --job.
type reportResult struct {
	Runs     []reportedRun `json:"runs"`
	RunCount int           `json:"run_count"`
	Verdict  string        `json:"verdict"`
	Message  string        `json:"message,omitempty"`
}

type reportedRun struct {
	ID         string `json:"id"`
	ReportURI  string `json:"report_uri"`
	Efficiency *int   `json:"parallel_efficiency_percent"` // null: not known
	Clusters   int    `json:"clusters"`
	Topology   string `json:"topology"`
}

// maxReportedRuns is how many runs the status of a TracedMPIJob lists.
const maxReportedRuns = 16

func newReportCommand() *cobra.Command {
	var (
		s3   s3Flags
		log  terminationLog
		url  string
		job  bool
		open bool
	)
	c := &cobra.Command{
		Use:   "report URL",
		Short: "Print a report's summary, or open its page, from a directory or a bucket",
		Long: `Report prints a report's summary: the verdict, what to do next, efficiencies, where ranks waited, the costliest calls.

With --open it serves the page at http://127.0.0.1, for this machine only and until it is interrupted, and opens it in a
browser where there is one: a way to look at a report in a bucket that only this command has the credentials for.`,
		Example: `  cairn report out/report
  cairn report s3://traces/default/stencil/<uid>/0/0/report
  cairn report --open s3://traces/default/stencil/<uid>/0/0/report`,
		RunE: func(c *cobra.Command, args []string) error {
			if job {
				result, err := assembleJob(c.Context(), s3, url)
				if err != nil {
					result.Message = err.Error()
				}
				if logErr := log.write(c, result.fit()); logErr != nil && err == nil {
					return logErr
				}
				return err
			}
			if len(args) != 1 {
				return usageError{errors.New("which report? cairn report URL")}
			}
			where := args[0]
			for _, name := range report.FileNames {
				where = strings.TrimSuffix(where, "/"+name)
			}
			s, err := s3.open(where)
			if err != nil {
				return err
			}
			raw, err := getBytes(c.Context(), s, report.DataFile)
			if store.IsNotFound(err) { // perhaps it is the folder of a run, that has the report beside its trace
				beside, openErr := s3.open(strings.TrimRight(where, "/") + "/report")
				if openErr != nil {
					return openErr
				}
				var other error
				if raw, other = getBytes(c.Context(), beside, report.DataFile); other == nil {
					s, err = beside, nil
				} else if store.IsNotFound(other) {
					return usageError{fmt.Errorf("%w; 'cairn run' and 'cairn analyze' write reports", err)}
				}
			}
			if err != nil {
				return err
			}
			r, err := report.Read(raw)
			if err != nil {
				return statusError{exitBadData, fmt.Errorf("%s: %w", args[0], err)}
			}
			fmt.Fprintf(c.OutOrStdout(), "%s\nreport: %s\n", r.Text(), s.URL(report.PageFile))
			if open {
				return openReport(c.Context(), c.OutOrStdout(), s)
			}
			return nil
		},
	}
	s3.register(c)
	log.register(c)
	c.Flags().BoolVar(&open, "open", false, "serve the page on this machine, and open it in a browser")
	c.Flags().BoolVar(&job, "job", false, "assemble the reports of all runs of a job from the findings of its analyses")
	c.Flags().StringVar(&url, "store", "", "with --job: the job's directory or s3://bucket/prefix")
	return c
}

// assembleJob writes report/ of every run. The verdict of the job is that of its last run: a job that was retried is
// judged by how it ended.
func assembleJob(ctx context.Context, s3 s3Flags, url string) (reportResult, error) {
	result := reportResult{Runs: []reportedRun{}}
	s, err := s3.open(url)
	if err != nil {
		return result, err
	}
	runs, err := listRuns(ctx, s)
	if err != nil {
		return result, err
	}
	if len(runs) == 0 {
		return result, statusError{exitBadData, fmt.Errorf("there is no merged run below %s", url)}
	}
	result.RunCount = len(runs)
	images, err := podImages(ctx, s)
	if err != nil {
		return result, err
	}
	for _, run := range runs {
		r, err := assembleRun(ctx, s3, s, url, run, images)
		if err != nil {
			return result, err
		}
		one := reportedRun{
			ID: run.id(), ReportURI: s.URL(run.key("report")), Clusters: len(r.Leads),
		}
		if e := r.Efficiency.Parallel; e != nil {
			one.Efficiency = new(int(math.Round(100 * *e)))
		}
		if r.Topology != nil {
			one.Topology = r.Topology.Run.Topology
		}
		result.Runs = append(result.Runs, one)
		result.Verdict = r.Verdict.Text
	}
	return result, nil
}

func assembleRun(ctx context.Context, s3 s3Flags, s store.Store, url string, run jobRun, images map[string]string) (*report.Report, error) {
	findings := map[string][]byte{}
	for _, name := range analyzer.Names() {
		raw, err := getBytes(ctx, s, run.key("findings", name+".json"))
		if store.IsNotFound(err) {
			continue // the report says what it lacks
		}
		if err != nil {
			return nil, err
		}
		findings[name] = raw
	}
	path := s.URL(run.key(collect.TraceFile))
	f, err := openTrace(ctx, path, s3)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	name, uid := jobName(url)
	r, err := analyzer.Report(f.Reader, findings, report.Job{Name: name, UID: uid, TraceURI: path, Images: images})
	if err != nil {
		return nil, statusError{exitBadData, fmt.Errorf("%s: %w", run.id(), err)}
	}
	return r, writeReport(ctx, s, run.key("report")+"/", r)
}

// fit keeps the message below what Kubernetes keeps.
func (r reportResult) fit() reportResult {
	const most = 700
	for _, text := range []*string{&r.Verdict, &r.Message} {
		if len(*text) > most {
			*text = strings.ToValidUTF8((*text)[:most], "") + "…"
		}
	}
	for len(r.Runs) > 0 {
		raw, err := json.Marshal(r)
		if err == nil && len(r.Runs) <= maxReportedRuns && len(raw) <= terminationLimit {
			break
		}
		r.Runs = r.Runs[1:] // the last ones tell how the job ended
	}
	return r
}
