package controllers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// Only what needs the attention of a person is a warning. A job that is not traced needs it, unless
// that is what was asked for.
func TestEventTypes(t *testing.T) {
	for _, c := range []struct {
		kind   string
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		{v1alpha1.ConditionTraced, metav1.ConditionFalse, "AProbesReason", corev1.EventTypeWarning},
		{v1alpha1.ConditionTraced, metav1.ConditionFalse, v1alpha1.ReasonDisabled, corev1.EventTypeNormal},
		{v1alpha1.ConditionTraced, metav1.ConditionTrue, "AProbesReason", corev1.EventTypeNormal},
		{v1alpha1.ConditionJobFinished, metav1.ConditionFalse, v1alpha1.ReasonJobRunning, corev1.EventTypeNormal},
		{v1alpha1.ConditionJobFinished, metav1.ConditionTrue, v1alpha1.ReasonJobFailed, corev1.EventTypeWarning},
		{v1alpha1.ConditionJobFinished, metav1.ConditionTrue, v1alpha1.ReasonJobSucceeded, corev1.EventTypeNormal},
		{v1alpha1.ConditionStorageReady, metav1.ConditionFalse, v1alpha1.ReasonAccessDenied, corev1.EventTypeWarning},
	} {
		condition := metav1.Condition{Type: c.kind, Status: c.status, Reason: c.reason}
		assert.Equal(t, c.want, eventType(condition), "%+v", c)
	}
}
