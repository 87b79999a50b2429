package controllers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// maxAnalysisPods is the largest number of pods that share the runs of a job.
const maxAnalysisPods = 16

// analyze computes each analysis of every run. Each analysis is one Job with pods that share the
// runs, and the Jobs run concurrently. A failed analysis does not prevent the others or the report.
func (p *pass) analyze(ctx context.Context) (next, error) {
	if p.completed() {
		return proceed, nil
	}
	if err := p.guardFindings(ctx); err != nil {
		return await, err
	}
	if p.analysesDecided() {
		return proceed, nil
	}
	if ending, err := p.mergeIsEnding(ctx); ending || err != nil {
		p.notReady(v1alpha1.ReasonAnalyzing, "waiting for the pod of the merge to end")
		return await, err
	}
	status := &p.job.Status
	p.pinAnalyses() // an older operator did not before the merge
	var running, failed []string
	for i := range status.Analyses {
		o, err := p.analyzeOne(ctx, &status.Analyses[i])
		if err != nil {
			if failed := p.makeRoomForRefused(ctx, err); failed != nil {
				return await, failed
			}
			return await, err
		}
		if p.waitsForPerson(naming.StepAnalysis, o) {
			return p.awaitPerson(ctx, naming.StepAnalysis, o)
		}
		switch a := status.Analyses[i]; a.State {
		case v1alpha1.AnalysisFailed:
			failed = append(failed, fmt.Sprintf("%s: %s", a.Name, a.Reason))
		case v1alpha1.AnalysisSucceeded:
		default:
			running = append(running, string(a.Name))
		}
	}
	switch {
	case len(running) > 0:
		if err := p.makeRoom(ctx); err != nil {
			return await, err
		}
		message := p.stepMessage(ctx, naming.StepAnalysis, "computing "+strings.Join(running, ", "))
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionUnknown, v1alpha1.ReasonAnalyzing, message)
		p.notReady(v1alpha1.ReasonAnalyzing, message)
		return await, nil
	case len(failed) > 0:
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionFalse, v1alpha1.ReasonAnalysisFailed, strings.Join(failed, "; "))
	case len(status.Analyses) == 0:
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionTrue, v1alpha1.ReasonAnalyzed, "spec.analyses is empty")
	default:
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionTrue, v1alpha1.ReasonAnalyzed,
			"all analyses of all runs succeeded")
	}
	return proceed, nil
}

// pinAnalyses records the list of analyses in the status unless it is there already, and reports
// whether it did. Later changes of spec.analyses have no effect: the pod that merges may wait for
// exactly these.
func (p *pass) pinAnalyses() bool {
	if p.job.Status.Analyses != nil || len(p.job.Spec.Analyses) == 0 {
		return false
	}
	for _, analysis := range p.job.Spec.Analyses {
		p.job.Status.Analyses = append(p.job.Status.Analyses, v1alpha1.AnalysisStatus{Name: analysis.Name, State: v1alpha1.AnalysisPending})
	}
	return true
}

// analysesDecided reports whether all analyses have ended, successfully or not.
func (p *pass) analysesDecided() bool {
	return p.condition(v1alpha1.ConditionAnalyzed).Status != metav1.ConditionUnknown
}

// analyzeOne advances one analysis as far as possible without waiting.
func (p *pass) analyzeOne(ctx context.Context, analysis *v1alpha1.AnalysisStatus) (task.Outcome, error) {
	if analysis.State == v1alpha1.AnalysisSucceeded || analysis.State == v1alpha1.AnalysisFailed {
		return task.Outcome{}, nil
	}
	o, err := p.runTask(ctx, p.analysisTask(analysis.Name), func(task.Outcome) bool { return true })
	switch {
	case err != nil:
		return o, err
	case !o.Finished, p.waitsForPerson(naming.StepAnalysis, o):
		analysis.State = v1alpha1.AnalysisRunning
	case o.Succeeded:
		analysis.State = v1alpha1.AnalysisSucceeded
	default:
		if !allFailuresLeft(o) {
			if err := p.stopWaiting(ctx); err != nil {
				return o, err
			}
		}
		analysis.State, analysis.Reason = v1alpha1.AnalysisFailed, quote.Shorten(p.whyFailed(o), 512)
	}
	return o, nil
}

// analysisTask is one analysis of all runs: the i-th of n pods analyzes the runs i, i+n, i+2n and
// so on of runs.json.
func (p *pass) analysisTask(name v1alpha1.AnalysisName) task.Task {
	pods := min(max(p.job.Status.RunCount, 1), maxAnalysisPods)
	t := task.Task{
		Step: naming.StepAnalysis, Name: p.child(string(name)), Indexes: pods, Retries: 2,
		// Kubernetes expands the variable to the index of the pod.
		Args: []string{"analyze", "--job", "--store", p.job.Status.StorageURI,
			"--analysis", string(name), "--index", "$(JOB_COMPLETION_INDEX)", "--of", strconv.Itoa(int(pods))},
	}
	t.Template = p.job.Spec.Merge.PodTemplate // for an analysis that is no longer in the list
	for _, analysis := range p.job.Spec.Analyses {
		if analysis.Name == name {
			t.Template = analysis.PodTemplate
		}
	}
	return t
}

// stepMessage returns message, followed by what prevents the step's pods from starting, if
// anything.
func (p *pass) stepMessage(ctx context.Context, step, message string) string {
	if trouble := p.podTrouble(ctx, step); trouble != "" {
		message += ": " + trouble
	}
	if hint := p.storageHint(); hint != "" {
		message += "; " + hint
	}
	return message
}
