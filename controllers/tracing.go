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

// tracerSettings converts spec.tracing to settings of the tracer. Values have the same names there,
// in lower case. why says which setting was not applied and for what reason; it is "" if all were.
func tracerSettings(tracing *v1alpha1.Tracing, spec *mpiv2beta1.MPIJobSpec) (s settings.Settings, why string) {
	s.Timing = timingSetting(&tracing.Timing)
	s.Include, s.Exclude = groupsSetting(tracing.Include), groupsSetting(tracing.Exclude)
	s.StartOff = tracing.InitialState == v1alpha1.InitialStateOff
	s.CallSites = strings.ToLower(string(tracing.CallSites))
	s.Pointers = tracing.Pointers
	s.Mode, why = modeSetting(tracing, spec)
	return s, why
}

// timingSetting returns the text that trace.ParseTimingSettings parses.
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

// modeSetting returns the mode of the tracer. If ranks are clustered at run time, all of them must
// be traced, or MPI_Init would never return (docs/decisions/0060-online-clustering.md). A probe
// sees only its own pod, so launcher and workers must have the same image. If they do not, every
// rank is recorded by itself and why says so.
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
			return "", fmt.Sprintf("launcher and workers run MPI in different images (%s, %s): mode Clustered needs the same image for all ranks, so every rank is recorded by itself", image, of)
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

// imageOf returns the image of the container that runs MPI.
func imageOf(pod *corev1.PodSpec, name string) string {
	for i := range pod.Containers {
		if c := &pod.Containers[i]; name == "" || c.Name == name {
			return c.Image
		}
	}
	return ""
}
