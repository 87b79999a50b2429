package controllers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// followLauncher waits for the launcher's Job to end. The conditions of the MPIJob are not
// reliable: an evicted worker makes it Failed while the launcher still runs, and a later success
// makes it Succeeded again.
func (p *pass) followLauncher(ctx context.Context) (next, error) {
	if p.isTrue(v1alpha1.ConditionJobFinished) {
		return proceed, nil
	}
	mpiJob, err := p.mpiJob(ctx)
	if err != nil {
		return await, err
	}
	if err := p.recordAttempts(ctx); err != nil {
		return await, err
	}
	if mpiJob == nil {
		p.jobFinished(v1alpha1.ReasonJobFailed, p.withPodFailures("the MPIJob was deleted before its launcher ended"))
		return proceed, nil
	}
	if p.mustStop() {
		if err := p.Delete(ctx, mpiJob, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return await, err
		}
		p.jobFinished(v1alpha1.ReasonJobFailed, "stopped, because it cannot be traced and failurePolicy is Fail: "+p.condition(v1alpha1.ConditionTraced).Message)
		return proceed, nil
	}

	launcher, err := p.launcherJob(ctx)
	if err != nil {
		return await, err
	}
	if launcher == nil {
		return p.withoutLauncher(ctx, mpiJob), nil
	}
	end := task.TerminalCondition(launcher)
	if end == nil {
		p.notFinished(ctx, mpiJob, launcher)
		return await, nil
	}
	exitCode, err := p.launcherExitCode(ctx, launcher)
	if err != nil {
		return await, err
	}
	if err := p.recordFailuresLive(ctx); err != nil {
		return await, err
	}
	reason, message := launcherResult(end, exitCode)
	p.jobFinished(reason, p.withPodFailures(message))
	return proceed, nil
}

// mustStop reports whether a job that cannot be traced must not run.
func (p *pass) mustStop() bool {
	return p.job.Spec.Tracing.FailurePolicy == v1alpha1.FailurePolicyFail && p.tracingEnabled() &&
		p.condition(v1alpha1.ConditionTraced).Status == metav1.ConditionFalse
}

func (p *pass) jobFinished(reason, message string) {
	p.set(v1alpha1.ConditionJobFinished, metav1.ConditionTrue, reason, message)
}

// launcherResult returns the condition for the end of the launcher's Job.
func launcherResult(end *batchv1.JobCondition, exitCode *int32) (reason, message string) {
	reason = v1alpha1.ReasonJobSucceeded
	if end.Type == batchv1.JobFailed {
		reason = v1alpha1.ReasonJobFailed
	}
	switch {
	case exitCode != nil && (*exitCode == 0) == (reason == v1alpha1.ReasonJobSucceeded):
		return reason, fmt.Sprintf("launcher exited with code %d", *exitCode)
	case reason == v1alpha1.ReasonJobSucceeded:
		return reason, "launcher succeeded"
	default:
		return reason, fmt.Sprintf("launcher failed: %s: %s", end.Reason, end.Message)
	}
}

// launcherContainer is the name of the container that runs mpirun.
func launcherContainer(job *v1alpha1.TracedMPIJob) string {
	if name := ptr.Deref(job.Spec.Tracing.ContainerName, ""); name != "" {
		return name
	}
	launcher := job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeLauncher]
	if launcher == nil || len(launcher.Template.Spec.Containers) == 0 {
		return ""
	}
	return launcher.Template.Spec.Containers[0].Name
}

// recordAttempts records the starts of the launcher and the failures of pods while the pods exist:
// a Job that has used up its retries deletes them.
func (p *pass) recordAttempts(ctx context.Context) error {
	pods, err := p.podsOf(ctx, "")
	if err != nil {
		return err
	}
	p.job.Status.Attempts = podstatus.ObserveAttempts(p.job.Status.Attempts, pods, launcherContainer(p.job))
	p.recordFailures(pods)
	return nil
}

// recordFailuresLive records the failures of the job's pods, read past the cache: the end of the
// launcher's Job may be in the cache before the eviction of a worker is.
func (p *pass) recordFailuresLive(ctx context.Context) error {
	pods, err := p.podsOfMPIJob(ctx, p.Live)
	if err != nil {
		return err
	}
	p.recordFailures(pods)
	return nil
}

