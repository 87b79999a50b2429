package controllers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// Finalizer keeps a job until its trace is deleted with it.
const Finalizer = "cairn.dev/delete-trace"

// settleFinalizer sets the finalizer if deletionPolicy requires it, and removes it otherwise, so
// that a job without it can be deleted while the operator is not running. done means that there is
// nothing more to reconcile.
func (r *Reconciler) settleFinalizer(ctx context.Context, job *v1alpha1.TracedMPIJob) (done bool, err error) {
	has := controllerutil.ContainsFinalizer(job, Finalizer)
	deleting := !job.DeletionTimestamp.IsZero()
	// Without a storage URI nothing has been written.
	wanted := job.Spec.Storage.DeletionPolicy == v1alpha1.DeletionPolicyDelete && (!deleting || has && job.Status.StorageURI != "")
	if has == wanted {
		return deleting && !has, nil
	}
	if wanted {
		return false, r.patchFinalizer(ctx, job, controllerutil.AddFinalizer)
	}
	return deleting, r.patchFinalizer(ctx, job, controllerutil.RemoveFinalizer)
}

func (r *Reconciler) patchFinalizer(ctx context.Context, job *v1alpha1.TracedMPIJob, change func(client.Object, string) bool) error {
	patch := client.MergeFromWithOptions(job.DeepCopy(), client.MergeFromWithOptimisticLock{})
	change(job, Finalizer)
	return client.IgnoreNotFound(r.Patch(ctx, job, patch))
}

// deleteTrace deletes the objects of the job, once nobody writes any more, and then releases the
// job. Users who do not want to wait for a storage that no longer exists set deletionPolicy to
// Retain.
func (p *pass) deleteTrace(ctx context.Context) (next, error) {
	writers, err := p.stopWriters(ctx)
	if err != nil {
		return await, err
	}
	if writers > 0 {
		p.notReady(v1alpha1.ReasonDeletingTrace, fmt.Sprintf("waiting for %d pods to end, then the trace is deleted", writers))
		return await, nil
	}
	s3 := p.s3()
	if s3 == nil {
		p.notReady(v1alpha1.ReasonDeleteFailed, "the storage of the trace is no longer configured; to keep the existing data: "+p.retainCommand())
		return await, nil
	}
	if !p.storageEverWorked() {
		check, err := p.check(ctx, s3, storage.CheckHolds, time.Time{})
		switch {
		case apierrors.IsForbidden(err), err == nil && check.Failed():
			return await, p.releaseUnwritten(ctx)
		case err != nil || !check.Passed():
			p.notReady(v1alpha1.ReasonDeletingTrace, "checking whether the storage works: nothing has been written to it")
			return awaitFor(check.Again), err
		}
	}
	return p.deleteOnce(ctx, s3)
}

// storageEverWorked reports whether objects can have been written.
func (p *pass) storageEverWorked() bool {
	return p.job.Status.StorageReadyTime != nil || p.isTrue(v1alpha1.ConditionStorageReady) || p.isTrue(v1alpha1.ConditionTraceMerged)
}

// releaseUnwritten releases a job if its storage has never worked: there is nothing to delete.
func (p *pass) releaseUnwritten(ctx context.Context) error {
	p.Events.Eventf(p.job, nil, corev1.EventTypeNormal, v1alpha1.ReasonNothingToDelete, v1alpha1.ConditionReady,
		"nothing is deleted below %s: the storage never worked and still does not", p.job.Status.StorageURI)
	return p.releaseFinalizer(ctx)
}

// stopWriters deletes the MPIJob and Cairn's Jobs, and returns how many of their pods remain.
func (p *pass) stopWriters(ctx context.Context) (int, error) {
	background := client.PropagationPolicy(metav1.DeletePropagationBackground)
	if p.job.Status.MPIJobRef != nil {
		mpiJob, err := p.mpiJob(ctx)
		if err != nil {
			return 0, err
		}
		if mpiJob != nil {
			if err := p.Delete(ctx, mpiJob, background); client.IgnoreNotFound(err) != nil {
				return 0, err
			}
		}
	}
	for _, step := range []string{naming.StepStorage, naming.StepMerge, naming.StepAnalysis, naming.StepReport} {
		jobs, err := p.jobsOf(ctx, step)
		if err != nil {
			return 0, err
		}
		for _, job := range jobs {
			if err := p.Delete(ctx, &job, background); client.IgnoreNotFound(err) != nil {
				return 0, err
			}
		}
	}
	writers, err := p.writers(ctx)
	return len(writers), err
}

