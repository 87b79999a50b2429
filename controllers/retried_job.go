package controllers

import (
	"context"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
)

// maxRetryJobs is how many more Jobs follow the first.
const maxRetryJobs = 2

// runTask runs a task as a Job. If a pod ran out of memory, or what the Job found
// was lost with its pods, a new Job with the suffix -r1, -r2 follows, with twice
// the memory in the first case. Which one is due follows from those that exist.
// usable says whether the outcome of a Job that succeeded can be read.
func (p *pass) runTask(ctx context.Context, t task, usable func(outcome) bool) (outcome, error) {
	base := t.name
	t.memoryFactor = 1
	for retry := 0; ; retry++ {
		if retry > 0 {
			t.name = base + "-r" + strconv.Itoa(retry)
		}
		job, err := ensure(ctx, p, newJob(p.job, p.settings(), p.s3(), t), &batchv1.Job{})
		if err != nil {
			return outcome{}, err
		}
		if mergesFirst(job) {
			// The merge is over before its Job is.
			merged, err := p.mergedIn(ctx, job)
			if o := (outcome{finished: true, succeeded: true, messages: map[int32]string{0: merged}}); err != nil || merged != "" && usable(o) {
				return o, err
			}
		}
		o, err := p.outcomeOf(ctx, job)
		if err != nil || !o.finished {
			return o, err
		}
		lost := o.succeeded && (mergesFirst(job) || !usable(o))
		if retry == maxRetryJobs || !(lost || o.outOfMemory()) {
			return o, nil
		}
		if o.outOfMemory() {
			t.memoryFactor *= 2
		}
	}
}
