package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// maxVerdict keeps the verdict a sentence or two.
const maxVerdict = 1024

// maxTopology is that of a topology's name, which may be a user's own.
const maxTopology = 128

// reportAnswer is the termination message of "cairn report --job".
type reportAnswer struct {
	Runs []struct {
		ID                        string `json:"id"`
		ReportURI                 string `json:"report_uri"`
		ParallelEfficiencyPercent *int32 `json:"parallel_efficiency_percent"`
		Clusters                  int32  `json:"clusters"`
		Topology                  string `json:"topology"`
	} `json:"runs"`
	Verdict string `json:"verdict"`
}

// report has the reports of all runs written, from whatever was found.
func (p *pass) report(ctx context.Context) (next, error) {
	if p.completed() {
		return proceed, nil
	}
	var answer reportAnswer
	o, err := p.runTask(ctx, task{
		step: stepReport, name: childName(p.job, stepReport), retries: 3,
		args:     []string{"report", "--job", "--store", p.job.Status.StorageURI},
		template: p.job.Spec.Merge.PodTemplate,
	}, func(o outcome) bool { return json.Unmarshal([]byte(o.messages[0]), &answer) == nil })
	if err != nil {
		return await, err
	}
	if !o.finished {
		message := "writing the report"
		if trouble := p.podTrouble(ctx, stepReport); trouble != "" {
			message += ": " + trouble
		}
		p.hold(v1alpha1.ReasonReporting, message)
		return await, nil
	}
	if !o.succeeded || json.Unmarshal([]byte(o.messages[0]), &answer) != nil {
		message := "the report job did not say what it wrote"
		if !o.succeeded {
			message = "the report could not be written: " + o.String()
		}
		p.giveUp(v1alpha1.ReasonReportFailed, fmt.Sprintf("%s; the trace is in %s", message, p.job.Status.StorageURI))
		return proceed, nil
	}
	p.takeReport(answer)
	return proceed, nil
}

// takeReport copies what the report says into the status. A job that failed has a
// report all the same.
func (p *pass) takeReport(answer reportAnswer) {
	status := &p.job.Status
	status.Verdict = shortened(answer.Verdict, maxVerdict)
	for _, reported := range answer.Runs {
		for i := range status.Runs {
			if run := &status.Runs[i]; run.ID == reported.ID {
				run.ReportURI = reported.ReportURI
				run.Clusters, run.Topology = reported.Clusters, shortened(reported.Topology, maxTopology)
				if reported.ParallelEfficiencyPercent != nil {
					run.ParallelEfficiencyPercent = reported.ParallelEfficiencyPercent
				}
			}
		}
	}
	reason := v1alpha1.ReasonReportReady
	finished := p.condition(v1alpha1.ConditionJobFinished)
	if finished.Reason == v1alpha1.ReasonJobFailed {
		reason = v1alpha1.ReasonJobFailedReportReady
	}
	p.set(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, finished.Message+"; "+answer.Verdict)
	p.complete()
}
