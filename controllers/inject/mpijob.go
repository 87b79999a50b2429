package inject

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// Options are what MPIJob adds, and how.
type Options struct {
	// Image is Cairn's image.
	Image string
	// PullPolicy is the pull policy of Cairn's image.
	PullPolicy corev1.PullPolicy
	// PullSecrets are the pull secrets for Cairn's image, in addition to those of the pods.
	PullSecrets []corev1.LocalObjectReference
	// RunAsUser is the user and group of Cairn's containers, except for the probe, which has the
	// application's. nil leaves it to the cluster. If a container of the pod has this user, Cairn's
	// containers use another one.
	RunAsUser *int64
	// ContainerName is the name of the container that runs MPI; "" is the first container.
	ContainerName string
	// StoreURL is the URL that the sidecar sends traces to.
	StoreURL string
	// S3 is the storage and how to reach it.
	S3 *v1alpha1.S3Storage
	// Labels are added to every pod.
	Labels map[string]string
	// SpoolSizeLimit is the size of the spool of one pod.
	SpoolSizeLimit resource.Quantity
	// GracePeriodSeconds is the minimum grace period of the pods.
	GracePeriodSeconds int64
	// Tracer has the tracer's settings, except those of the spool.
	Tracer settings.Settings
	// Replay is the trace that is re-executed instead of a program; nil: none.
	Replay *v1alpha1.Replay
	// Resources of the sidecar. Missing values get defaults.
	Resources corev1.ResourceRequirements
}

// InjectedAnnotation marks pod templates with the tracer in them. In a template without it, an
// object with one of Cairn's names is the user's.
const InjectedAnnotation = "cairn.dev/injected"

// MPIJob returns spec with the tracer in its launcher and workers. The error names the fields of
// the user's specification that conflict with it. spec itself is never changed.
func MPIJob(spec *mpiv2beta1.MPIJobSpec, options Options) (*mpiv2beta1.MPIJobSpec, error) {
	injected := spec.DeepCopy()
	var errs field.ErrorList
	for _, role := range []mpiv2beta1.MPIReplicaType{mpiv2beta1.MPIReplicaTypeLauncher, mpiv2beta1.MPIReplicaTypeWorker} {
		replica := injected.MPIReplicaSpecs[role]
		if replica == nil {
			continue
		}
		path := field.NewPath("mpiReplicaSpecs").Key(string(role)).Child("template")
		errs = append(errs, injectPod(&replica.Template, role, ptr.Deref(spec.SlotsPerWorker, 1), options, path)...)
	}
	if err := errs.ToAggregate(); err != nil {
		return nil, err
	}
	if launcher := injected.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeLauncher]; launcher != nil {
		setPRTEEnv(injected, &launcher.Template.Spec)
	}
	return injected, nil
}
