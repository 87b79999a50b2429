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
	// slowStep is after what time a step may wait for its storage: the check then holds no longer than that.
	slowStep = time.Minute
	// maxLost is how many lines of lost ranks the status keeps.
	maxLost = 16
)

// watchStorage says when the storage fails after the start, and when it works again: while processes wait for it, a
// person must learn of it. It keeps no step from its work.
func (p *pass) watchStorage(ctx context.Context) (next, error) {
	status := &p.job.Status
	if !p.tracingEnabled() || p.completed() || status.StorageURI == "" || status.MPIJobRef == nil || p.runsPlain() {
		return proceed, nil
	}
	s3 := p.s3()
	if s3 == nil {
		return proceed, nil
	}
	p.pin(s3) // of a job that an operator without pins has started
	seen, err := p.storageSeen(ctx)
	if err != nil {
		return await, err
	}
	holds, due, err := p.checkDue(ctx)
	if err != nil {
		return await, err
	}
	p.lookAgain(due)
	if holds > 0 || seen.Trouble != nil {
		if holds == 0 {
			holds = storage.CheckHolds
		}
		check, err := p.check(ctx, s3, holds, seen.TroubleAt())
		if err != nil {
			// A check that cannot be made is no news of the storage, and nobody waits for it.
			ctrl.LoggerFrom(ctx).Error(err, "the storage is not checked")
			check = storage.Check{Again: refusal.MaxRetryPause}
		}
		p.lookAgain(check.Again)
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

// checkDue says how long a check holds at this point of the job's life, 0 if none is needed, and in what time that may
// become shorter. While the MPIJob runs, nobody sees that its sidecars wait. A step of ours that has taken a minute may
// be waiting, too.
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

// storageSeen is the latest that containers of this job said of the storage when they ended. It also keeps what
// sidecars could not send.
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
			p.noteLost(pod.Name, said)
			if said.Storage != nil {
				seen.Take(ended.FinishedAt.Time, said.Storage, fmt.Sprintf("the sidecar of pod %s: ", pod.Name))
			}
		}
	}
	return seen, nil
}

// noteLost keeps the ranks that a sidecar could not send: its pod may soon be gone.
func (p *pass) noteLost(pod string, said messages.Ship) {
	status := &p.job.Status
	lines := slices.Clone(said.Lost)
	if more := said.LostCount - len(lines); more > 0 { // what a termination message has no room for
		lines = append(lines, fmt.Sprintf("pod %s: %d more worlds", pod, more))
	}
	for _, line := range lines {
		line = quote.Shorten(line, 256)
		if len(status.Lost) < maxLost && !slices.Contains(status.Lost, line) {
			status.Lost = append(status.Lost, line)
		}
	}
}

// storageHint is for the message of a step that takes long, if the storage is why.
func (p *pass) storageHint() string {
	ready := p.condition(v1alpha1.ConditionStorageReady)
	if ready.Status != metav1.ConditionFalse {
		return ""
	}
	return fmt.Sprintf("the storage does not work (%s), see condition %s", ready.Reason, v1alpha1.ConditionStorageReady)
}
