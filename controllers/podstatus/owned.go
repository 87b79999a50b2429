package podstatus

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ControlledBy returns the pods with a controller among owners.
func ControlledBy(pods []corev1.Pod, owners ...types.UID) []corev1.Pod {
	return slices.DeleteFunc(pods, func(pod corev1.Pod) bool {
		owner := metav1.GetControllerOf(&pod)
		return owner == nil || !slices.Contains(owners, owner.UID)
	})
}
