package controllers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/refusal"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// A small job, one whose traces are merged in one step, is merged and reported on in one pod: the init container merges,
// the main one waits for the findings of the analyses, whose Jobs run meanwhile, and writes the reports. That saves the
// start of a pod between the last finding and the report.

// pods is how many pods the job has.
func (p *pass) pods() int {
	pods := 1
	if workers := p.job.Spec.MPIJobTemplate.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker]; workers != nil {
		pods += int(ptr.Deref(workers.Replicas, 0))
	}
	return pods
}

func (p *pass) fanIn() int { return int(ptr.Deref(p.job.Spec.Merge.FanIn, defaultFanIn)) }

// isSmall reports whether all traces are merged in one step.
func (p *pass) isSmall() bool { return p.pods() <= p.fanIn() }

// mergedAtAnnotation is on a Job that merged and then reports: when the pod was made whose merge counts.
const mergedAtAnnotation = "cairn.dev/merged-at"

// mergedIn is what the init container of a Job said, in the newest of its pods in which it ended well; "" if there is
// none. The other container may still run. The Job keeps which pod it was.
func (p *pass) mergedIn(ctx context.Context, job *batchv1.Job) (string, error) {
	reader := client.Reader(p.Client)
	if task.TerminalCondition(job) != nil {
		reader = p.Live // the cache may know of the Job's end before it knows of its pods'
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(job.Namespace),
		client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return "", err
	}
	slices.SortStableFunc(pods.Items, func(a, b corev1.Pod) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) })
	for _, pod := range pods.Items {
		if ended := task.InitEnd(pod); ended != nil && ended.ExitCode == 0 && metav1.IsControlledBy(&pod, job) {
			return ended.Message, p.noteMerged(ctx, job, pod)
		}
	}
	return "", nil
}

func (p *pass) noteMerged(ctx context.Context, job *batchv1.Job, pod corev1.Pod) error {
	patch := client.MergeFrom(job.DeepCopy())
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[mergedAtAnnotation] = pod.CreationTimestamp.UTC().Format(time.RFC3339)
	return p.Patch(ctx, job, patch)
}

// guardFindings looks after the pod that merged and waits. One that takes its place would merge again, and a merge
// removes the findings of the one before it. So if the pod has ended, its Job is deleted before it makes another, and a
// Job of its own reports. If it has made another (the operator was away), the analyses are done again.
func (p *pass) guardFindings(ctx context.Context) error {
	job, err := p.waitingReport(ctx)
	if job == nil || err != nil || task.TerminalCondition(job) != nil || !job.DeletionTimestamp.IsZero() {
		return err
	}
	mergedAt, err := time.Parse(time.RFC3339, job.Annotations[mergedAtAnnotation])
	if err != nil {
		return nil // the merge has not been read yet
	}
	var pods corev1.PodList
	if err := p.Live.List(ctx, &pods, client.InNamespace(job.Namespace),
		client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return err
	}
	waits, replaced := false, false
	for _, pod := range podstatus.ControlledBy(pods.Items, job.UID) {
		switch {
		case pod.CreationTimestamp.After(mergedAt):
			replaced = true
		case pod.CreationTimestamp.UTC().Equal(mergedAt):
			waits = waits || pod.DeletionTimestamp.IsZero() && pod.Status.Phase != corev1.PodFailed
		}
	}
	switch {
	case replaced:
		for i := range p.job.Status.Analyses {
			p.job.Status.Analyses[i].State = v1alpha1.AnalysisPending
		}
		return p.startAgain(ctx, naming.StepAnalysis)
	case !waits:
		return p.stopWaiting(ctx)
	}
	return nil
}

// mergeIsEnding reports whether a Job that merges is on its way out: what its pod removes must not be made yet.
func (p *pass) mergeIsEnding(ctx context.Context) (bool, error) {
	var list batchv1.JobList
	labels := naming.Labels(p.job)
	labels[naming.StepLabel] = naming.StepMerge
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(labels)); err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.Items, func(j batchv1.Job) bool {
		return metav1.IsControlledBy(&j, p.job) && !j.DeletionTimestamp.IsZero()
	}), nil
}

