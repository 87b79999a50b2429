package controllers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cairn-mpi/cairn/api/messages"
)

// outcome is what became of a Job of ours.
type outcome struct {
	// finished for good; the other fields are meaningless before.
	finished bool
	// ended is when.
	ended time.Time
	// succeeded says that every index did.
	succeeded bool
	// successes counts the indexes of which a pod succeeded.
	successes int
	// messages are the termination messages, by index (0 in a plain Job): of the pod
	// that succeeded, else of the one that failed last.
	messages map[int32]string
	// failed are the indexes without success.
	failed map[int32]failure
	// reason of the Job's failure, in its own words.
	reason string
}

// failure is how the last pod of an index ended.
type failure struct {
	exitCode    int32
	outOfMemory bool
	message     string
}

func (f failure) String() string {
	if f.outOfMemory {
		return "out of memory"
	}
	return cmp.Or(terminationWords(f.message), fmt.Sprintf("exit code %d", f.exitCode))
}

func podsOutcome(ctx context.Context, reader client.Reader, job *batchv1.Job) (outcome, error) {
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(job.Namespace),
		client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return outcome{}, err
	}
	return readPods(controlledBy(pods.Items, job.UID)), nil
}

// terminalCondition is the condition that ends a Job; nil while it runs.
func terminalCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

func readPods(pods []corev1.Pod) outcome {
	o := outcome{messages: map[int32]string{}, failed: map[int32]failure{}}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	succeeded := map[int32]bool{}
	for _, pod := range pods {
		index := podIndex(pod)
		if succeeded[index] {
			continue
		}
		ended := endOf(pod)
		if ended == nil || ended.ExitCode != 0 {
			if how, why := disruption(&pod); how != "" {
				o.failed[index] = failure{message: strings.TrimSuffix(fmt.Sprintf("pod %s %s: %s", pod.Name, how, why), ": ")}
				continue
			}
		}
		if ended == nil {
			continue
		}
		message := strings.TrimSpace(ended.Message)
		o.messages[index] = message
		if ended.ExitCode == 0 {
			succeeded[index] = true
			o.successes++
			o.ended = later(o.ended, ended.FinishedAt.Time)
			delete(o.failed, index)
			continue
		}
		o.failed[index] = failure{
			exitCode: ended.ExitCode, message: message,
			outOfMemory: ended.Reason == reasonOOMKilled || ended.ExitCode == messages.ExitKilled,
		}
	}
	return o
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func podIndex(pod corev1.Pod) int32 {
	index, err := strconv.ParseInt(cmp.Or(pod.Labels[batchv1.JobCompletionIndexAnnotation],
		pod.Annotations[batchv1.JobCompletionIndexAnnotation]), 10, 32)
	if err != nil {
		return 0
	}
	return int32(index)
}

func terminated(pod corev1.Pod, name string) *corev1.ContainerStateTerminated {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == name {
			return status.State.Terminated
		}
	}
	return nil
}

// outOfMemory says whether any index failed for lack of memory.
func (o outcome) outOfMemory() bool {
	for _, f := range o.failed {
		if f.outOfMemory {
			return true
		}
	}
	return false
}

// String says why the Job failed.
func (o outcome) String() string {
	var parts []string
	for _, index := range slices.Sorted(maps.Keys(o.failed)) {
		parts = append(parts, o.failed[index].String())
	}
	parts = slices.Compact(parts)
	if len(parts) == 0 {
		return o.reason
	}
	return strings.Join(parts, "; ")
}
