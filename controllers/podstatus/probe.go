package podstatus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/api/messages"
	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/controllers/quote"
)

// RankPods returns the pods that run ranks: the workers, and the launcher if it is a worker, too,
// or the only pod.
func RankPods(pods []corev1.Pod, spec *mpiv2beta1.MPIJobSpec) []corev1.Pod {
	launcherToo := ptr.Deref(spec.RunLauncherAsWorker, false) || spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeWorker] == nil
	return slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return IsLauncher(pod) && !launcherToo
	})
}

// IsLauncher reports whether a pod belongs to a launcher.
func IsLauncher(pod corev1.Pod) bool {
	return pod.Labels[mpiv2beta1.JobRoleLabel] == "launcher"
}

// ProbeVerdict summarizes the probes of pods. One pod that cannot be traced makes the job
// untraceable. The status is Unknown while a probe is missing.
func ProbeVerdict(pods []corev1.Pod) (status metav1.ConditionStatus, reason, message string) {
	status = metav1.ConditionUnknown
	slices.SortFunc(pods, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	for _, pod := range pods {
		answer, ok := readVerdict(pod)
		switch {
		case !ok:
		case !answer.Traceable:
			return metav1.ConditionFalse, string(answer.Reason), fmt.Sprintf("pod %s: %s", pod.Name, answer.Message)
		case status == metav1.ConditionUnknown:
			status, reason = metav1.ConditionTrue, v1alpha1.ReasonTraceable
			message = fmt.Sprintf("%s, %s, %s", answer.MPI, answer.Libc, answer.Architecture)
		}
	}
	return status, reason, message
}

// readProbe returns the result of a pod's probe. ok is false until the probe has ended.
func readProbe(pod corev1.Pod) (answer messages.Probe, ok bool) {
	for _, status := range pod.Status.InitContainerStatuses {
		ended := status.State.Terminated
		if status.Name != inject.ProbeContainer || ended == nil {
			continue
		}
		if !messages.Decode(ended.Message, &answer) {
			answer = messages.Probe{Reason: v1alpha1.ReasonProbeFailed, Message: "the probe" +
				cmp.Or(endTrouble(&pod, status.Name, ended), " ended without a result: "+quote.Termination(ended.Message))}
		}
		if !answer.Traceable && !reasonPattern.MatchString(string(answer.Reason)) {
			answer.Reason = v1alpha1.ReasonProbeFailed
		}
		answer.Message = quote.Shorten(strings.TrimSuffix(answer.Message, ": "), quote.MaxLength)
		return answer, true
	}
	return answer, false
}

// readVerdict returns the result of a pod's probe or, if the probe has none, why the installation
// before it failed: on a full volume there may be no probe. ok is false until the probe has ended.
func readVerdict(pod corev1.Pod) (answer messages.Probe, ok bool) {
	answer, ok = readProbe(pod)
	if !ok || answer.Reason != v1alpha1.ReasonProbeFailed {
		return answer, ok
	}
	for _, status := range pod.Status.InitContainerStatuses {
		ended := status.State.Terminated
		var failed messages.Probe
		if status.Name == inject.InstallContainer && ended != nil && messages.Decode(ended.Message, &failed) &&
			!failed.Traceable && reasonPattern.MatchString(string(failed.Reason)) {
			return failed.Fit(), true
		}
	}
	return answer, true
}

// reasonPattern matches what the API accepts as a condition's reason.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
