package controllers

import (
	"os"
	"slices"
	"strings"
	"testing"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/inject"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// spec.tracing is passed to the probe, which writes it into the tracer's configuration.
func TestTracingReachesTheProbe(t *testing.T) {
	lossy := []string{"--timing", "lossy", "--timing-error", "5"}
	for name, test := range map[string]struct {
		tracing v1alpha1.Tracing
		want    []string
	}{
		"nothing":  {v1alpha1.Tracing{}, lossy},
		"defaults": {v1alpha1.Tracing{InitialState: v1alpha1.InitialStateOn, CallSites: v1alpha1.CallSitesCaller}, lossy},
		"lossless": {v1alpha1.Tracing{Timing: v1alpha1.Timing{Mode: v1alpha1.TimingLossless, ErrorPercent: ptr.To(int32(5))}},
			[]string{"--timing", "lossless"}},
		"aggregated": {v1alpha1.Tracing{Timing: v1alpha1.Timing{Mode: v1alpha1.TimingAggregated, ErrorPercent: ptr.To(int32(5))}},
			[]string{"--timing", "aggregated"}},
		"errors": {v1alpha1.Tracing{Timing: v1alpha1.Timing{Mode: v1alpha1.TimingLossy, ErrorPercent: ptr.To(int32(20)),
			Functions: []v1alpha1.FunctionTiming{{Name: "MPI_Barrier", ErrorPercent: 1}}}},
			[]string{"--timing", "lossy", "--timing-error", "20", "--timing-error", "MPI_Barrier=1"}},
		"control": {v1alpha1.Tracing{InitialState: v1alpha1.InitialStateOff, Exclude: []v1alpha1.FunctionGroup{"io", "query"}},
			append(slices.Clone(lossy), "--exclude", "io", "--exclude", "query", "--start-off")},
		"include": {v1alpha1.Tracing{Include: []v1alpha1.FunctionGroup{"p2p"}}, append(slices.Clone(lossy), "--include", "p2p")},
		"no call sites": {v1alpha1.Tracing{CallSites: v1alpha1.CallSitesNone},
			append(slices.Clone(lossy), "--call-sites", "none")},
		"call paths and pointers": {v1alpha1.Tracing{CallSites: v1alpha1.CallSitesPath, Pointers: true},
			append(slices.Clone(lossy), "--call-sites", "path", "--pointers")},
	} {
		tracer, why := tracerSettings(&test.tracing, &mpiv2beta1.MPIJobSpec{})
		require.Empty(t, why, name)
		require.Equal(t, test.want, settings.Arguments(tracer), name)

		container := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app"}}}}
		spec, err := inject.MPIJob(&mpiv2beta1.MPIJobSpec{MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{
			mpiv2beta1.MPIReplicaTypeLauncher: {Template: container}, mpiv2beta1.MPIReplicaTypeWorker: {Template: container},
		}}, inject.Options{Image: "cairn", StoreURL: "s3://b/p", S3: &v1alpha1.S3Storage{Bucket: "b"}, SpoolSizeLimit: resource.MustParse("1Gi"), Tracer: tracer})
		require.NoError(t, err)
		for role, replica := range spec.MPIReplicaSpecs {
			probe := slices.IndexFunc(replica.Template.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == inject.ProbeContainer })
			require.GreaterOrEqual(t, probe, 0, role)
			command := strings.Join(replica.Template.Spec.InitContainers[probe].Command, " ")
			require.Regexp(t, `probe --root /cairn --spool-limit-bytes \d+ `+strings.Join(test.want, " ")+"$", command, "%s of %s", name, role)
		}
	}
}

// Clustering is passed to the probe only if all ranks run in one image.
func TestClusteringReachesTheProbe(t *testing.T) {
	job := func(launcher, worker string) *mpiv2beta1.MPIJobSpec {
		replica := func(image string) *mpiv2beta1.ReplicaSpec {
			return &mpiv2beta1.ReplicaSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "helper", Image: "helper"}, {Name: "app", Image: image}}}}}
		}
		return &mpiv2beta1.MPIJobSpec{MPIReplicaSpecs: map[mpiv2beta1.MPIReplicaType]*mpiv2beta1.ReplicaSpec{
			mpiv2beta1.MPIReplicaTypeLauncher: replica(launcher), mpiv2beta1.MPIReplicaTypeWorker: replica(worker),
		}}
	}
	flags := func(tracing *v1alpha1.Tracing, spec *mpiv2beta1.MPIJobSpec) ([]string, string) {
		tracing.Timing.Mode = v1alpha1.TimingLossless
		tracer, why := tracerSettings(tracing, spec)
		return settings.Arguments(tracer)[2:], why
	}
	clustered := v1alpha1.Tracing{Mode: v1alpha1.TracingClustered, ContainerName: ptr.To("app"), Clustering: &v1alpha1.Clustering{
		Arguments: v1alpha1.ClusteringArgumentsIgnored, Frames: ptr.To(int32(2)), WaitSeconds: ptr.To(int32(30))}}

	arguments, why := flags(&clustered, job("app:1", "app:1"))
	require.Empty(t, why)
	require.Equal(t, []string{"--mode", "clustered", "--clustering", "arguments=ignored", "--clustering", "frames=2", "--clustering", "wait=30"}, arguments)

	arguments, why = flags(&clustered, job("app:1", "app:2"))
	require.Empty(t, arguments)
	require.Contains(t, why, "app:1, app:2")

	clustered.Clustering = nil
	arguments, _ = flags(&clustered, job("app:1", "app:1"))
	require.Equal(t, []string{"--mode", "clustered"}, arguments)

	arguments, why = flags(&v1alpha1.Tracing{Mode: v1alpha1.TracingEnabled}, job("app:1", "app:2"))
	require.Empty(t, arguments)
	require.Empty(t, why)
}

// The resource and the tracer have the same values.
func TestValuesOfTheResource(t *testing.T) {
	raw, err := os.ReadFile("../config/crd/cairn.dev_tracedmpijobs.yaml")
	require.NoError(t, err)
	var crd apiextensions.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(raw, &crd))
	tracing := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["tracing"].Properties
	values := func(schema apiextensions.JSONSchemaProps) []string {
		var found []string
		for _, value := range schema.Enum {
			found = append(found, strings.ToLower(strings.Trim(string(value.Raw), `"`)))
		}
		return found
	}
	of := func(key string) []string { return settings.Named(key).Flags[0].Values }
	require.ElementsMatch(t, of("call_sites"), values(tracing["callSites"]))
	require.ElementsMatch(t, of("timing"), values(tracing["timing"].Properties["mode"]))
	require.ElementsMatch(t, of("include"), values(*tracing["include"].Items.Schema))
	require.ElementsMatch(t, of("exclude"), values(*tracing["exclude"].Items.Schema))
	// disabled: there is no tracer
	modes := map[string]string{"enabled": "full", "clustered": "clustered"}
	for _, mode := range values(tracing["mode"]) {
		if mode != "disabled" {
			require.Contains(t, of("mode"), modes[mode])
			delete(modes, mode)
		}
	}
	require.Empty(t, modes)
}
