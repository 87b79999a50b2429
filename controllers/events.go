package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/quote"
)

// maxNote is the maximum length of a note in the events API.
const maxNote = 1024

// recordEvents emits an event for each condition that changed. It leaves Ready out where that only
// repeats another condition.
func (p *pass) recordEvents(before, after []metav1.Condition) {
	done := map[string]bool{}
	for _, kind := range v1alpha1.Conditions {
		condition := meta.FindStatusCondition(after, kind)
		old := meta.FindStatusCondition(before, kind)
		if condition == nil || old != nil && old.Status == condition.Status && old.Reason == condition.Reason {
			continue
		}
		if condition.Status == metav1.ConditionUnknown || condition.Message == "" || done[condition.Reason] {
			continue
		}
		done[condition.Reason] = true
		p.Events.Eventf(p.job, nil, eventType(*condition), condition.Reason, condition.Type,
			"%s", quote.Shorten(condition.Type+": "+condition.Message, maxNote))
	}
}

// troubles are the reasons that need the attention of a person.
var troubles = map[string]bool{
	v1alpha1.ReasonNameConflict:         true,
	v1alpha1.ReasonRefused:              true,
	v1alpha1.ReasonJobNeverStarted:      true,
	v1alpha1.ReasonStorageNotConfigured: true,
	v1alpha1.ReasonCredentialsMissing:   true,
	v1alpha1.ReasonAccessDenied:         true,
	v1alpha1.ReasonBucketMissing:        true,
	v1alpha1.ReasonUnreachable:          true,
	v1alpha1.ReasonStorageCheckFailed:   true,
	v1alpha1.ReasonInjectionFailed:      true,
	v1alpha1.ReasonProbeFailed:          true,
	v1alpha1.ReasonJobFailed:            true,
	v1alpha1.ReasonRanksMissing:         true,
	v1alpha1.ReasonCallsLost:            true,
	v1alpha1.ReasonTimesCoarse:          true,
	v1alpha1.ReasonNoTrace:              true,
	v1alpha1.ReasonNotTraced:            true,
	v1alpha1.ReasonMergeFailed:          true,
	v1alpha1.ReasonAnalysisFailed:       true,
	v1alpha1.ReasonInvalidTemplate:      true,
	v1alpha1.ReasonReportFailed:         true,
	v1alpha1.ReasonDeleteFailed:         true,
}

func eventType(condition metav1.Condition) string {
	probed := condition.Type == v1alpha1.ConditionTraced && condition.Status == metav1.ConditionFalse &&
		condition.Reason != v1alpha1.ReasonDisabled
	if troubles[condition.Reason] || probed {
		return corev1.EventTypeWarning
	}
	return corev1.EventTypeNormal
}
