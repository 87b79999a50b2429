package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/controllers/naming"
)

// expire removes what is no longer needed: first the Jobs, once the status on the API server has
// all their results, then the job itself.
func (p *pass) expire(ctx context.Context) (next, error) {
	if p.persisted.Status.CompletionTime == nil {
		// Writing the completion time causes another reconciliation.
		return await, nil
	}
	if err := p.expireJobs(ctx); err != nil {
		return await, err
	}
	ttl := p.job.Spec.TTLSecondsAfterFinished
	if ttl == nil {
		return await, nil
	}
	end := p.job.Status.CompletionTime.Add(time.Duration(*ttl) * time.Second)
	if rest := end.Sub(p.Clock.Now()); rest > 0 {
		return awaitFor(rest), nil
	}
	err := p.Delete(ctx, p.job, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &p.job.UID})
	return await, client.IgnoreNotFound(err)
}

// expireJobs sets the time to live of Cairn's Jobs.
func (p *pass) expireJobs(ctx context.Context) error {
	for _, step := range []string{naming.StepStorage, naming.StepMerge, naming.StepAnalysis, naming.StepReport} {
		jobs, err := p.jobsOf(ctx, step)
		if err != nil {
			return err
		}
		for _, job := range jobs {
			if job.Spec.TTLSecondsAfterFinished != nil {
				continue
			}
			patch := client.MergeFrom(job.DeepCopy())
			job.Spec.TTLSecondsAfterFinished = ptr.To(int32(p.JobTTL.Seconds()))
			if err := p.Patch(ctx, &job, patch); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
	}
	return nil
}
