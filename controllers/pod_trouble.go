package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// podTrouble says what keeps the pods of a step from starting; "" if nothing is
// known. The step "" is the MPIJob itself.
func (p *pass) podTrouble(ctx context.Context, step string) string {
	pods, err := p.podsOf(ctx, step)
	if err != nil {
		return ""
	}
	var troubles []string
	for _, pod := range pods {
		if trouble := startTrouble(pod); trouble != "" {
			troubles = append(troubles, fmt.Sprintf("pod %s: %s", pod.Name, trouble))
		}
	}
	slices.Sort(troubles)
	return shortened(strings.Join(troubles, "; "), 512)
}

// podsOf are the pods of a step in the cache; those of the MPIJob for "".
func (p *pass) podsOf(ctx context.Context, step string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := p.List(ctx, &list, client.InNamespace(p.job.Namespace), client.MatchingLabels(jobLabels(p.job))); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(pod corev1.Pod) bool { return pod.Labels[StepLabel] != step }), nil
}

// startTrouble is what a pod that does not start says about it.
func startTrouble(pod corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Message
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := status.State.Waiting
		if waiting == nil || waiting.Reason == "PodInitializing" || waiting.Reason == "ContainerCreating" {
			continue
		}
		return strings.TrimSuffix(fmt.Sprintf("container %s: %s: %s", status.Name, waiting.Reason, waiting.Message), ": ")
	}
	return ""
}
