package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/storage"
	"github.com/cairn-mpi/cairn/controllers/task"
)

const (
	// slowStep is the time after which a step may be waiting for its storage. From then on a check
	// is valid no longer than that.
	slowStep = time.Minute
	// maxLost is the number of lines about lost ranks in the status.
	maxLost = 16
)

// watchStorage records when the storage fails after the start, and when it works again: a person
// must learn that processes wait for it. It never blocks a step.
func (p *pass) watchStorage(ctx context.Context) (next, error) {
	status := &p.job.Status
	if !p.tracingEnabled() || p.completed() || status.StorageURI == "" || status.MPIJobRef == nil || p.runsPlain() {
		return proceed, nil
	}
	s3 := p.s3()
	if s3 == nil {
		return proceed, nil
	}
	p.pin(s3) // of a job that an operator without pins started
	seen, err := p.storageSeen(ctx)
	if err != nil {
		return await, err
	}
	holds, due, err := p.checkDue(ctx)
	if err != nil {
		return await, err
	}
	p.requeueWithin(due)
	if holds > 0 || seen.Trouble != nil {
		if holds == 0 {
			holds = storage.CheckHolds
		}
		check, err := p.check(ctx, s3, holds, seen.TroubleAt())
		if err != nil {
			// A check that cannot be started says nothing about the storage, and nothing waits for
			// it.
			ctrl.LoggerFrom(ctx).Error(err, "cannot check the storage")
			check = storage.Check{Again: refusal.MaxRetryPause}
		}
		p.requeueWithin(check.Again)
		seen.TakeCheck(check)
	}
	switch ready := p.condition(v1alpha1.ConditionStorageReady); {
	case seen.At.IsZero():
	case seen.Trouble != nil:
		p.set(v1alpha1.ConditionStorageReady, metav1.ConditionFalse, storage.Reason(seen.Trouble.Reason), seen.Who+storage.Advice(*seen.Trouble, p.job.Namespace, s3))
	case ready.Status != metav1.ConditionTrue || status.StorageReadyTime == nil:
		p.storageWorks(s3)
	}
	return proceed, nil
}

// runsPlain reports whether the MPIJob was created without the tracer in it.
func (p *pass) runsPlain() bool {
	traced := meta.FindStatusCondition(p.job.Status.Conditions, v1alpha1.ConditionTraced)
	return traced != nil && traced.Status == metav1.ConditionFalse &&
		slices.Contains([]string{v1alpha1.ReasonInjectionFailed, v1alpha1.ReasonStorageNotConfigured}, traced.Reason)
}

// checkDue returns how long a check is valid at this point of the job's life, or 0 if none is
// needed, and the time after which that may become shorter. While the MPIJob runs, the operator
// cannot see whether its sidecars wait. A step that has taken a minute may be waiting, too.
func (p *pass) checkDue(ctx context.Context) (holds, due time.Duration, err error) {
	finished := p.condition(v1alpha1.ConditionJobFinished)
	if finished.Status != metav1.ConditionTrue {
		switch {
		case finished.Reason == v1alpha1.ReasonJobSuspended:
			return 0, 0, nil
		case finished.Reason == v1alpha1.ReasonJobRunning, !p.isTrue(v1alpha1.ConditionStorageReady):
			return storage.CheckHolds, 0, nil
		}
		return 0, 0, nil
	}
	for _, step := range []string{naming.StepMerge, naming.StepAnalysis, naming.StepReport} {
		jobs, err := p.jobsOf(ctx, step)
		if err != nil {
			return 0, 0, err
		}
		for _, job := range jobs {
			if task.TerminalCondition(&job) != nil {
				continue
			}
			if rest := slowStep - p.Clock.Since(job.CreationTimestamp.Time); rest > 0 {
				due = sooner(due, rest)
			} else {
				holds = slowStep
			}
		}
	}
	if holds == 0 && !p.isTrue(v1alpha1.ConditionStorageReady) {
		holds = storage.CheckHolds
	}
	return holds, due, nil
}

// storageSeen returns the latest statement about the storage by containers of this job that ended.
// It also records what sidecars could not send.
func (p *pass) storageSeen(ctx context.Context) (storage.Seen, error) {
	var seen storage.Seen
	for _, step := range []string{naming.StepMerge, naming.StepAnalysis, naming.StepReport} {
		pods, err := p.podsOf(ctx, step)
		if err != nil {
			return seen, err
		}
		for _, pod := range pods {
			for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
				seen.TakeStep(pod.Name, step, status.State.Terminated)
			}
		}
	}
	pods, err := p.podsOf(ctx, "")
	if err != nil {
		return seen, err
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		for _, ended := range podstatus.ShipEnds(pod) {
			var said messages.Ship
			if !messages.Decode(ended.Message, &said) {
				continue
			}
			p.recordLost(pod.Name, said)
			if said.Storage != nil {
				seen.Take(ended.FinishedAt.Time, said.Storage, fmt.Sprintf("the sidecar of pod %s: ", pod.Name))
			}
		}
	}
	return seen, nil
}

// recordLost records the ranks that a sidecar could not send, since its pod may soon be gone.
func (p *pass) recordLost(pod string, said messages.Ship) {
	status := &p.job.Status
	lines := slices.Clone(said.Lost)
	// more than a termination message has room for
	if more := said.LostCount - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("pod %s: %d more worlds", pod, more))
	}
	for _, line := range lines {
		line = quote.Shorten(line, 256)
		if len(status.Lost) < maxLost && !slices.Contains(status.Lost, line) {
			status.Lost = append(status.Lost, line)
		}
	}
}

// storageHint returns a text for the message of a slow step, if the storage is the reason.
func (p *pass) storageHint() string {
	ready := p.condition(v1alpha1.ConditionStorageReady)
	if ready.Status != metav1.ConditionFalse {
		return ""
	}
	return fmt.Sprintf("the storage does not work (%s), see condition %s", ready.Reason, v1alpha1.ConditionStorageReady)
}
