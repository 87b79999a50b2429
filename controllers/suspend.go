package controllers

import (
	"context"
	"errors"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
)

// Invariant. spec.suspend is written to the MPIJob when it is created, and once each time that it
// changes. It is never written because the MPIJob differs: a queue may have set another value, and
// two controllers that correct each other never stop. status.suspend is the value that was written
// last.

// createdSuspendedAnnotation is set on an MPIJob: the value of spec.suspend at its creation. It is
// needed if the status was not written after the creation and spec.suspend has changed since.
const createdSuspendedAnnotation = "cairn.dev/created-suspended"

// createdSuspended returns the value of spec.suspend at the creation of an MPIJob, or nil if an
// older operator created it.
func createdSuspended(mpiJob *mpiv2beta1.MPIJob) *bool {
	suspended, err := strconv.ParseBool(mpiJob.Annotations[createdSuspendedAnnotation])
	if err != nil {
		return nil
	}
	return &suspended
}

// suspendChanged reports whether spec.suspend must still be propagated.
func (p *pass) suspendChanged() bool {
	status := &p.job.Status
	if status.Suspend == nil {
		// An older operator that did not record it created the MPIJob.
		status.Suspend = ptr.To(p.job.Spec.Suspend)
	}
	return *status.Suspend != p.job.Spec.Suspend
}

// mustBeCurrent returns an error if the job of this pass is older than the API server's: a change
// that seems not to be propagated may have been propagated just before.
func (p *pass) mustBeCurrent(ctx context.Context) error {
	current := &v1alpha1.TracedMPIJob{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.job), current); err != nil {
		return err
	}
	if current.ResourceVersion != p.persisted.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("tracedmpijobs").GroupResource(), p.job.Name,
			errors.New("the operator's cache is stale"))
	}
	return nil
}

// suspendDispute describes how the MPIJob differs from spec.suspend. It is "" if it does not.
func (p *pass) suspendDispute(mpiJob *mpiv2beta1.MPIJob) string {
	suspended := ptr.Deref(mpiJob.Spec.RunPolicy.Suspend, false)
	switch {
	case p.suspendChanged() || suspended == p.job.Spec.Suspend:
		return ""
	case suspended:
		return "the MPIJob is suspended, by a queue for example" + naming.QueueOf(mpiJob) + ": spec.suspend is false"
	default:
		return "spec.suspend is true, but the MPIJob was resumed by someone else, a queue for example" + naming.QueueOf(mpiJob)
	}
}
