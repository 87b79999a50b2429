package controllers

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// analyze computes each analysis of every run, as one Job with an index per run.
// One that fails does not keep the others, or the report, from being made.
func (p *pass) analyze(ctx context.Context) (next, error) {
	if p.completed() || p.analysesDecided() {
		return proceed, nil
	}
	status := &p.job.Status
	if status.Analyses == nil {
		for _, analysis := range p.job.Spec.Analyses {
			status.Analyses = append(status.Analyses, v1alpha1.AnalysisStatus{Name: analysis.Name, State: v1alpha1.AnalysisPending})
		}
	}
	var running, failed []string
	for i := range status.Analyses {
		if err := p.analyzeOne(ctx, &status.Analyses[i]); err != nil {
			return await, err
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
		message := "computing " + strings.Join(running, ", ")
		if trouble := p.podTrouble(ctx, stepAnalysis); trouble != "" {
			message += ": " + trouble
		}
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionUnknown, v1alpha1.ReasonAnalyzing, message)
		p.hold(v1alpha1.ReasonAnalyzing, message)
		return await, nil
	case len(failed) > 0:
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionFalse, v1alpha1.ReasonAnalysisFailed, strings.Join(failed, "; "))
	default:
		p.set(v1alpha1.ConditionAnalyzed, metav1.ConditionTrue, v1alpha1.ReasonAnalyzed,
			"all analyses of all runs succeeded")
	}
	return proceed, nil
}

// analysesDecided says whether all analyses have ended, well or not.
func (p *pass) analysesDecided() bool {
	return p.condition(v1alpha1.ConditionAnalyzed).Status != metav1.ConditionUnknown
}

// analyzeOne takes one analysis as far as it gets now.
func (p *pass) analyzeOne(ctx context.Context, analysis *v1alpha1.AnalysisStatus) error {
	if analysis.State == v1alpha1.AnalysisSucceeded || analysis.State == v1alpha1.AnalysisFailed {
		return nil
	}
	o, err := p.runTask(ctx, p.analysisTask(analysis.Name), func(outcome) bool { return true })
	switch {
	case err != nil:
		return err
	case !o.finished:
		analysis.State = v1alpha1.AnalysisRunning
	case o.succeeded:
		analysis.State = v1alpha1.AnalysisSucceeded
	default:
		analysis.State, analysis.Reason = v1alpha1.AnalysisFailed, shortened(o.String(), 512)
	}
	return nil
}

func (p *pass) analysisTask(name v1alpha1.AnalysisName) task {
	t := task{
		step: stepAnalysis, name: childName(p.job, string(name)),
		indexes: int32(len(p.job.Status.Runs)), retries: 2,
		// The index of the pod is the number of the run; Kubernetes fills it in.
		args: []string{"analyze", "--job", "--store", p.job.Status.StorageURI,
			"--analysis", string(name), "--index", "$(JOB_COMPLETION_INDEX)"},
	}
	for _, analysis := range p.job.Spec.Analyses {
		if analysis.Name == name {
			t.template = analysis.PodTemplate
		}
	}
	return t
}
