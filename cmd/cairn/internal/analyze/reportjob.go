package analyze

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/analyses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/clusters"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/topology"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"

	"github.com/spf13/cobra"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/cli"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// jobReport is one `cairn report --job`.
type jobReport struct {
	asked []string // analyses that the job requested; nil: not known
	wait  bool
}

// listed splits a comma-separated list. The result is not nil.
func listed(s string) []string {
	names := []string{}
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// run writes the reports and describes them. The message is complete even if run also returns an
// error.
func (o jobReport) run(c *cobra.Command, s3 storage.Flags, p storage.Patience, url string) (messages.Report, error) {
	result, err := o.assemble(c, s3, p, url)
	if err != nil {
		result.Message = strings.TrimSuffix(err.Error()+"; "+result.Message, "; ")
		result.Storage = storage.Failure(err)
	}
	return result.Fit(), err
}

func (o jobReport) assemble(c *cobra.Command, s3 storage.Flags, p storage.Patience, url string) (messages.Report, error) {
	result := messages.Report{Runs: []messages.Run{}}
	ctx := c.Context()
	for _, name := range o.asked {
		if _, err := analyses.Select(name); err != nil {
			return result, cli.UsageError(err)
		}
	}
	s, err := s3.OpenPatient(c, url, p)
	if err != nil {
		return result, err
	}
	runs, err := readIndex(ctx, s)
	if err != nil {
		return result, err
	}
	if len(runs) == 0 {
		if o.wait {
			return result, nil // the merge found no runs, or plans further levels
		}
		return result, cli.StatusError(cli.ExitBadData, fmt.Errorf("there is no merged run below %s", url))
	}
	if o.wait {
		if err := waitForFindings(c, s, runs, o.asked); err != nil {
			return result, err
		}
	}
	images, err := podImages(ctx, s)
	if err != nil {
		return result, err
	}
	reported := make([]reportedRun, len(runs))
	for i := range runs {
		if reported[i], err = o.reportRun(ctx, s, url, runs[i], images); err != nil {
			return result, err
		}
	}
	return summarizeJob(ctx, s, url, reported)
}

// A reportedRun is a run with the main results of its report.
type reportedRun struct {
	messages.Run
	written bool // if false, Failed has the reason
	verdict string
	weight  []float64 // see judged
}

// reportRun writes report/ of a run. Problems of the run itself are returned in Failed. The error
// is the storage's, or the context's if the command was asked to end.
func (o jobReport) reportRun(ctx context.Context, s store.Store, url string, listed messages.Run, images map[string]string) (reportedRun, error) {
	run := reportedRun{Run: listed}
	run.Failed, run.ReportURI, run.Clusters, run.Topology = "", "", 0, ""
	r, failed, err := o.assembleRun(ctx, s, url, listed, images)
	switch {
	case ctx.Err() != nil:
		return run, ctx.Err()
	case storage.Failure(err) != nil:
		return run, err
	case err != nil:
		run.Failed = err.Error()
		return run, dropReport(ctx, s, runOf(listed))
	}
	run.written, run.Failed, run.verdict, run.weight = true, failed, r.Verdict().Text, weight(r)
	run.ReportURI, run.Clusters = s.URL(runOf(listed).key("report")), len(report.Of[clusters.Findings](r).Leads)
	if e := r.Efficiency().Parallel; e != nil {
		run.ParallelEfficiencyPercent = new(int(math.Round(100 * *e)))
	}
	if t := report.Of[topology.Findings](r).Topology; t != nil {
		run.Topology = t.Run.Topology
	}
	return run, nil
}

// dropReport removes the report of an earlier attempt, which would be mistaken for one of this run.
func dropReport(ctx context.Context, s store.Store, run jobRun) error {
	for _, name := range report.FileNames {
		if err := s.Delete(ctx, run.key("report", name)); err != nil {
			return err
		}
	}
	return nil
}

// assembleRun writes a report from the findings that exist. failed has the reasons of the analyses
// that failed.
func (o jobReport) assembleRun(ctx context.Context, s store.Store, url string, listed messages.Run, images map[string]string) (_ *report.Report, failed string, err error) {
	run := runOf(listed)
	findings, reasons, words, err := readFindings(ctx, s, run, o.asked)
	if err != nil {
		return nil, "", err
	}
	f, err := openJobTrace(ctx, s, run)
	if err != nil {
		return nil, "", fmt.Errorf("the trace cannot be read: %w", err)
	}
	defer f.Close()
	job := report.Job{TraceURI: s.URL(run.key(collect.TraceFile)), Images: images, Asked: selected(o.asked), Failed: reasons}
	job.Name, job.UID = jobName(url)
	if _, there := findings[verdict.Name]; !there {
		job.RunSeconds = runSeconds(ctx, s, run)
		if p := listed.ParallelEfficiencyPercent; p != nil {
			job.Efficiency = new(float64(*p) / 100)
		}
	}
	r := analyzer.Report(f.Reader, findings, job)
	for _, m := range r.Missing {
		if m.Why != "" && reasons[m.Name] == "" { // its findings exist and cannot be read
			words = append(words, m.Name+": "+m.Why)
		}
	}
	return r, strings.Join(words, "; "), WriteReport(ctx, s, run.key("report")+"/", r)
}

// runSeconds is the duration of the run in seconds according to the merge, or 0 if it is not known.
func runSeconds(ctx context.Context, s store.Store, run jobRun) float64 {
	var manifest collect.RunManifest
	raw, err := storage.GetBytes(ctx, s, run.key(collect.RunManifestFile))
	if err != nil || json.Unmarshal(raw, &manifest) != nil {
		return 0
	}
	return manifest.RunTimeSeconds
}

// readFindings returns the findings of the analyses on a run, or the reasons why there are none, by
// the analysis's name. Files are named for what the job requested; if that is not known, all names
// are tried. failed has the reasons by the requested name.
func readFindings(ctx context.Context, s store.Store, run jobRun, asked []string) (findings map[string][]byte, reasons map[string]string, failed []string, err error) {
	if asked == nil {
		asked = analyses.Names()
	}
	findings, reasons = map[string][]byte{}, map[string]string{}
	for _, name := range asked {
		left, err := readLeft(ctx, s, run, name)
		if err != nil {
			return nil, nil, nil, err
		}
		for analysis, raw := range left.Findings {
			findings[analysis] = raw
		}
		if left.Failed == "" {
			continue
		}
		failed = append(failed, name+": "+left.Failed)
		for _, analysis := range selected([]string{name}) {
			if left.Findings[analysis] == nil {
				reasons[analysis] = cmp.Or(left.Reasons[analysis], left.Failed)
			}
		}
	}
	return findings, reasons, failed, nil
}

// readLeft reads what was stored under one name.
func readLeft(ctx context.Context, s store.Store, run jobRun, name string) (left jobFindings, err error) {
	raw, err := storage.GetBytes(ctx, s, run.findingsKey(name))
	if err == nil {
		if err := json.Unmarshal(raw, &left); err != nil {
			return jobFindings{Failed: fmt.Sprintf("findings/%s.json cannot be read: %v", name, err)}, nil
		}
		if left.Findings == nil {
			left.Failed = fmt.Sprintf("findings/%s.json was written by another version of Cairn", name)
		}
		return left, nil
	}
	if !store.IsNotFound(err) {
		return left, err
	}
	raw, err = storage.GetBytes(ctx, s, run.failureKey(name))
	var failure messages.Failure
	switch {
	case store.IsNotFound(err):
	case err != nil:
		return left, err
	case json.Unmarshal(raw, &failure) == nil:
		left.Failed = failure.Message
	}
	return left, nil
}

// selected returns the analyses that names select: an empty list for no names, nil for nil (not
// known what was requested).
func selected(names []string) []string {
	if len(names) == 0 {
		return names
	}
	list, _ := analyses.Selected(names...) // the names were valid for the analyses' own command
	return list
}

// summarizeJob records the results of all runs in the message and in the objects of the job.
func summarizeJob(ctx context.Context, s store.Store, url string, runs []reportedRun) (messages.Report, error) {
	result := messages.Report{Runs: []messages.Run{}, RunCount: len(runs)}
	var without []string
	for i := range runs {
		result.Runs = append(result.Runs, runs[i].Run)
		if !runs[i].written {
			without = append(without, fmt.Sprintf("%s: %s", runs[i].ID, runs[i].Failed))
		}
	}
	if n := len(without); n > 0 {
		result.Message = fmt.Sprintf("%d of %d runs have no report: %s", n, len(runs), strings.Join(without, "; "))
	}
	if i := judged(runs); i >= 0 {
		result.Verdict = runs[i].verdict
		if len(runs) > 1 {
			result.Verdict = fmt.Sprintf("Run %s (%d of %d): %s", runs[i].ID, i+1, len(runs), result.Verdict)
		}
	}
	if err := writeJob(ctx, s, url, runs, result); err != nil {
		return result, err
	}
	if len(without) == len(runs) {
		return result, cli.StatusError(cli.ExitBadData, errors.New("no run has a report"))
	}
	return result, nil
}

// judged returns the index of the run that represents the job, or −1 if no run has a report. It
// considers the last attempt only, since a retried job is judged by how it ended. Runs that hung or
// crashed come first, then those with the largest possible gain, then the longest.
func judged(runs []reportedRun) int {
	best := -1
	for i := range runs {
		if runs[i].written && (best < 0 || runs[i].Attempt > runs[best].Attempt ||
			runs[i].Attempt == runs[best].Attempt && slices.Compare(runs[i].weight, runs[best].weight) > 0) {
			best = i
		}
	}
	return best
}

// weight is a sort key by which more important runs compare as larger.
func weight(r *report.Report) []float64 {
	died, gain := 0.0, 0.0
	if s := report.Of[stopped.Findings](r).Stopped; s != nil && s.Explains() {
		died = 1
	}
	if g := r.Verdict().GainSeconds; g != nil {
		gain = *g
	}
	return []float64{died, gain, r.RunSeconds()}
}
