package controllers

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// maxVerdict limits the verdict to a sentence or two.
const maxVerdict = 1024

// report writes the reports of all runs from the findings that exist.
func (p *pass) report(ctx context.Context) (next, error) {
	if p.completed() {
		return proceed, nil
	}
	o, inPlace, err := p.reportInPlace(ctx)
	if err == nil && !inPlace {
		o, err = p.runTask(ctx, p.reportTask(), func(o task.Outcome) bool { return messages.Decode(o.Messages[0], &messages.Report{}) })
	}
	if err != nil {
		return await, err
	}
	if p.waitsForPerson(naming.StepReport, o) {
		return p.awaitPerson(ctx, naming.StepReport, o)
	}
	if !o.Finished {
		step := naming.StepReport
		if inPlace {
			step = naming.StepMerge
		}
		p.notReady(v1alpha1.ReasonReporting, p.stepMessage(ctx, step, "writing the report"))
		return await, nil
	}
	var answer messages.Report
	if !o.Succeeded || !messages.Decode(o.Messages[0], &answer) {
		message := "the report job did not report a result"
		if !o.Succeeded {
			message = "the report could not be written: " + p.whyFailed(o)
		}
		p.giveUp(v1alpha1.ReasonReportFailed, fmt.Sprintf("%s; the trace is in %s", message, p.job.Status.StorageURI))
		return proceed, nil
	}
	p.recordReport(answer)
	return proceed, nil
}

// reportTask writes the reports after all analyses have ended.
func (p *pass) reportTask() task.Task {
	return task.Task{
		Step: naming.StepReport, Name: p.child(naming.StepReport), Retries: 3,
		Args:     []string{"report", "--job", "--store", p.job.Status.StorageURI},
		Template: p.job.Spec.Merge.PodTemplate,
	}
}

// recordReport copies the results of the report into the status. A failed job has a report, too.
func (p *pass) recordReport(answer messages.Report) {
	p.job.Status.Verdict = quote.Shorten(answer.Verdict, maxVerdict)
	p.recordReportedRuns(answer)
	reason := v1alpha1.ReasonReportReady
	finished := p.condition(v1alpha1.ConditionJobFinished)
	if finished.Reason == v1alpha1.ReasonJobFailed {
		reason = v1alpha1.ReasonJobFailedReportReady
	}
	message := finished.Message + "; " + answer.Verdict
	if answer.Message != "" {
		message += "; " + answer.Message
	}
	p.set(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message)
	p.complete()
}
