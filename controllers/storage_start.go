package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
)

// checkStorage checks the storage before the job starts, so that the job does not run for hours in
// vain. Storage that is not ready blocks a job permanently only if failurePolicy is Fail. Otherwise
// the job starts after a while, and its records are sent once the storage works.
func (p *pass) checkStorage(ctx context.Context) (next, error) {
	if !p.tracingEnabled() {
		p.set(v1alpha1.ConditionStorageReady, metav1.ConditionUnknown, v1alpha1.ReasonDisabled, "")
		return proceed, nil
	}
	if p.completed() || p.started() {
		return proceed, nil
	}
	s3 := p.configuredStorage()
	if s3 == nil {
		p.storageTrouble(v1alpha1.ReasonStorageNotConfigured,
			"no storage: set spec.storage.s3, or storage.s3.bucket in the values of Cairn's chart")
		return p.startAnyway(nil, 0), nil
	}
	check, err := p.check(ctx, s3, storage.CheckHolds, time.Time{})
	var refused *refusal.Error
	switch {
	case errors.As(err, &refused):
		return p.startAnyway(s3, p.reportRefusal(refused)), nil
	case err != nil:
		return await, err
	case check.Passed():
		p.storageWorks(s3)
		return p.start(s3), nil
	case check.Trouble() != nil:
		trouble := check.Trouble()
		p.storageTrouble(storage.Reason(trouble.Reason), storage.Advice(*trouble, p.job.Namespace, s3))
	default:
		p.storageChecking(ctx, s3, check)
	}
	return p.startAnyway(s3, check.Again), nil
}

// started reports whether the state of the storage can no longer delay the start.
func (p *pass) started() bool {
	return p.job.Status.MPIJobRef != nil || p.job.Status.Image != "" && p.isTrue(v1alpha1.ConditionStorageReady)
}

// start allows the creation of the MPIJob once the API server has what it is injected with: an
// operator that takes over at this point must not choose another image or storage.
func (p *pass) start(s3 *v1alpha1.S3Storage) next {
	p.pin(s3)
	if p.persisted.Status.Image != p.job.Status.Image || p.persisted.Status.StorageURI != p.job.Status.StorageURI {
		return await // writing the status causes another reconciliation
	}
	return proceed
}

// startAnyway starts a job if its storage is not ready and it has waited long enough. Without any
// storage (nil) it runs untraced.
func (p *pass) startAnyway(s3 *v1alpha1.S3Storage, again time.Duration) next {
	if p.job.Spec.Tracing.FailurePolicy == v1alpha1.FailurePolicyFail {
		return awaitFor(again)
	}
	if rest := p.StorageWait - p.Clock.Since(p.waitsSince()); rest > 0 {
		return awaitFor(sooner(rest, again))
	}
	if s3 == nil {
		return proceed
	}
	return p.start(s3)
}

// waitsSince returns the time since which the job waits for its storage: the transition of
// JobFinished to False.
func (p *pass) waitsSince() time.Time {
	if c := p.condition(v1alpha1.ConditionJobFinished); c.Reason == v1alpha1.ReasonJobNotCreated {
		return c.LastTransitionTime.Time
	}
	return p.Clock.Now()
}

// sooner returns the shorter of two pauses; 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// storageWorks records that the storage is ready.
func (p *pass) storageWorks(s3 *v1alpha1.S3Storage) {
	if p.job.Status.StorageReadyTime == nil {
		p.job.Status.StorageReadyTime = ptr.To(metav1.NewTime(p.Clock.Now()))
	}
	p.set(v1alpha1.ConditionStorageReady, metav1.ConditionTrue, v1alpha1.ReasonStorageWritable,
		storage.NamespaceURI(s3, p.job.Namespace)+" can be written to")
}

// storageChecking records that the first check is running. Later checks keep the condition of the
// previous result.
func (p *pass) storageChecking(ctx context.Context, s3 *v1alpha1.S3Storage, check storage.Check) {
	if p.condition(v1alpha1.ConditionStorageReady).Status == metav1.ConditionFalse {
		return
	}
	message := "writing to " + storage.NamespaceURI(s3, p.job.Namespace)
	if trouble := p.checkTrouble(ctx, check); trouble != "" {
		message += ": " + trouble
	}
	p.set(v1alpha1.ConditionStorageReady, metav1.ConditionUnknown, v1alpha1.ReasonStorageChecking, message)
	p.notCreated("the storage is checked first")
	p.notReady(v1alpha1.ReasonStorageChecking, "checking the storage before the MPIJob is created: "+message)
}

// storageTrouble records why the job does not start yet.
func (p *pass) storageTrouble(reason, message string) {
	p.set(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, reason, message)
	waits := "the MPIJob is created once the storage works (failurePolicy is Fail)"
	if p.job.Spec.Tracing.FailurePolicy != v1alpha1.FailurePolicyFail {
		waits = fmt.Sprintf("the MPIJob is created once the storage works, or after %s without", p.StorageWait)
	}
	p.notCreated(waits)
	p.notReady(v1alpha1.ReasonStorageNotReady, message)
}

func (p *pass) notCreated(message string) {
	p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobNotCreated, message)
}

// s3 returns the storage of the job: the pinned one, or else the configured one; nil if there is
// none.
func (p *pass) s3() *v1alpha1.S3Storage {
	if pinned := p.job.Status.Storage; pinned != nil {
		return pinned.DeepCopy()
	}
	return p.configuredStorage()
}

// configuredStorage returns the job's own storage, or the installation's; nil if neither exists.
func (p *pass) configuredStorage() *v1alpha1.S3Storage {
	s3 := p.job.Spec.Storage.S3
	if s3 == nil {
		s3 = p.Settings.Storage
	}
	if s3 == nil || s3.Bucket == "" {
		return nil
	}
	s3 = s3.DeepCopy()
	if s3.CredentialsSecretName == "" {
		s3.CredentialsSecretName = v1alpha1.DefaultCredentialsSecretName
	}
	return s3
}

// image returns Cairn's image for this job: the pinned one, or else the operator's current one.
func (p *pass) image() string { return cmp.Or(p.job.Status.Image, p.Image) }

// settings returns those of the installation with the values that the job is pinned to.
func (p *pass) settings() Settings {
	settings := p.Settings
	settings.Image = p.image()
	return settings
}

// pin records what the job is injected with and processed by, whatever is configured later: data
// stays where it was written, and is read by the image that wrote it.
func (p *pass) pin(s3 *v1alpha1.S3Storage) {
	status := &p.job.Status
	status.Storage, status.Image = s3, p.image()
	if status.MPIJobRef == nil || status.StorageURI == "" {
		status.StorageURI = storage.JobURI(s3, p.job)
	}
}
