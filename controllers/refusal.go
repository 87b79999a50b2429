package controllers

import (
	"fmt"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

// ask performs request, which is about an object of the job, unless the object was refused
// recently. After a change of the specification it does so at once, since that may be what was
// missing.
func (p *pass) ask(about *refusal.Error, request func() error) error {
	now := p.Clock.Now()
	key := fmt.Sprintf("%s/%d/%s", p.job.UID, p.job.Generation, about.Object())
	if err := p.refusals.Pending(key, now); err != nil {
		return err
	}
	err := request()
	if !refusal.Is(err) {
		p.refusals.Forget(key)
		return err
	}
	about.Err = err
	p.refusals.Add(key, about, now, p.Retry)
	return about
}

// refusedConditions are the conditions that wait for the Job of a step.
var refusedConditions = map[string][]string{
	naming.StepStorage:  {v1alpha1.ConditionStorageReady},
	naming.StepMerge:    {v1alpha1.ConditionTraceCollected, v1alpha1.ConditionTraceMerged},
	naming.StepAnalysis: {v1alpha1.ConditionAnalyzed},
}

// reportRefusal records in the conditions what was refused and by whom. It returns the pause before
// the next attempt.
func (p *pass) reportRefusal(refused *refusal.Error) time.Duration {
	message := refused.Error()
	now := p.Clock.Now()
	if refused.Kind == mpiv2beta1.Kind && refusal.BySchema(refused.Err) && now.Sub(refused.Since) >= refusal.MaxRefusal {
		p.neverStarts(v1alpha1.ReasonRefused, message)
		return 0
	}
	for _, kind := range refusedConditions[refused.Step] {
		if p.condition(kind).Status == metav1.ConditionUnknown {
			p.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonRefused, message)
		}
	}
	if p.job.Status.MPIJobRef == nil && !p.isTrue(v1alpha1.ConditionJobFinished) {
		p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobNotCreated, "the MPIJob was not created: "+message)
	}
	reason := v1alpha1.ReasonRefused
	if refused.Step == naming.StepDelete {
		reason, message = v1alpha1.ReasonDeleteFailed, message+"; to keep the trace and release the job: "+p.retainCommand()
	}
	p.notReady(reason, message)
	return max(refused.Until.Sub(now), time.Second)
}
