package controllers

import (
	"context"
	"errors"
	"slices"
	"strconv"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/refusal"
)

// runMPIJob creates the MPIJob once. After that it only propagates the changes that are allowed.
func (p *pass) runMPIJob(ctx context.Context) (next, error) {
	status := &p.job.Status
	if p.isTrue(v1alpha1.ConditionJobFinished) {
		return proceed, nil
	}
	if status.MPIJobRef != nil {
		return proceed, p.propagateChanges(ctx)
	}

	spec, injectErr := p.injected()
	if injectErr != nil {
		p.set(v1alpha1.ConditionTraced, metav1.ConditionFalse, v1alpha1.ReasonInjectionFailed, injectErr.Error())
		if why := p.neededTracer(); why != "" {
			p.neverStarts(v1alpha1.ReasonInjectionFailed, "the MPIJob was not created, because "+why+": "+injectErr.Error())
			return proceed, nil
		}
	}
	mpiJob, err := ensure(ctx, p, newMPIJob(p.job, spec), &mpiv2beta1.MPIJob{})
	if err != nil {
		return await, err
	}
	status.MPIJobRef = &v1alpha1.MPIJobReference{Name: mpiJob.Name, UID: mpiJob.UID}
	status.StartTime = ptr.To(mpiJob.CreationTimestamp)
	status.Suspend = createdSuspended(mpiJob)
	return proceed, nil
}

// neededTracer returns why the job must not run without the tracer, or "" if it may.
func (p *pass) neededTracer() string {
	switch {
	case p.job.Spec.Replay != nil:
		return "without the trace in spec.replay there is no program to run"
	case p.job.Spec.Tracing.FailurePolicy == v1alpha1.FailurePolicyFail:
		return "failurePolicy is Fail"
	}
	return ""
}

// injected returns the specification of the MPIJob with the tracer added. If tracing is disabled,
// or the tracer cannot be added, it returns the user's specification, in the second case with an
// error.
func (p *pass) injected() (*mpiv2beta1.MPIJobSpec, error) {
	plain := p.job.Spec.MPIJobTemplate.Spec.DeepCopy()
	if !p.tracingEnabled() {
		p.set(v1alpha1.ConditionTraced, metav1.ConditionFalse, v1alpha1.ReasonDisabled, "spec.tracing.mode is Disabled")
		return plain, nil
	}
	if p.job.Status.Storage == nil {
		p.set(v1alpha1.ConditionTraced, metav1.ConditionFalse, v1alpha1.ReasonStorageNotConfigured, p.condition(v1alpha1.ConditionStorageReady).Message)
		return plain, nil
	}
	tracing := p.job.Spec.Tracing
	tracer, why := tracerSettings(&tracing, plain)
	if why != "" {
		p.Events.Eventf(p.job, nil, corev1.EventTypeWarning, v1alpha1.ReasonNotClustered, v1alpha1.ConditionTraced, "%s", quote.Shorten(why, maxNote))
	}
	injected, err := inject.MPIJob(plain, inject.Options{
		Image:              p.image(),
		PullPolicy:         p.PullPolicy,
		PullSecrets:        slices.Concat(p.PullSecrets, p.job.Spec.Merge.PodTemplate.ImagePullSecrets),
		RunAsUser:          p.RunAsUser,
		ContainerName:      ptr.Deref(tracing.ContainerName, ""),
		StoreURL:           p.job.Status.StorageURI,
		S3:                 p.s3(),
		Labels:             naming.Labels(p.job),
		SpoolSizeLimit:     ptr.Deref(tracing.Spool.SizeLimit, defaultSpoolSize),
		GracePeriodSeconds: ptr.Deref(tracing.GracePeriodSeconds, defaultGracePeriodSeconds),
		Resources:          tracing.Resources,
		Replay:             p.job.Spec.Replay,
		Tracer:             tracer,
	})
	if err != nil {
		return plain, err
	}
	return injected, nil
}

// newMPIJob gives the MPIJob the name of the TracedMPIJob, so that pods and host names are the same
// as before the job was traced.
func newMPIJob(job *v1alpha1.TracedMPIJob, spec *mpiv2beta1.MPIJobSpec) *mpiv2beta1.MPIJob {
	labels, annotations := naming.MPIJobMetadata(job)
	annotations[createdSuspendedAnnotation] = strconv.FormatBool(job.Spec.Suspend)
	mpiJob := &mpiv2beta1.MPIJob{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, Namespace: job.Namespace, Labels: labels, Annotations: annotations},
		Spec:       *spec,
	}
	if job.Spec.Suspend {
		mpiJob.Spec.RunPolicy.Suspend = ptr.To(true)
	}
	return mpiJob
}

// propagateChanges applies changes of suspend and of the number of workers to the MPIJob. A refused
// change does not stop the reconciliation: it is reported and tried again.
func (p *pass) propagateChanges(ctx context.Context) error {
	mpiJob, err := p.mpiJob(ctx)
	if mpiJob == nil || err != nil {
		return err
	}
	before := mpiJob.DeepCopy()
	suspend, changed := p.job.Spec.Suspend, p.suspendChanged()
	if changed {
		if err := p.mustBeCurrent(ctx); err != nil {
			return err
		}
		// Written in any case: the cache may not have the current value of the MPIJob.
		before.Spec.RunPolicy.Suspend, mpiJob.Spec.RunPolicy.Suspend = ptr.To(!suspend), ptr.To(suspend)
	}
	workers := p.job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker]
	child := mpiJob.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker]
	if workers != nil && child != nil && workers.Replicas != nil {
		child.Replicas = workers.Replicas
	}
	patch := client.MergeFrom(before)
	if data, err := patch.Data(mpiJob); err != nil || string(data) == "{}" {
		return err
	}
	about := &refusal.Error{Kind: mpiv2beta1.Kind, Name: mpiJob.Name, Change: true}
	err = p.ask(about, func() error { return client.IgnoreNotFound(p.Patch(ctx, mpiJob, patch)) })
	if refused := new(refusal.Error); errors.As(err, &refused) {
		p.notice = refused.Error()
		p.requeueWithin(refused.Until.Sub(p.Clock.Now()))
		return nil
	}
	if err == nil && changed {
		p.job.Status.Suspend = ptr.To(suspend)
	}
	return err
}

// mpiJob returns the MPIJob that was created, or nil if it certainly does not exist.
func (p *pass) mpiJob(ctx context.Context) (*mpiv2beta1.MPIJob, error) {
	ref := p.job.Status.MPIJobRef
	key := client.ObjectKey{Namespace: p.job.Namespace, Name: ref.Name}
	mpiJob := &mpiv2beta1.MPIJob{}
	err := p.Get(ctx, key, mpiJob)
	if apierrors.IsNotFound(err) {
		// The cache may not contain it yet.
		err = p.Live.Get(ctx, key, mpiJob)
	}
	if apierrors.IsNotFound(err) || err == nil && mpiJob.UID != ref.UID {
		return nil, nil
	}
	return mpiJob, err
}

// The defaults of the CRD, for objects that were stored before the CRD had them.
const (
	defaultGracePeriodSeconds    = 120
	defaultCollectTimeoutSeconds = 300
	defaultFanIn                 = 256
)

var defaultSpoolSize = resource.MustParse("2Gi")
