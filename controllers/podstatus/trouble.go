package podstatus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/controllers/naming"
	"github.com/cairn-mpi/cairn/controllers/quote"
)

const (
	// maxNamedPods limits the pods that are named for the same trouble, and the number of different
	// troubles.
	maxNamedPods = 3
)

// Summary names the first pods of each trouble and counts the others.
func Summary(pods []corev1.Pod, trouble func(corev1.Pod) string) string {
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	var texts []string
	of := map[string][]string{}
	for i := range pods {
		if text := trouble(pods[i]); text != "" {
			if of[text] == nil {
				texts = append(texts, text)
			}
			of[text] = append(of[text], pods[i].Name)
		}
	}
	var parts []string
	more := 0
	for i, text := range texts {
		if i < maxNamedPods {
			parts = append(parts, podNames(of[text])+": "+quote.Shorten(text, quote.MaxLength))
		} else {
			more += len(of[text])
		}
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more pods with other problems", more))
	}
	return strings.Join(parts, "; ")
}

// podNames names the first pods: "pods a, b, c and 61 more".
func podNames(names []string) string {
	switch more := len(names) - maxNamedPods; {
	case len(names) == 1:
		return "pod " + names[0]
	case more > 0:
		return fmt.Sprintf("pods %s and %d more", strings.Join(names[:maxNamedPods], ", "), more)
	default:
		return "pods " + strings.Join(names, ", ")
	}
}

// OwnTrouble returns a pod's trouble, unless the cluster ended the pod: status.podFailures records
// that.
func OwnTrouble(pod corev1.Pod) string {
	if how, _ := Disruption(&pod); how != "" {
		return ""
	}
	return StartTrouble(pod)
}

// StartTrouble returns why a pod does not start, from its status.
func StartTrouble(pod corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		return pod.Status.Reason + ": " + strings.TrimRight(pod.Status.Message, " .")
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if trouble := containerTrouble(&pod, &status); trouble != "" {
			return "container " + status.Name + trouble
		}
	}
	return ""
}

// containerTrouble returns the container's name with the reason why it does not start, or how it
// ended too early. It is "" if there is no problem.
func containerTrouble(pod *corev1.Pod, status *corev1.ContainerStatus) string {
	if ended := status.State.Terminated; ended != nil {
		return endTrouble(pod, status.Name, ended)
	}
	waiting := status.State.Waiting
	if waiting == nil || waiting.Reason == "" || waiting.Reason == "PodInitializing" || waiting.Reason == "ContainerCreating" {
		return ""
	}
	if last := status.LastTerminationState.Terminated; last != nil {
		if trouble := endTrouble(pod, status.Name, last); trouble != "" {
			return trouble + fmt.Sprintf(" (%s, started %d times)", waiting.Reason, status.RestartCount+1)
		}
	}
	return strings.TrimSuffix(": "+waiting.Reason+": "+waiting.Message, ": ")
}

// endTrouble returns the container's name with a description of its failure, or "" for a successful
// end.
func endTrouble(pod *corev1.Pod, container string, ended *corev1.ContainerStateTerminated) string {
	words := ""
	if ourContainer(pod, container) {
		// The application's output stays in its own log.
		words = quote.Termination(ended.Message)
	}
	switch {
	case ended.ExitCode == 0:
		return ""
	case ended.Reason == ReasonOOMKilled:
		return " ran out of memory" + MemoryLimit(pod, container)
	case ended.Reason != "" && ended.Reason != "Error" && ended.Reason != "Completed":
		// StartError and ContainerCannotRun have a message of the container runtime.
		return strings.TrimSuffix(fmt.Sprintf(": %s: %s", ended.Reason, quote.Termination(ended.Message)), ": ")
	default:
		return strings.TrimSuffix(fmt.Sprintf(" exited with code %d: %s", ended.ExitCode, words), ": ")
	}
}

// ReasonOOMKilled is the kubelet's reason for a container that the kernel killed for lack of
// memory.
const ReasonOOMKilled = "OOMKilled"

// ourContainer reports whether a container is one of Cairn's, so that its messages may be quoted.
func ourContainer(pod *corev1.Pod, name string) bool {
	return pod.Labels[naming.StepLabel] != "" || strings.HasPrefix(name, "cairn-")
}

// MemoryLimit returns the memory limit of a container, in parentheses, or "" if it has none.
func MemoryLimit(pod *corev1.Pod, container string) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if limit, limited := c.Resources.Limits[corev1.ResourceMemory]; c.Name == container && limited {
			return fmt.Sprintf(" (limit %s)", limit.String())
		}
	}
	return ""
}
