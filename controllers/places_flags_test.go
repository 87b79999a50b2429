package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

func TestCallSitesAndPointersReachTheProbe(t *testing.T) {
	require.Empty(t, probeFlags(&v1alpha1.Tracing{CallSites: v1alpha1.CallSitesCaller}))
	require.Equal(t, []string{"--call-sites", "none"}, probeFlags(&v1alpha1.Tracing{CallSites: v1alpha1.CallSitesNone}))
	require.Equal(t, []string{"--call-sites", "path", "--pointers"},
		probeFlags(&v1alpha1.Tracing{CallSites: v1alpha1.CallSitesPath, Pointers: true}))
}
