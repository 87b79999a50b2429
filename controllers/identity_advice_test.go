package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// TestWebIdentity: Cairn's pods get a token instead of a Secret, and the advice for the
// administrator does not mention a Secret.
func TestWebIdentity(t *testing.T) {
	s := newStage(t)
	s.settings.Storage.WebIdentity = &v1alpha1.WebIdentity{RoleARN: "arn:aws:iam::1:role/traces"}
	// the API server's admission names the default one, which the test's API server lacks
	s.apply(func(j *v1alpha1.TracedMPIJob) { j.Spec.Merge.PodTemplate.ServiceAccountName = "default" })
	s.settle()
	name := s.jobNames()[0]
	check := s.batchJob(name)
	spec := check.Spec.Template.Spec
	require.False(t, *spec.AutomountServiceAccountToken, "no token for the API server")
	var tokens []*corev1.ServiceAccountTokenProjection
	for _, volume := range spec.Volumes {
		require.Nil(t, volume.Secret, "no Secret is needed")
		if volume.Projected != nil {
			tokens = append(tokens, volume.Projected.Sources[0].ServiceAccountToken)
		}
	}
	require.Len(t, tokens, 1)
	require.Equal(t, v1alpha1.DefaultTokenAudience, tokens[0].Audience)

	s.ends(name, pod{exitCode: 69, message: `{"reason":"AccessDenied","message":"the STS gives no keys"}`})
	s.settle()
	message := s.expect("StorageReady", isFalse, "AccessDenied")
	require.Contains(t, message, "system:serviceaccount:"+s.namespace+":*")
	require.Contains(t, message, "arn:aws:iam::1:role/traces")
	require.Contains(t, message, "s3://traces/lab/"+s.namespace+"/ (the STS gives no keys)")
	require.NotContains(t, message, "secret")
}
