package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/quote"
)

const (
	// maxTopology limits the length of a topology's name, which a user may have chosen.
	maxTopology = 128
	// maxFailed limits the length of a run's failure.
	maxFailed = 512
)

// recordRuns copies the results of the merge into the status.
func (p *pass) recordRuns(answer messages.Merge) {
	status := &p.job.Status
	status.Runs, status.RunCount = nil, int32(max(answer.RunCount, len(answer.Runs)))
	for _, run := range messages.Worst(answer.Runs, v1alpha1.MaxRuns) {
		status.Runs = append(status.Runs, p.runStatus(v1alpha1.Run{}, run))
	}
	missing := missingRanks(answer.Runs)
	if answer.Lost != "" {
		missing = append(missing, "lost: "+answer.Lost)
	}
	if len(status.Lost) > 0 {
		missing = append(missing, "not sent: "+strings.Join(status.Lost, "; "))
	}
	if len(status.Runs) == 0 {
		p.recordNoRuns(append(missing, answer.Message))
		return
	}
	p.collected(missing, lostCalls(answer), coarseTimes(answer.Runs), endedEarly(answer.Runs))
	message := fmt.Sprintf("%d runs", status.RunCount)
	if status.RunCount == 1 {
		message = "one run"
	}
	p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionTrue, v1alpha1.ReasonMerged,
		strings.TrimSuffix(message+"; "+answer.Message, "; "))
}

// collected sets the condition on the completeness of the traces: missing ranks are more severe
// than lost calls, and these more than coarse times.
func (p *pass) collected(missing, calls, times, early []string) {
	status, reason, parts := metav1.ConditionFalse, v1alpha1.ReasonRanksMissing, slices.Concat(missing, calls, times, early)
	switch {
	case len(missing) > 0:
	case len(calls) > 0:
		reason = v1alpha1.ReasonCallsLost
	case len(times) > 0:
		reason = v1alpha1.ReasonTimesCoarse
	default:
		status, reason = metav1.ConditionTrue, v1alpha1.ReasonAllRanks
		parts = append([]string{"the traces of all ranks arrived"}, early...)
	}
	message := strings.Join(parts, "; ")
	if status == metav1.ConditionFalse {
		message = p.withPodFailures(message)
	}
	p.set(v1alpha1.ConditionTraceCollected, status, reason, message)
}

func missingRanks(runs []messages.Run) []string {
	var missing []string
	for _, run := range runs {
		if run.MissingRanks != "" {
			missing = append(missing, fmt.Sprintf("run %s: no trace of ranks %s of %d", run.ID, run.MissingRanks, run.Ranks))
		}
	}
	return missing
}

// lostCalls describes calls that were made but not recorded, and the number of incomplete runs that
// are not listed.
func lostCalls(answer messages.Merge) []string {
	var lost []string
	listed := 0
	for _, run := range answer.Runs {
		if run.CallsLost > 0 {
			line := fmt.Sprintf("run %s: %d of %d calls were not recorded", run.ID, run.CallsLost, run.Calls+run.CallsLost)
			if run.LostWhy != "" {
				line += ": " + run.LostWhy
			}
			lost = append(lost, line)
		}
		if run.CallsLost > 0 || run.MissingRanks != "" {
			listed++
		}
	}
	if more := answer.IncompleteRuns - listed; more > 0 {
		lost = append(lost, fmt.Sprintf("%d more runs lack ranks or calls", more))
	}
	return lost
}

// coarseTimes describes the calls that have only sums of times.
func coarseTimes(runs []messages.Run) []string {
	var coarse []string
	for _, run := range runs {
		if run.CallsCoarse > 0 {
			coarse = append(coarse, fmt.Sprintf("run %s: %d of %d calls have only sums of times (ranks %s): the spool approached its limit or the compressor could not follow",
				run.ID, run.CallsCoarse, run.Calls, run.CoarseRanks))
		}
	}
	return coarse
}

func endedEarly(runs []messages.Run) []string {
	var early []string
	for _, run := range runs {
		if run.EndedEarly != "" {
			early = append(early, fmt.Sprintf("run %s: ranks %s ended before MPI_Finalize", run.ID, run.EndedEarly))
		}
	}
	return early
}

// runStatus converts a run of a message to the status. It updates the existing entry, since reports
// of earlier releases do not repeat what the merge reported.
func (p *pass) runStatus(of v1alpha1.Run, run messages.Run) v1alpha1.Run {
	of.ID, of.Attempt = run.ID, int32(run.Attempt)
	of.Ranks = cmp.Or(int32(run.Ranks), of.Ranks)
	of.MissingRanks = cmp.Or(run.MissingRanks, of.MissingRanks)
	of.Calls = cmp.Or(int64(run.Calls), of.Calls)
	of.CallsLost = cmp.Or(int64(run.CallsLost), of.CallsLost)
	of.TraceBytes = cmp.Or(run.TraceBytes, of.TraceBytes)
	of.TraceURI = cmp.Or(run.TraceURI, of.TraceURI, p.job.Status.StorageURI+"/"+run.ID+"/"+messages.TraceFile)
	of.ReportURI = cmp.Or(run.ReportURI, of.ReportURI)
	of.Clusters = cmp.Or(int32(run.Clusters), of.Clusters)
	of.Topology = cmp.Or(quote.Shorten(run.Topology, maxTopology), of.Topology)
	of.Failed = quote.Shorten(run.Failed, maxFailed)
	if e := run.ParallelEfficiencyPercent; e != nil {
		of.ParallelEfficiencyPercent = ptr.To(int32(*e))
	}
	return of
}

// recordReportedRuns replaces the runs of the merge by those of the report, which determines the
// worst ones.
func (p *pass) recordReportedRuns(answer messages.Report) {
	status := &p.job.Status
	if len(answer.Runs) == 0 {
		return
	}
	before := status.Runs
	status.Runs = nil
	status.RunCount = max(status.RunCount, int32(answer.RunCount), int32(len(answer.Runs)))
	// A long message leaves out all URIs. In a short one, a run without URI has no report.
	short := slices.ContainsFunc(answer.Runs, func(r messages.Run) bool { return r.ReportURI != "" })
	for _, run := range messages.Worst(answer.Runs, v1alpha1.MaxRuns) {
		var of v1alpha1.Run
		if i := slices.IndexFunc(before, func(r v1alpha1.Run) bool { return r.ID == run.ID }); i >= 0 {
			of = before[i]
		}
		of = p.runStatus(of, run)
		if of.ReportURI == "" && !short {
			of.ReportURI = status.StorageURI + "/" + run.ID + "/" + messages.ReportDirectory
		}
		status.Runs = append(status.Runs, of)
	}
}

// recordNoRuns sets the reason why there is no run: the probe's answer if it had one.
func (p *pass) recordNoRuns(missing []string) {
	if traced := p.condition(v1alpha1.ConditionTraced); traced.Status == metav1.ConditionFalse {
		p.noTrace(v1alpha1.ReasonNotTraced, "the job was not traced: "+traced.Message)
		return
	}
	message := "no MPI rank left a trace"
	for _, m := range missing {
		if m != "" {
			message += "; " + m
		}
	}
	p.noTrace(v1alpha1.ReasonNoTrace, p.withPodFailures(message))
}