// deleteOnce runs "cairn delete-prefix" until it succeeds.
func (p *pass) deleteOnce(ctx context.Context, s3 *v1alpha1.S3Storage) (next, error) {
	jobs, err := p.jobsOf(ctx, naming.StepDelete)
	if err != nil {
		return await, err
	}
	round := 0
	if len(jobs) > 0 {
		last := jobs[len(jobs)-1]
		o, err := p.outcomeOf(ctx, &last)
		switch {
		case err != nil:
			return await, err
		case !o.Finished:
			message := "deleting " + p.job.Status.StorageURI
			if trouble := p.podTrouble(ctx, naming.StepDelete); trouble != "" {
				message += ": " + trouble
			}
			if p.condition(v1alpha1.ConditionReady).Reason != v1alpha1.ReasonDeleteFailed {
				p.notReady(v1alpha1.ReasonDeletingTrace, message)
			}
			return await, nil
		case o.Succeeded:
			return await, p.releaseFinalizer(ctx)
		}
		p.notReady(v1alpha1.ReasonDeleteFailed, fmt.Sprintf("%s cannot be deleted: %s; to keep it and release the job: %s",
			p.job.Status.StorageURI, p.whyFailed(o), p.retainCommand()))
		if rest := refusal.Backoff(p.Retry, roundOf(last)) - p.Clock.Since(o.Ended); rest > 0 {
			return awaitFor(rest), nil
		}
		round = roundOf(last) + 1
	}
	job := task.NewJob(p.job, p.settings().Installation, s3, task.Task{
		Step: naming.StepDelete, Name: naming.Child(p.job, naming.StepDelete, strconv.Itoa(round)),
		Args: []string{"delete-prefix", "--store", p.job.Status.StorageURI}, Retries: 1, Impatient: true,
		Template: p.job.Spec.Merge.PodTemplate,
	})
	job.Labels[roundLabel] = strconv.Itoa(round)
	if _, err := ensure(ctx, p, job, &batchv1.Job{}); err != nil {
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
			// Nothing can be created here any more, and the deletion of the namespace waits for
			// this finalizer.
			ctrl.LoggerFrom(ctx).Info("namespace is being deleted: the trace stays", "uri", p.job.Status.StorageURI)
			return await, p.releaseFinalizer(ctx)
		}
		return await, err
	}
	for _, old := range jobs {
		if err := p.Delete(ctx, &old, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return await, err
		}
	}
	return await, nil
}

// roundLabel is the number of the attempt, on the Jobs that delete the trace of a job.
const roundLabel = "cairn.dev/round"

func roundOf(job batchv1.Job) int {
	round, err := strconv.Atoi(job.Labels[roundLabel])
	if err != nil {
		return 0
	}
	return round
}

// jobsOf returns the Jobs of one step, ordered by their rounds.
func (p *pass) jobsOf(ctx context.Context, step string) ([]batchv1.Job, error) {
	var list batchv1.JobList
	labels := naming.Labels(p.job)
	labels[naming.StepLabel] = step
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, err
	}
	jobs := slices.DeleteFunc(list.Items, func(j batchv1.Job) bool { return !metav1.IsControlledBy(&j, p.job) || !j.DeletionTimestamp.IsZero() })
	slices.SortFunc(jobs, func(a, b batchv1.Job) int { return roundOf(a) - roundOf(b) })
	return jobs, nil
}

func (p *pass) retainCommand() string {
	return fmt.Sprintf(`kubectl -n %s patch tmj %s --type merge -p '{"spec":{"storage":{"deletionPolicy":"Retain"}}}'`, p.job.Namespace, p.job.Name)
}

// releaseFinalizer removes the finalizer. It does not write the status, since the object may be
// gone.
func (p *pass) releaseFinalizer(ctx context.Context) error {
	if err := p.patchFinalizer(ctx, p.job, controllerutil.RemoveFinalizer); err != nil {
		return err
	}
	p.persisted = p.job.DeepCopy()
	return nil
}
