package inject

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/controllers/container"
)

const (
	// defaultGracePeriodSeconds is Kubernetes' default.
	defaultGracePeriodSeconds = 30
)

// toolsSize is the space for what cairn-install copies, in addition to the spool.
var toolsSize = resource.MustParse("256Mi")

// injectPod adds the tracer to a pod template. The user's init containers come first, so that the
// probe sees what they write into the pod's volumes. The user's containers keep their order,
// because mpi-operator modifies the first one.
func injectPod(template *corev1.PodTemplateSpec, role mpiv2beta1.MPIReplicaType, slots int32, options Options, path *field.Path) field.ErrorList {
	pod := &template.Spec
	if template.Annotations[InjectedAnnotation] != "" {
		removeOurs(pod)
	}
	target, errs := targetContainer(pod, options.ContainerName, path.Child("spec"))
	errs = append(errs, conflicts(pod, target, path.Child("spec"))...)
	errs = append(errs, exposed(pod, options, path.Child("spec"))...)
	if options.Replay != nil && target != nil && role == mpiv2beta1.MPIReplicaTypeLauncher {
		errs = append(errs, noRoomForReplay(target, path.Child("spec", "containers").Key(target.Name))...)
	}
	if len(errs) > 0 {
		return errs
	}

	installer := installContainer(pod, options)
	prober := probeContainer(pod, target, slots, options)
	shipper := shipContainer(pod, target, role, slots, options)
	pod.InitContainers = append(pod.InitContainers, installer, prober, shipper)
	injectBuffers(pod, target, slots)
	if options.Replay != nil {
		injectReplay(pod, target, role, options)
	}

	target.VolumeMounts = append(target.VolumeMounts,
		corev1.VolumeMount{Name: toolsVolume, MountPath: toolsPath, ReadOnly: true},
		corev1.VolumeMount{Name: toolsVolume, MountPath: spoolPath, SubPath: spoolSubPath},
		corev1.VolumeMount{Name: toolsVolume, MountPath: preloadPath, SubPath: preloadSubPath, ReadOnly: true},
	)

	size := options.SpoolSizeLimit.DeepCopy()
	size.Add(toolsSize)
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name:         toolsVolume,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &size}},
	})
	pod.Volumes = append(pod.Volumes, container.StorageVolumes(options.S3)...)

	pod.TerminationGracePeriodSeconds = ptr.To(gracePeriod(pod, options))
	for _, secret := range options.PullSecrets {
		if !slices.Contains(pod.ImagePullSecrets, secret) {
			pod.ImagePullSecrets = append(pod.ImagePullSecrets, secret)
		}
	}

	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	maps.Copy(template.Labels, options.Labels)
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[InjectedAnnotation] = "true"
	return nil
}

// gracePeriod returns the pod's termination grace period in seconds.
func gracePeriod(pod *corev1.PodSpec, options Options) int64 {
	return max(ptr.Deref(pod.TerminationGracePeriodSeconds, defaultGracePeriodSeconds), options.GracePeriodSeconds)
}

// targetContainer returns the container that runs MPI.
func targetContainer(pod *corev1.PodSpec, name string, path *field.Path) (*corev1.Container, field.ErrorList) {
	path = path.Child("containers")
	if len(pod.Containers) == 0 {
		return nil, field.ErrorList{field.Required(path, "there is no container to trace")}
	}
	if name == "" {
		return &pod.Containers[0], nil
	}
	names := make([]string, len(pod.Containers))
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return &pod.Containers[i], nil
		}
		names[i] = pod.Containers[i].Name
	}
	return nil, field.ErrorList{field.NotSupported(path.Child("name"), name, names)}
}
