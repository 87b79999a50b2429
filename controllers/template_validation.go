package controllers

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// validateTemplate runs mpi-operator's validation before the MPIJob exists: mpi-operator itself
// only emits an event about an invalid MPIJob.
func (p *pass) validateTemplate(context.Context) (next, error) {
	if p.job.Status.MPIJobRef != nil || p.completed() {
		return proceed, nil
	}
	errs := templateErrors(p.job)
	if len(errs) == 0 {
		return proceed, nil
	}
	message := errs.ToAggregate().Error()
	if !repairable(errs) {
		p.neverStarts(v1alpha1.ReasonInvalidTemplate, message)
		return proceed, nil
	}
	p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobNotCreated, "the MPIJob was not created")
	p.notReady(v1alpha1.ReasonInvalidTemplate, message)
	return await, nil
}

// repairable reports whether all errors are about the only field of the template that may change.
func repairable(errs field.ErrorList) bool {
	return !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return err.Field != "spec.mpiJobTemplate.spec.mpiReplicaSpecs[Worker].replicas"
	})
}

// neverStarts completes a job that can never start, so that everything that waits for it, and its
// time to live, work.
func (p *pass) neverStarts(reason, message string) {
	p.jobFinished(v1alpha1.ReasonJobNeverStarted, message)
	p.noTrace(reason, message)
}

// templateErrors returns what mpi-operator would report about the MPIJob, with paths into the
// TracedMPIJob. Its validation requires fields that its defaults set.
func templateErrors(job *v1alpha1.TracedMPIJob) field.ErrorList {
	mpiJob := &mpiv2beta1.MPIJob{ObjectMeta: job.ObjectMeta, Spec: *job.Spec.MPIJobTemplate.Spec.DeepCopy()}
	mpiv2beta1.SetDefaults_MPIJob(mpiJob)
	errs := validation.ValidateMPIJob(mpiJob)
	for _, err := range errs {
		if strings.HasPrefix(err.Field, "spec.") {
			err.Field = "spec.mpiJobTemplate." + err.Field
		}
	}
	return errs
}
