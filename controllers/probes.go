package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
)

// readProbes reads the results of the probes in the pods that run ranks.
func (p *pass) readProbes(ctx context.Context) (next, error) {
	if traced := p.condition(v1alpha1.ConditionTraced); traced.Status == metav1.ConditionFalse || p.completed() {
		return proceed, nil
	}
	pods, err := p.podsOf(ctx, "")
	if err != nil {
		return await, err
	}
	status, reason, message := podstatus.ProbeVerdict(podstatus.RankPods(pods, &p.job.Spec.MPIJobTemplate.Spec))
	if status != metav1.ConditionUnknown {
		p.set(v1alpha1.ConditionTraced, status, reason, message)
	}
	return proceed, nil
}
