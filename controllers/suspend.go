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

// Invariant. spec.suspend is written to the MPIJob when it is created, and once each time that it changes, never because
// the MPIJob differs: a queue may have other plans, and two who correct each other never come to an end.
// status.suspend is the value that was written last.

// createdSuspendedAnnotation is on an MPIJob: the value of spec.suspend when it was created. The status that says so may
// not have been written, and spec.suspend may have changed since.
const createdSuspendedAnnotation = "cairn.dev/created-suspended"

// createdSuspended is what spec.suspend was when an MPIJob was created; nil if an older operator created it.
func createdSuspended(mpiJob *mpiv2beta1.MPIJob) *bool {
	suspended, err := strconv.ParseBool(mpiJob.Annotations[createdSuspendedAnnotation])
	if err != nil {
		return nil
	}
	return &suspended
}

// suspendChanged reports whether spec.suspend is still to be passed on.
func (p *pass) suspendChanged() bool {
	status := &p.job.Status
	if status.Suspend == nil {
		// The MPIJob was created by an operator that did not note it.
		status.Suspend = ptr.To(p.job.Spec.Suspend)
	}
	return *status.Suspend != p.job.Spec.Suspend
}

// mustBeCurrent fails if the job that this pass works on is not the one that the API server holds: what it says was not
// passed on yet may have been, a moment ago.
func (p *pass) mustBeCurrent(ctx context.Context) error {
	current := &v1alpha1.TracedMPIJob{}
	if err := p.Live.Get(ctx, client.ObjectKeyFromObject(p.job), current); err != nil {
		return err
	}
	if current.ResourceVersion != p.persisted.ResourceVersion {
		return apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("tracedmpijobs").GroupResource(), p.job.Name,
			errors.New("the operator's cache is behind"))
	}
	return nil
}

// suspendDispute says that the MPIJob is not what spec.suspend asks for; "" if it is.
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
