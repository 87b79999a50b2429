package controllers

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// maxRetryJobs is the number of Jobs that may follow the first.
const maxRetryJobs = 2

// runTask runs a task as a Job. If a pod ran out of memory, or the result was lost with its pods, a
// new Job with the suffix -r1, -r2 follows, in the first case with twice the memory. The Jobs that
// exist determine which one is next. usable reports whether the outcome of a successful Job can be
// parsed.
func (p *pass) runTask(ctx context.Context, t task.Task, usable func(task.Outcome) bool) (task.Outcome, error) {
	base := t.Name
	t.MemoryFactor = 1
	for retry := 0; ; retry++ {
		if retry > 0 {
			t.Name = base + "-r" + strconv.Itoa(retry)
		}
		job, err := ensure(ctx, p, task.NewJob(p.job, p.settings().Installation, p.s3(), t), &batchv1.Job{})
		if err != nil {
			return task.Outcome{}, err
		}
		if task.MergesFirst(job) {
			// The merge ends before its Job does.
			merged, err := p.mergedIn(ctx, job)
			if o := (task.Outcome{Finished: true, Succeeded: true, Messages: map[int32]string{0: merged}}); err != nil || merged != "" && usable(o) {
				return o, err
			}
		}
		o, err := p.outcomeOf(ctx, job)
		if err != nil || !o.Finished {
			return o, err
		}
		lost := o.Succeeded && (task.MergesFirst(job) || !usable(o))
		if retry == maxRetryJobs || !(lost || o.Killed()) {
			return o, nil
		}
		if o.Killed() {
			t.MemoryFactor *= 2
		}
	}
}

// outcomeOf reads the termination messages of a Job that has ended. The pods are read past the
// cache, which may have the end of the Job before the ends of its pods. Pods that something else
// controls are ignored, whatever their labels.
func (p *pass) outcomeOf(ctx context.Context, job *batchv1.Job) (task.Outcome, error) {
	condition := task.TerminalCondition(job)
	if condition == nil {
		return p.earlyOutcome(ctx, job)
	}
	o, err := task.PodsOutcome(ctx, p.Live, job)
	if err != nil {
		return o, err
	}
	o.Finished, o.Succeeded = true, condition.Type == batchv1.JobComplete
	o.Ended = condition.LastTransitionTime.Time
	if !o.Succeeded {
		o.Reason = condition.Message
	}
	return o, nil
}

// earlyOutcome returns the outcome of a Job as soon as a pod has succeeded for each index. The Job
// controller reports the same some seconds later.
func (p *pass) earlyOutcome(ctx context.Context, job *batchv1.Job) (task.Outcome, error) {
	o, err := task.PodsOutcome(ctx, p.Client, job)
	if err != nil || o.Successes < int(ptr.Deref(job.Spec.Completions, 1)) {
		return task.Outcome{}, err
	}
	o.Finished, o.Succeeded = true, true
	return o, nil
}

// whyFailed returns why a Job failed. If the storage caused it, the text says which pods cannot
// reach what.
func (p *pass) whyFailed(o task.Outcome) string {
	if trouble := o.StorageTrouble(); trouble != nil {
		return storage.Advice(*trouble, p.job.Namespace, p.s3())
	}
	return o.String()
}
