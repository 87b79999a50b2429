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

// Options say what to put into an MPIJob.
type Options struct {
	// Image is Cairn's image.
	Image string
	// PullPolicy of Cairn's image.
	PullPolicy corev1.PullPolicy
	// PullSecrets for it, besides those of the pods.
	PullSecrets []corev1.LocalObjectReference
	// RunAsUser is the user and group of Cairn's containers, but for the probe, which
	// has the application's; nil leaves it to the cluster. Where a container of the pod
	// has this user, Cairn's have the next one.
	RunAsUser *int64
	// ContainerName is the container that runs MPI; "" is the first.
	ContainerName string
	// StoreURL is where the sidecar sends traces.
	StoreURL string
	// S3 says how to reach it.
	S3 *v1alpha1.S3Storage
	// Labels of every pod.
	Labels map[string]string
	// SpoolSizeLimit is the size of the spool of one pod.
	SpoolSizeLimit resource.Quantity
	// GracePeriodSeconds is the least time a pod has to end.
	GracePeriodSeconds int64
	// Tracer is what the tracer is told, but for its spool.
	Tracer settings.Settings
	// Replay is the trace that is re-executed in place of a program; nil: none is.
	Replay *v1alpha1.Replay
	// Resources of the sidecar; what is not set gets a default.
	Resources corev1.ResourceRequirements
}

// InjectedAnnotation marks pod templates that have the tracer in them. In a
// template without it, an object that has one of Cairn's names is the user's.
const InjectedAnnotation = "cairn.dev/injected"

// MPIJob is spec with the tracer in its launcher and workers. The error names the
// fields of the user's specification that leave no room for it; spec itself is
// never changed.
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
