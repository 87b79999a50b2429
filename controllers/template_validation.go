package controllers

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/validation"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// validateTemplate asks mpi-operator's own validation before the MPIJob exists:
// mpi-operator itself only emits an event about an MPIJob that it does not like.
func (p *pass) validateTemplate(context.Context) (next, error) {
	if p.job.Status.MPIJobRef != nil {
		return proceed, nil
	}
	if err := templateErrors(p.job).ToAggregate(); err != nil {
		p.set(v1alpha1.ConditionJobFinished, "False", v1alpha1.ReasonJobNotCreated, "the MPIJob was not created")
		p.hold(v1alpha1.ReasonInvalidTemplate, err.Error())
		return await, nil
	}
	return proceed, nil
}

// templateErrors are what mpi-operator would say about the MPIJob, with paths into
// the TracedMPIJob. Its validation demands what its defaults fill in.
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
