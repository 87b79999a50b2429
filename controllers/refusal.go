package controllers

import (
	"fmt"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

const (
	// maxRefusalPause bounds the pause before something that was refused is tried again. It begins with Settings.Retry
	// and doubles: a quota becomes free without anybody telling the operator.
	maxRefusalPause = 5 * time.Minute
	// maxRefusal is how long an MPIJob is tried that its own schema refuses: long enough to mend a CRD.
	maxRefusal = 10 * time.Minute
)

// ask makes a request about an object of the job, unless the object was refused a moment ago. A change of the
// specification may be what was missing, so it asks at once.
func (p *pass) ask(about *refusedError, request func() error) error {
	now := p.Clock.Now()
	key := fmt.Sprintf("%s/%d/%s", p.job.UID, p.job.Generation, about.object())
	if err := p.refusals.pending(key, now); err != nil {
		return err
	}
	err := request()
	if !isRefusal(err) {
		p.refusals.forget(key)
		return err
	}
	about.err = err
	p.refusals.add(key, about, now, p.Retry)
	return about
}

// refusedConditions are those that wait for a Job of a step.
var refusedConditions = map[string][]string{
	stepStorage:  {v1alpha1.ConditionStorageReady},
	stepMerge:    {v1alpha1.ConditionTraceCollected, v1alpha1.ConditionTraceMerged},
	stepAnalysis: {v1alpha1.ConditionAnalyzed},
}

// reportRefusal says what was refused and by whom, and when it is tried again.
func (p *pass) reportRefusal(refused *refusedError) time.Duration {
	message := refused.Error()
	now := p.Clock.Now()
	if refused.kind == mpiv2beta1.Kind && bySchema(refused.err) && now.Sub(refused.since) >= maxRefusal {
		p.neverStarts(v1alpha1.ReasonRefused, message)
		return 0
	}
	for _, kind := range refusedConditions[refused.step] {
		if p.condition(kind).Status == metav1.ConditionUnknown {
			p.set(kind, metav1.ConditionUnknown, v1alpha1.ReasonRefused, message)
		}
	}
	if p.job.Status.MPIJobRef == nil && !p.isTrue(v1alpha1.ConditionJobFinished) {
		p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobNotCreated, "the MPIJob was not created: "+message)
	}
	reason := v1alpha1.ReasonRefused
	if refused.step == stepDelete {
		reason, message = v1alpha1.ReasonDeleteFailed, message+"; to keep the trace and let the job go: "+p.retainCommand()
	}
	p.hold(reason, message)
	return max(refused.until.Sub(now), time.Second)
}
