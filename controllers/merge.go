package controllers

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// mergeTraces merges what the pods sent into one trace per run. The command also waits for data
// that is still missing, since it can read the bucket and the operator cannot.
func (p *pass) mergeTraces(ctx context.Context) (next, error) {
	switch {
	case p.completed(), p.isTrue(v1alpha1.ConditionTraceMerged):
		return proceed, nil
	case !p.tracingEnabled():
		p.giveUp(v1alpha1.ReasonDisabled, "tracing is disabled; "+p.condition(v1alpha1.ConditionJobFinished).Message)
		return proceed, nil
	case p.runsPlain(), p.mustStop():
		p.noTrace(v1alpha1.ReasonNotTraced, "the job was not traced: "+p.condition(v1alpha1.ConditionTraced).Message)
		return proceed, nil
	}

	if p.pinAnalyses() {
		return await, nil // writing the status causes another reconciliation
	}
	attempts, err := podstatus.AttemptsArgument(p.job.Status.Attempts)
	if err != nil {
		return await, err
	}
	o, answer, err := p.mergeTree(ctx, attempts)
	if err != nil {
		return await, err
	}
	if p.waitsForPerson(naming.StepMerge, o) {
		return p.awaitPerson(ctx, naming.StepMerge, o)
	}
	if !o.Finished {
		message := p.stepMessage(ctx, naming.StepMerge, "collecting and merging traces")
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionUnknown, v1alpha1.ReasonCollecting, message)
		p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionUnknown, v1alpha1.ReasonCollecting, message)
		p.notReady(v1alpha1.ReasonCollecting, message)
		return await, nil
	}
	if !o.Succeeded || answer == nil {
		p.job.Status.Analyses = nil // a retry determines them again
		message := "the merge did not report a result"
		if !o.Succeeded {
			message = "the merge failed: " + p.whyFailed(o)
		}
		p.set(v1alpha1.ConditionTraceMerged, metav1.ConditionFalse, v1alpha1.ReasonMergeFailed, message)
		p.set(v1alpha1.ConditionTraceCollected, metav1.ConditionUnknown, v1alpha1.ReasonMergeFailed, message)
		p.giveUp(v1alpha1.ReasonMergeFailed, fmt.Sprintf("%s; what was collected is kept in %s/shards", message, p.job.Status.StorageURI))
		return proceed, nil
	}
	p.recordRuns(*answer)
	return proceed, nil
}

// mergeTree runs the merge level by level, each as a Job. Level 0 waits for the shards. If they are
// few enough for one step, it merges them. Otherwise it plans the following levels; each level
// merges the results of the previous one, and the last one returns the answer.
func (p *pass) mergeTree(ctx context.Context, attempts string) (task.Outcome, *messages.Merge, error) {
	o, plan, err := p.runMerge(ctx, p.mergeTask(attempts))
	if err != nil || plan == nil || len(plan.Levels) == 0 {
		return o, plan, err
	}
	for i, parts := range plan.Levels[:len(plan.Levels)-1] {
		o, err := p.runTask(ctx, p.levelTask(i+1, int32(parts)), func(task.Outcome) bool { return true })
		if err != nil || !o.Finished || !o.Succeeded {
			return o, nil, err
		}
	}
	return p.runMerge(ctx, p.levelTask(len(plan.Levels), 1))
}

// runMerge runs a merge task and parses its answer. The answer is nil unless the task succeeded.
func (p *pass) runMerge(ctx context.Context, t task.Task) (task.Outcome, *messages.Merge, error) {
	read := func(o task.Outcome) *messages.Merge {
		var answer messages.Merge
		if !messages.Decode(o.Messages[0], &answer) {
			return nil
		}
		return &answer
	}
	o, err := p.runTask(ctx, t, func(o task.Outcome) bool { return read(o) != nil })
	if err != nil || !o.Finished || !o.Succeeded {
		return o, nil, err
	}
	return o, read(o), nil
}

// levelTask is the task of a level after the first.
func (p *pass) levelTask(level int, parts int32) task.Task {
	return task.Task{
		Step: naming.StepMerge, Name: p.child(naming.StepMerge, "l"+strconv.Itoa(level)), Indexes: parts, AtOnce: task.MergesAtOnce, Retries: 3,
		// The index of the pod is the number of the part. Kubernetes expands the variable.
		Args:     []string{"merge", "--job", "--store", p.job.Status.StorageURI, "--level", strconv.Itoa(level), "--index", "$(JOB_COMPLETION_INDEX)"},
		Template: p.job.Spec.Merge.PodTemplate,
	}
}

// mergeTask waits until every pod of the job has sent something, or the time is up. In a small job
// its pod also writes the report.
func (p *pass) mergeTask(attempts string) task.Task {
	timeout := int64(ptr.Deref(p.job.Spec.Tracing.CollectTimeoutSeconds, defaultCollectTimeoutSeconds))
	fanIn := p.fanIn()
	if p.isSmall() {
		fanIn = 0 // merge in one step
	}
	t := task.Task{
		Step: naming.StepMerge, Name: p.child(naming.StepMerge, "l0"), Indexes: 1, Retries: 3,
		Args: []string{"merge", "--job", "--store", p.job.Status.StorageURI,
			"--collect-timeout", strconv.FormatInt(timeout, 10),
			"--pods", strconv.Itoa(p.pods()), "--fan-in", strconv.Itoa(fanIn),
			"--attempts", attempts},
		DeadlineSeconds: task.StepDeadlineSeconds + timeout,
		Template:        p.job.Spec.Merge.PodTemplate,
	}
	if p.isSmall() {
		t.Merge = t.Args
		t.Args = []string{"report", "--job", "--store", p.job.Status.StorageURI, "--wait",
			"--analyses", strings.Join(p.analysisNames(), ",")}
		// it also waits for the analyses, which have a day as well
		t.DeadlineSeconds += task.StepDeadlineSeconds
	}
	return t
}

// noTrace completes a job that has no trace.
func (p *pass) noTrace(reason, message string) {
	p.job.Status.Analyses = nil // there is nothing to compute them from
	for _, kind := range []string{v1alpha1.ConditionTraceCollected, v1alpha1.ConditionTraceMerged, v1alpha1.ConditionAnalyzed} {
		p.set(kind, metav1.ConditionFalse, reason, message)
	}
	p.giveUp(reason, message)
}
