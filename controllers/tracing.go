package controllers

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// tracerSettings are what spec.tracing says to the tracer. Values have the same names there, in lower case. why says what
// of it the tracer is not told, and for what reason; "" if all.
func tracerSettings(tracing *v1alpha1.Tracing, spec *mpiv2beta1.MPIJobSpec) (s settings.Settings, why string) {
	s.Timing = timingSetting(&tracing.Timing)
	s.Include, s.Exclude = groupsSetting(tracing.Include), groupsSetting(tracing.Exclude)
	s.StartOff = tracing.InitialState == v1alpha1.InitialStateOff
	s.CallSites = strings.ToLower(string(tracing.CallSites))
	s.Pointers = tracing.Pointers
	s.Mode, why = modeSetting(tracing, spec)
	return s, why
}

// timingSetting is the text that trace.ParseTimingSettings reads.
func timingSetting(t *v1alpha1.Timing) string {
	switch t.Mode {
	case v1alpha1.TimingLossless, v1alpha1.TimingAggregated:
		return strings.ToLower(string(t.Mode))
	}
	text := fmt.Sprintf("lossy %d", ptr.Deref(t.ErrorPercent, 5))
	for _, f := range t.Functions {
		text += fmt.Sprintf(" %s=%d", f.Name, f.ErrorPercent)
	}
	return text
}

func groupsSetting(groups []v1alpha1.FunctionGroup) string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = string(g)
	}
	return strings.Join(names, ",")
}

// modeSetting is that of a job whose ranks are clustered while they run. All ranks must be traced then, or MPI_Init would
// wait for ever (docs/decisions/0060-online-clustering.md): a probe sees its own pod only, so launcher and workers must
// have one image. If they have not, why says so, and every rank is recorded by itself.
func modeSetting(tracing *v1alpha1.Tracing, spec *mpiv2beta1.MPIJobSpec) (mode, why string) {
	if tracing.Mode != v1alpha1.TracingClustered {
		return "", ""
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
			return "", fmt.Sprintf("launcher and workers run MPI in different images (%s, %s): mode Clustered needs one for all ranks, so every rank is recorded by itself", image, of)
		}
	}
	mode = "clustered"
	if c := tracing.Clustering; c != nil {
		if c.Arguments == v1alpha1.ClusteringArgumentsIgnored {
			mode += " arguments=ignored"
		}
		if n := ptr.Deref(c.Frames, 0); n > 0 {
			mode += fmt.Sprintf(" frames=%d", n)
		}
		if n := ptr.Deref(c.WaitSeconds, 0); n > 0 {
			mode += fmt.Sprintf(" wait=%d", n)
		}
	}
	return mode, ""
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