// launcherExitCode returns the launcher's exit code, or nil if it is not recorded anywhere any
// more. It reads past the cache: the end of the Job may be in the cache before the end of its last
// pod, and pods without Cairn's label are never there.
func (p *pass) launcherExitCode(ctx context.Context, launcher *batchv1.Job) (*int32, error) {
	var pods corev1.PodList
	if err := p.Live.List(ctx, &pods, client.InNamespace(launcher.Namespace),
		client.MatchingLabels{batchv1.ControllerUidLabel: string(launcher.UID)}); err != nil {
		return nil, err
	}
	own := podstatus.ControlledBy(pods.Items, launcher.UID)
	p.job.Status.Attempts = podstatus.ObserveAttempts(p.job.Status.Attempts, own, launcherContainer(p.job))
	return podstatus.LastExitCode(p.job.Status.Attempts), nil
}

// withoutLauncher handles an MPIJob without a launcher's Job. Either the Job does not exist yet, or
// its time to live has ended.
func (p *pass) withoutLauncher(ctx context.Context, mpiJob *mpiv2beta1.MPIJob) next {
	for _, c := range mpiJob.Status.Conditions {
		if c.Status != corev1.ConditionTrue || mpiJob.Status.CompletionTime == nil {
			continue
		}
		switch c.Type {
		case mpiv2beta1.JobSucceeded:
			p.jobFinished(v1alpha1.ReasonJobSucceeded, p.withPodFailures("launcher succeeded"))
			return proceed
		case mpiv2beta1.JobFailed:
			p.jobFinished(v1alpha1.ReasonJobFailed, p.withPodFailures("launcher failed: "+c.Message))
			return proceed
		}
	}
	p.notFinished(ctx, mpiJob, nil)
	return await
}

// launcherRuns reports whether the launcher's container is running. The last recorded attempt may
// have ended without an exit code, or may have disappeared with its pod before its end was seen,
// for example by suspension or preemption.
func (p *pass) launcherRuns(ctx context.Context, launcher *batchv1.Job) bool {
	if launcher != nil && ptr.Deref(launcher.Status.Ready, 0) > 0 {
		return true
	}
	attempts := p.job.Status.Attempts
	if len(attempts) == 0 || attempts[len(attempts)-1].FinishedAt != nil {
		return false
	}
	pods, err := p.podsOf(ctx, "")
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read the pods of the MPIJob")
		return true
	}
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return pod.UID == attempts[len(attempts)-1].PodUID })
}

// notFinished sets the conditions of a job that has not finished.
func (p *pass) notFinished(ctx context.Context, mpiJob *mpiv2beta1.MPIJob, launcher *batchv1.Job) {
	reason, message := v1alpha1.ReasonJobStarting, "waiting for the launcher to start"
	attempts := p.job.Status.Attempts
	more := []string{p.suspendDispute(mpiJob)}
	switch {
	case ptr.Deref(mpiJob.Spec.RunPolicy.Suspend, false):
		reason, message = v1alpha1.ReasonJobSuspended, cmp.Or(more[0], "the MPIJob is suspended")
		more = nil
	case len(attempts) > 0 && attempts[len(attempts)-1].ExitCode != nil:
		// The sidecar may still be sending data, or the Job may start another attempt.
		reason = v1alpha1.ReasonJobRunning
		message = fmt.Sprintf("launcher exited with code %d, its Job has not ended yet", *attempts[len(attempts)-1].ExitCode)
	case p.launcherRuns(ctx, launcher):
		reason, message = v1alpha1.ReasonJobRunning, "the launcher is running"
	default:
		if trouble := p.podTrouble(ctx, ""); trouble != "" {
			message += ": " + trouble
		}
		if !p.injectedPods() {
			p.requeueWithin(maxEventInterval) // pods without our label are not watched
		}
	}
	if reason != v1alpha1.ReasonJobSuspended {
		more = append(more, p.mpiJobWarnings(ctx, mpiJob, launcher))
	}
	for _, c := range mpiJob.Status.Conditions {
		if c.Type == mpiv2beta1.JobFailed && c.Status == corev1.ConditionTrue {
			more = append(more, "mpi-operator reports: "+c.Message)
		}
	}
	for _, m := range append(more, p.notice) {
		if m != "" {
			message += "; " + m
		}
	}
	message = p.withPodFailures(message)
	p.set(v1alpha1.ConditionJobFinished, metav1.ConditionFalse, reason, message)
	p.notReady(reason, message)
}

// recordFailures records the failures of the job's pods.
func (p *pass) recordFailures(pods []corev1.Pod) {
	p.job.Status.PodFailures = podstatus.ObservePodFailures(p.job.Status.PodFailures, pods)
}

// withPodFailures appends the recorded failures of pods to a message, unless the message contains
// them.
func (p *pass) withPodFailures(message string) string {
	more := slices.DeleteFunc(slices.Clone(p.job.Status.PodFailures), func(line string) bool { return strings.Contains(message, line) })
	return strings.Join(append([]string{message}, podstatus.BoundedLines(more)...), "; ")
}
