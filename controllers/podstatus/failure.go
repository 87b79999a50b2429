package podstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/controllers/quote"
)

// MaxPodFailures is the maximum number of lines in status.podFailures.
const MaxPodFailures = 16

// ObservePodFailures adds the failures that pods show to those that were seen before. Pods that
// were evicted or preempted, and containers that ran out of memory, are often gone when the job
// ends, although they are the reason why it ended.
func ObservePodFailures(seen []string, pods []corev1.Pod) []string {
	failures := slices.Clone(seen)
	for i := range pods {
		for _, line := range podFailures(&pods[i]) {
			if !slices.Contains(failures, line) {
				failures = append(failures, line)
			}
		}
	}
	if len(failures) > MaxPodFailures {
		failures = failures[:MaxPodFailures] // the first ones are closest to the cause
	}
	return failures
}

// podFailures describes the failures of a pod, in the words of the component that ended it.
func podFailures(pod *corev1.Pod) []string {
	var lines []string
	if how, why := Disruption(pod); how != "" {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("pod %s %s: %s", pod.Name, how, quote.Shorten(why, quote.MaxLength/2)), ": "))
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, ended := range []*corev1.ContainerStateTerminated{status.State.Terminated, status.LastTerminationState.Terminated} {
			if ended != nil && ended.Reason == ReasonOOMKilled {
				lines = append(lines, fmt.Sprintf("pod %s: container %s ran out of memory%s", pod.Name, status.Name, MemoryLimit(pod, status.Name)))
			}
		}
	}
	return slices.Compact(lines)
}

// Disruption returns how the cluster ended a pod, and why. how is "" if it did not.
func Disruption(pod *corev1.Pod) (how, why string) {
	if pod.Status.Reason == "Evicted" {
		return "was evicted", strings.TrimRight(pod.Status.Message, " .")
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return "was ended by the cluster (" + c.Reason + ")", strings.TrimRight(c.Message, " .")
		}
	}
	return "", ""
}

// BoundedLines returns the first lines, and a line with the number of the others.
func BoundedLines(lines []string) []string {
	if more := len(lines) - maxNamedPods; more > 0 {
		return append(slices.Clone(lines[:maxNamedPods]), fmt.Sprintf("and %d more in status.podFailures", more))
	}
	return lines
}
