package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
)

// clusteringFlags are the probe's for a job whose ranks are clustered while they run. All ranks must be traced then, or
// MPI_Init would wait for ever (docs/decisions/0060-online-clustering.md): a probe sees its own pod only, so launcher and
// workers must have one image. If they have not, why says so, and every rank is recorded by itself.
func clusteringFlags(tracing *v1alpha1.Tracing, spec *mpiv2beta1.MPIJobSpec) (flags []string, why string) {
	if tracing.Mode != v1alpha1.TracingClustered {
		return nil, ""
	}
	image := ""
	for _, role := range []mpiv2beta1.MPIReplicaType{mpiv2beta1.MPIReplicaTypeLauncher, mpiv2beta1.MPIReplicaTypeWorker} {
		replica := spec.MPIReplicaSpecs[role]
		if replica == nil {
			continue
		}
		of := imageOf(&replica.Template.Spec, ptr.Deref(tracing.ContainerName, ""))
		if image == "" {
			image = of
		}
		if of != image {
			return nil, fmt.Sprintf("launcher and workers run MPI in different images (%s, %s): mode Clustered needs one for all ranks, so every rank is recorded by itself", image, of)
		}
	}
	flags = []string{"--mode", "clustered"}
	if c := tracing.Clustering; c != nil {
		if c.Arguments == v1alpha1.ClusteringArgumentsIgnored {
			flags = append(flags, "--clustering", "arguments=ignored")
		}
		if n := ptr.Deref(c.Frames, 0); n > 0 {
			flags = append(flags, "--clustering", fmt.Sprintf("frames=%d", n))
		}
		if n := ptr.Deref(c.WaitSeconds, 0); n > 0 {
			flags = append(flags, "--clustering", fmt.Sprintf("wait=%d", n))
		}
	}
	return flags, ""
}

// imageOf is the image of the container that runs MPI.
func imageOf(pod *corev1.PodSpec, name string) string {
	for i := range pod.Containers {
		if c := &pod.Containers[i]; name == "" || c.Name == name {
			return c.Image
		}
	}
	return ""
}