// waitingReport is the latest Job that merged and reports, or will; nil if there is none since the last retry.
func (p *pass) waitingReport(ctx context.Context) (*batchv1.Job, error) {
	var last *batchv1.Job
	base := p.child(naming.StepMerge, "l0")
	for retry := 0; retry <= maxRetryJobs; retry++ {
		name := base
		if retry > 0 {
			name += "-r" + strconv.Itoa(retry)
		}
		job := &batchv1.Job{}
		key := client.ObjectKey{Namespace: p.job.Namespace, Name: name}
		err := p.Get(ctx, key, job)
		if apierrors.IsNotFound(err) {
			err = p.Live.Get(ctx, key, job)
		}
		if apierrors.IsNotFound(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if metav1.IsControlledBy(job, p.job) && task.MergesFirst(job) {
			last = job
		}
	}
	return last, nil
}

// reportInPlace is the outcome of the report that waits in the pod of the merge. It is of no use, and the report must be
// written by a Job of its own, if there is no such pod, or if it failed for a reason that another may not have.
func (p *pass) reportInPlace(ctx context.Context) (o task.Outcome, useful bool, err error) {
	job, err := p.waitingReport(ctx)
	if job == nil || err != nil {
		return o, false, err
	}
	if !job.DeletionTimestamp.IsZero() {
		return o, true, nil // its pod must be gone before another writes
	}
	o, err = p.outcomeOf(ctx, job)
	if err != nil || !o.Finished {
		return o, true, err
	}
	if o.Succeeded {
		return o, messages.Decode(o.Messages[0], &messages.Report{}), nil
	}
	return o, o.StorageTrouble() != nil, nil
}

// maxRoomWait is how long an analysis may be without room while the pod that merged waits for its findings.
const maxRoomWait = 2 * time.Minute

// makeRoom has the pod that merged and waits make way for an analysis that does not start: a quota, a queue or a node
// may have room for one of them only. The report then has a Job of its own.
func (p *pass) makeRoom(ctx context.Context) error {
	jobs, err := p.jobsOf(ctx, naming.StepAnalysis)
	if err != nil {
		return err
	}
	pods, err := p.podsOf(ctx, naming.StepAnalysis)
	if err != nil {
		return err
	}
	for i := range jobs {
		started := slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
			return metav1.IsControlledBy(&pod, &jobs[i]) && pod.Status.Phase != corev1.PodPending
		})
		if started || task.TerminalCondition(&jobs[i]) != nil {
			continue
		}
		if rest := maxRoomWait - p.Clock.Since(jobs[i].CreationTimestamp.Time); rest > 0 {
			p.lookAgain(rest)
			continue
		}
		return p.stopWaiting(ctx)
	}
	return nil
}

// makeRoomForRefused does so for an analysis whose Job is refused, by a quota of Jobs for example.
func (p *pass) makeRoomForRefused(ctx context.Context, err error) error {
	var refused *refusal.Error
	if !errors.As(err, &refused) || p.Clock.Since(p.condition(v1alpha1.ConditionTraceMerged).LastTransitionTime.Time) < maxRoomWait {
		return nil
	}
	return p.stopWaiting(ctx)
}

// stopWaiting deletes the Job whose report waits for findings that nobody will make. It stays until its pod is gone.
func (p *pass) stopWaiting(ctx context.Context) error {
	job, err := p.waitingReport(ctx)
	if job == nil || err != nil || task.TerminalCondition(job) != nil || !job.DeletionTimestamp.IsZero() {
		return err
	}
	return client.IgnoreNotFound(p.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &job.UID}))
}

// allFailuresLeft reports whether every run that an analysis failed on has an object that says so, which the report
// waits for. A pod that was killed leaves none.
func allFailuresLeft(o task.Outcome) bool {
	for _, f := range o.Failed {
		var said messages.Analysis
		if !messages.Decode(f.Message, &said) || said.Failed == "" {
			return false
		}
	}
	return len(o.Failed) > 0
}

// analysisNames are those that the job asked for when the merge began.
func (p *pass) analysisNames() []string {
	names := []string{}
	for _, analysis := range p.job.Status.Analyses {
		names = append(names, string(analysis.Name))
	}
	return names
}
