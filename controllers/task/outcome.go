package task

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
	"github.com/cairn-mpi/cairn/controllers/podstatus"
	"github.com/cairn-mpi/cairn/controllers/quote"
)

// Outcome is the result of a Job.
type Outcome struct {
	// Finished is true if the Job has ended permanently. The other fields have no meaning before.
	Finished bool
	// Ended is the time of the end.
	Ended time.Time
	// Succeeded is true if every index succeeded.
	Succeeded bool
	// Successes is the number of indexes with a successful pod.
	Successes int
	// Messages are the termination messages, by index (0 in a plain Job): of the pod that
	// succeeded, or else of the one that failed last.
	Messages map[int32]string
	// Failed are the indexes without success.
	Failed map[int32]Failure
	// Reason is the reason of the Job's failure, in its own words.
	Reason string
}

// Failure is how the last pod of an index ended.
type Failure struct {
	ExitCode    int32
	OutOfMemory bool // according to the kubelet
	Message     string
}

func (f Failure) String() string {
	if f.OutOfMemory {
		return "out of memory"
	}
	return cmp.Or(quote.Termination(f.Message), fmt.Sprintf("exit code %d", f.ExitCode))
}

// PodsOutcome returns what the pods of a Job report, even before the Job has ended.
func PodsOutcome(ctx context.Context, reader client.Reader, job *batchv1.Job) (Outcome, error) {
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(job.Namespace),
		client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return Outcome{}, err
	}
	return ReadPods(podstatus.ControlledBy(pods.Items, job.UID)), nil
}

// TerminalCondition returns the condition that ends a Job, or nil while it runs.
func TerminalCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// ReadPods returns what the pods of a Job report.
func ReadPods(pods []corev1.Pod) Outcome {
	o := Outcome{Messages: map[int32]string{}, Failed: map[int32]Failure{}}
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
			if how, why := podstatus.Disruption(&pod); how != "" {
				o.Failed[index] = Failure{Message: strings.TrimSuffix(fmt.Sprintf("pod %s %s: %s", pod.Name, how, why), ": ")}
				continue
			}
		}
		if ended == nil {
			continue
		}
		message := strings.TrimSpace(ended.Message)
		o.Messages[index] = message
		if ended.ExitCode == 0 {
			succeeded[index] = true
			o.Successes++
			o.Ended = later(o.Ended, ended.FinishedAt.Time)
			delete(o.Failed, index)
			continue
		}
		o.Failed[index] = Failure{
			ExitCode: ended.ExitCode, Message: message,
			OutOfMemory: ended.Reason == podstatus.ReasonOOMKilled,
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

// Killed reports whether any index was killed, for lack of memory or for another reason: more
// memory is worth a try.
func (o Outcome) Killed() bool {
	for _, f := range o.Failed {
		if f.OutOfMemory || f.ExitCode == messages.ExitKilled {
			return true
		}
	}
	return false
}

// String returns why the Job failed.
func (o Outcome) String() string {
	var parts []string
	for _, index := range slices.Sorted(maps.Keys(o.Failed)) {
		parts = append(parts, o.Failed[index].String())
	}
	parts = slices.Compact(parts)
	if len(parts) == 0 {
		return o.Reason
	}
	return strings.Join(parts, "; ")
}
