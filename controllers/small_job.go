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

// A small job has all its traces merged in one step. One pod merges them and writes the reports:
// the init container merges; the main one waits for the findings of the analyses, which run as
// other Jobs, and writes the reports. This saves the start of a pod between the last finding and
// the report.

// pods returns the number of pods of the job.
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

// mergedAtAnnotation is set on a Job that merges and then reports: the creation time of the pod
// with the merge that counts.
const mergedAtAnnotation = "cairn.dev/merged-at"

// mergedIn returns the termination message of the init container in the newest pod of a Job in
// which it succeeded, or "" if there is none. The main container may still run. The Job's
// annotation records which pod it was.
func (p *pass) mergedIn(ctx context.Context, job *batchv1.Job) (string, error) {
	reader := client.Reader(p.Client)
	if task.TerminalCondition(job) != nil {
		reader = p.Live // the cache may have the Job's end before its pods' ends
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
	mergedAt := pod.CreationTimestamp.UTC().Format(time.RFC3339)
	if job.Annotations[mergedAtAnnotation] == mergedAt {
		return nil
	}
	patch := client.MergeFrom(job.DeepCopy())
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[mergedAtAnnotation] = mergedAt
	return p.Patch(ctx, job, patch)
}

// guardFindings protects the findings while the pod that merged waits for them. A replacement pod
// would merge again, and a merge removes the findings of the previous one. So if the pod has ended,
// its Job is deleted before it creates another pod, and a separate Job writes the report. If the
// replacement exists already (because the operator was not running), the analyses are repeated.
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

// mergeIsEnding reports whether a Job that merges is being deleted: its pod may still remove files,
// so they must not be written yet.
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

// waitingReport returns the latest Job that merged and reports, or will report. It is nil if there
// is none since the last retry.
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

// reportInPlace returns the outcome of the report that waits in the pod of the merge. useful is
// false, and a separate Job must write the report, if there is no such pod or if it failed for a
// reason that another pod may not have.
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

// maxRoomWait is how long an analysis may fail to be scheduled while the pod that merged waits for
// its findings.
const maxRoomWait = 2 * time.Minute

// makeRoom stops the pod that merged and waits if an analysis does not start, since a quota, a
// queue or a node may have room for only one of them. A separate Job then writes the report.
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
			p.requeueWithin(rest)
			continue
		}
		return p.stopWaiting(ctx)
	}
	return nil
}

// makeRoomForRefused does the same for an analysis if its Job is refused, by a quota of Jobs for
// example.
func (p *pass) makeRoomForRefused(ctx context.Context, err error) error {
	var refused *refusal.Error
	if !errors.As(err, &refused) || p.Clock.Since(p.condition(v1alpha1.ConditionTraceMerged).LastTransitionTime.Time) < maxRoomWait {
		return nil
	}
	return p.stopWaiting(ctx)
}

// stopWaiting deletes the Job that waits, in order to report, for findings that will not appear.
// The Job stays until its pod is gone.
func (p *pass) stopWaiting(ctx context.Context) error {
	job, err := p.waitingReport(ctx)
	if job == nil || err != nil || task.TerminalCondition(job) != nil || !job.DeletionTimestamp.IsZero() {
		return err
	}
	return client.IgnoreNotFound(p.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &job.UID}))
}

// allFailuresLeft reports whether there is an object with the reason for every run that an analysis
// failed on; the report waits for these objects. A pod that was killed writes none.
func allFailuresLeft(o task.Outcome) bool {
	for _, f := range o.Failed {
		var said messages.Analysis
		if !messages.Decode(f.Message, &said) || said.Failed == "" {
			return false
		}
	}
	return len(o.Failed) > 0
}

// analysisNames returns the analyses that were requested when the merge began.
func (p *pass) analysisNames() []string {
	names := []string{}
	for _, analysis := range p.job.Status.Analyses {
		names = append(names, string(analysis.Name))
	}
	return names
}
