package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/quote"
	"github.com/cairn-mpi/cairn/controllers/task"
)

// mpi-operator and the Job controller report what they cannot create only in events.

const (
	// eventDelay is the time in which the pods of a job should be created. Events are read only
	// after it.
	eventDelay = 2 * time.Second
	// maxEventInterval limits the interval between two reads of the events: a job
	// may wait for days.
	maxEventInterval = 30 * time.Second
	// maxTrouble limits the text about pods to a few sentences.
	maxTrouble = 1024
	// clockSlack is the assumed difference between the clocks of two components.
	clockSlack = 2 * time.Second
)

// ignoredWarnings are reasons of events that do not prevent a start.
var ignoredWarnings = map[string]bool{
	"SetPodTemplateRestartPolicy": true,
	"MPIJobEvicted":               true, // the pod itself has the reason
}

// mpiJobWarnings returns why pods of the MPIJob are missing, in the words of mpi-operator or of the
// Job controller. It is "" if none is missing or no event explains it.
func (p *pass) mpiJobWarnings(ctx context.Context, mpiJob *mpiv2beta1.MPIJob, launcher *batchv1.Job) string {
	pods, err := p.podsOf(ctx, "")
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read the pods of the MPIJob")
		return ""
	}
	launched := slices.ContainsFunc(pods, podstatus.IsLauncher)
	missing := 0
	if worker := mpiJob.Spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker]; worker != nil {
		missing = int(ptr.Deref(worker.Replicas, 1))
	}
	for _, pod := range pods {
		if !podstatus.IsLauncher(pod) {
			missing--
		}
	}
	if launched && missing <= 0 {
		return ""
	}
	since := mpiJob.CreationTimestamp.Time
	if resumed := mpiJob.Status.StartTime; resumed != nil && resumed.After(since) {
		since = resumed.Time
	}
	if !p.dueForEvents(since) {
		return ""
	}
	newest := newestPod(pods)
	if warning := p.newestWarning(ctx, mpiJob.UID, newest); warning != "" {
		return "mpi-operator reports: " + warning
	}
	if launcher == nil || launched {
		return ""
	}
	if warning := p.newestWarning(ctx, launcher.UID, newest); warning != "" {
		return fmt.Sprintf("Job %s: %s", launcher.Name, warning)
	}
	return ""
}

// jobWarnings returns why pods of a step's Jobs are missing, in the words of the Job controller.
func (p *pass) jobWarnings(ctx context.Context, step string, pods []corev1.Pod) []string {
	jobs, err := p.jobsOf(ctx, step)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read the Jobs", "step", step)
		return nil
	}
	var warnings []string
	for i := range jobs {
		if warning := p.jobWarning(ctx, &jobs[i], podstatus.ControlledBy(append([]corev1.Pod(nil), pods...), jobs[i].UID)); warning != "" {
			warnings = append(warnings, fmt.Sprintf("Job %s: %s", jobs[i].Name, warning))
		}
	}
	return warnings
}

// jobWarning returns why a Job of Cairn has fewer pods than it may have. It is "" if it has all, or
// no event explains it.
func (p *pass) jobWarning(ctx context.Context, job *batchv1.Job, pods []corev1.Pod) string {
	if task.TerminalCondition(job) != nil || len(pods) >= int(ptr.Deref(job.Spec.Parallelism, 1)) {
		return ""
	}
	if ptr.Deref(job.Spec.Suspend, false) {
		return "it is suspended, by a queue for example" + naming.QueueOf(job)
	}
	if !p.dueForEvents(job.CreationTimestamp.Time) {
		return ""
	}
	return p.newestWarning(ctx, job.UID, newestPod(pods))
}

// dueForEvents reports whether something that began at since has had enough time to create its
// pods. Events do not trigger a reconciliation, so it requests another one, with an interval that
// grows with the time since then.
func (p *pass) dueForEvents(since time.Time) bool {
	age := p.Clock.Since(since)
	p.requeueWithin(min(max(age/5, eventDelay), maxEventInterval))
	return age >= eventDelay
}

// newestPod returns the creation time of the newest pod, or zero if there is none.
func newestPod(pods []corev1.Pod) time.Time {
	var newest time.Time
	for _, pod := range pods {
		if pod.CreationTimestamp.After(newest) {
			newest = pod.CreationTimestamp.Time
		}
	}
	return newest
}

// newestWarning returns the newest event of type Warning about an object. Events older than after
// are ignored: their reason has passed.
func (p *pass) newestWarning(ctx context.Context, uid types.UID, after time.Time) string {
	var list corev1.EventList
	if err := p.Live.List(ctx, &list, client.InNamespace(p.job.Namespace),
		client.MatchingFields{"involvedObject.uid": string(uid), "type": corev1.EventTypeWarning}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read events")
		return ""
	}
	var newest *corev1.Event
	for i := range list.Items {
		event := &list.Items[i]
		at := eventTime(event)
		if ignoredWarnings[event.Reason] || at.Before(after.Add(-clockSlack)) {
			continue
		}
		if newest == nil || at.After(eventTime(newest)) {
			newest = event
		}
	}
	if newest == nil {
		return ""
	}
	return quote.Shorten(strings.Join(strings.Fields(newest.Message), " "), quote.MaxLength)
}

// eventTime returns the time of the last occurrence of an event.
func eventTime(event *corev1.Event) time.Time {
	latest := event.CreationTimestamp.Time
	times := []metav1.Time{event.LastTimestamp, {Time: event.EventTime.Time}}
	if event.Series != nil {
		times = append(times, metav1.Time{Time: event.Series.LastObservedTime.Time})
	}
	for _, t := range times {
		if t.After(latest) {
			latest = t.Time
		}
	}
	return latest
}

// podTrouble returns what prevents the pods of a step from starting, or from being created. It is
// "" if nothing is known. The step "" is the MPIJob.
func (p *pass) podTrouble(ctx context.Context, step string) string {
	pods, err := p.podsOf(ctx, step)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot read the pods", "step", step)
		return ""
	}
	trouble := podstatus.StartTrouble
	if step == "" {
		trouble = podstatus.OwnTrouble
	}
	found := []string{podstatus.Summary(pods, trouble)}
	if step != "" {
		found = append(found, p.jobWarnings(ctx, step, pods)...)
	}
	found = slices.DeleteFunc(found, func(s string) bool { return s == "" })
	return quote.Shorten(strings.Join(found, "; "), maxTrouble)
}
