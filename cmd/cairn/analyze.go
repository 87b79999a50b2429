package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// analysisResult is the termination message of analyze --job.
type analysisResult struct {
	Analysis string `json:"analysis"`
	Index    int    `json:"index"`
	OK       bool   `json:"ok"`
	Message  string `json:"message"`
}

func newAnalyzeCommand() *cobra.Command {
	var (
		s3       s3Flags
		log      terminationLog
		out, url string
		job      bool
		name     string
		index    int
	)
	c := &cobra.Command{
		Use:   "analyze FILE -o DIR",
		Short: "Analyze a trace and write its report",
		Long: "Analyze writes DIR/index.html and DIR/report.json. The analyses are: " + strings.Join(analyzer.Names(), ", ") + `.
With --job it writes the findings of one analysis for one run of a TracedMPIJob; report --job assembles them.`,
		Example: "  cairn analyze out/trace.cairn -o out/report",
		RunE: func(c *cobra.Command, args []string) error {
			if job {
				if len(args) > 0 || out != "" || name == "" {
					return usageError{errors.New("--job takes its trace from --store and needs --analysis; give neither a file nor -o")}
				}
				result := analysisResult{Analysis: name, Index: index}
				err := analyzeRun(c.Context(), s3, url, name, index)
				if result.OK = err == nil; err != nil {
					result.Message = err.Error()
				}
				if logErr := log.write(c, result); logErr != nil && err == nil {
					return logErr
				}
				return err
			}
			if len(args) != 1 || out == "" {
				return usageError{errors.New("which trace, and where to? cairn analyze FILE -o DIR")}
			}
			f, err := openTrace(c.Context(), args[0], s3)
			if err != nil {
				return err
			}
			defer f.Close()
			r, err := reportOn(c.Context(), f, args[0], report.Job{TraceURI: args[0]})
			if err != nil {
				return err
			}
			s, err := s3.open(out)
			if err != nil {
				return err
			}
			if err := writeReport(c.Context(), s, "", r); err != nil {
				return err
			}
			fmt.Fprint(c.OutOrStdout(), r.Summary())
			fmt.Fprintln(c.OutOrStdout(), "report:", s.URL("index.html"))
			return nil
		},
	}
	s3.register(c)
	log.register(c)
	flags := c.Flags()
	flags.StringVarP(&out, "output", "o", "", "directory for the report, a local one or s3://bucket/prefix")
	flags.BoolVar(&job, "job", false, "one analysis of one run of a job")
	flags.StringVar(&url, "store", "", "with --job: the job's directory or s3://bucket/prefix")
	flags.StringVar(&name, "analysis", "", "with --job: which analysis")
	flags.IntVar(&index, "index", 0, "with --job: which run, counted from 0")
	return c
}

// reportOn runs all analyses and assembles the report. A trace that cannot be decoded is bad data.
func reportOn(ctx context.Context, f *traceFile, path string, job report.Job) (*report.Report, error) {
	findings, err := analyzer.Run(ctx, f.Reader, nil)
	if err != nil {
		return nil, damaged(path, err)
	}
	return analyzer.Report(f.Reader, findings, job)
}

// writeReport writes the files of a report below prefix, the page last.
func writeReport(ctx context.Context, s store.Store, prefix string, r *report.Report) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	for _, name := range []string{"report.json", "index.html"} {
		if err := putBytes(ctx, s, prefix+name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// analyzeRun writes findings/<name>.json of the index-th run.
func analyzeRun(ctx context.Context, s3 s3Flags, url, name string, index int) error {
	s, err := s3.open(url)
	if err != nil {
		return err
	}
	runs, err := listRuns(ctx, s)
	if err != nil {
		return err
	}
	if index < 0 || index >= len(runs) {
		return statusError{exitBadData, fmt.Errorf("%s has %d runs, there is no number %d", url, len(runs), index)}
	}
	path := s.URL(runs[index].key(collect.TraceFile))
	f, err := openTrace(ctx, path, s3)
	if err != nil {
		return err
	}
	defer f.Close()
	analysis, err := analyzer.Find(name)
	if err != nil {
		return usageError{err}
	}
	var clocks *clock.Map
	if analysis.Times {
		if clocks, err = runClock(ctx, s, runs[index].key("clock.json"), f); err != nil {
			return damaged(path, err)
		}
	}
	findings, err := analyzer.Run(ctx, f.Reader, clocks, name)
	if err != nil {
		return damaged(path, err)
	}
	return putBytes(ctx, s, runs[index].key("findings", name+".json"), findings[name])
}

// runClock is the run's clock map: what another analysis has left, or a new one, which is left for the others. Two that
// make it at the same time make the same.
func runClock(ctx context.Context, s store.Store, key string, f *traceFile) (*clock.Map, error) {
	if left, err := getBytes(ctx, s, key); err == nil {
		var m clock.Map
		if err := json.Unmarshal(left, &m); err == nil && m.SchemaVersion == clock.SchemaVersion {
			return &m, nil
		}
	} else if !store.IsNotFound(err) {
		return nil, err
	}
	m, err := analyzer.Clock(ctx, f.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return m, putBytes(ctx, s, key, encoded)
}
