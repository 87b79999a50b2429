package controllers

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/controllers/naming"
)

// expire lets go of what is no longer needed: first of the Jobs, once the status
// that the API server holds has all that they found, then of the job itself.
func (p *pass) expire(ctx context.Context) (next, error) {
	if p.persisted.Status.CompletionTime == nil {
		// Writing the completion time is an event that brings us back.
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

// expireJobs gives our Jobs a time to live.
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
