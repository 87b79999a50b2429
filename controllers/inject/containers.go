package inject

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	"k8s.io/utils/ptr"

	"github.com/cairn-mpi/cairn/controllers/container"
	"github.com/cairn-mpi/cairn/tracer/settings"
)

// installContainer copies the tracer into the pod.
func installContainer(pod *corev1.PodSpec, options Options) corev1.Container {
	return corev1.Container{
		Name:            InstallContainer,
		Image:           options.Image,
		ImagePullPolicy: options.PullPolicy,
		Args: []string{"install", "--to", toolsPath,
			"--spool-limit-bytes", strconv.FormatInt(spoolLimit(options.SpoolSizeLimit), 10)},
		VolumeMounts:    []corev1.VolumeMount{{Name: toolsVolume, MountPath: toolsPath}},
		Resources:       shortResources(pod),
		SecurityContext: container.RestrictedAs(ourUser(pod, options)),
	}
}

// probeContainer examines the user's image, as the user and with the volumes that MPI will have. It
// must never fail: a worker with a failed init container never becomes ready, and nothing reports
// that.
func probeContainer(pod *corev1.PodSpec, target *corev1.Container, slots int32, options Options) corev1.Container {
	security := container.Restricted()
	security.RunAsNonRoot = nil
	if of := target.SecurityContext; of != nil {
		security.RunAsNonRoot = of.RunAsNonRoot
		security.RunAsUser = of.RunAsUser
		security.RunAsGroup = of.RunAsGroup
		security.SELinuxOptions = of.SELinuxOptions
	}
	tracer := options.Tracer
	tracer.SpoolLimitBytes = spoolShare(options.SpoolSizeLimit, slots)
	return corev1.Container{
		Name:            ProbeContainer,
		Image:           target.Image,
		ImagePullPolicy: target.ImagePullPolicy,
		Command:         append([]string{toolsPath + "/cairn", "probe", "--root", toolsPath}, settings.Arguments(tracer)...),
		Env:             probeEnv(target),
		VolumeMounts: append(readOnlyMounts(target),
			corev1.VolumeMount{Name: toolsVolume, MountPath: toolsPath}),
		Resources:       shortResources(pod),
		SecurityContext: security,
	}
}

// spoolLimit is how many bytes of a pod's spool all ranks together may use: tracing must stop
// before the kubelet evicts the pod for it.
func spoolLimit(size resource.Quantity) int64 { return size.Value() / 10 * 9 }

// probed are the variables through which the probe finds an MPI, and what musl preloads.
var probed = []string{"LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", "I_MPI_ROOT", "OPAL_PREFIX", "MPI_HOME"}

// probeEnv returns the part of the container's environment that the probe gets. It must not
// activate NVIDIA's runtime hook: many images request devices in their environment, and on a node
// without them, or with another driver, the container would not start.
func probeEnv(target *corev1.Container) []corev1.EnvVar {
	env := []corev1.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", Value: "void"}}
	for _, e := range target.Env {
		if slices.Contains(probed, e.Name) && e.ValueFrom == nil && !strings.Contains(e.Value, "$(") {
			env = append(env, e)
		}
	}
	return env
}

// spoolShare is how many bytes one rank may use if the spool has no account that all ranks share.
func spoolShare(size resource.Quantity, slots int32) int64 {
	return spoolLimit(size) / int64(max(slots, 1))
}

// readOnlyMounts returns the mounts of a container as read-only ones: MPI is often installed on one
// of these volumes. A path that depends on the container's environment is left out.
func readOnlyMounts(target *corev1.Container) []corev1.VolumeMount {
	var mounts []corev1.VolumeMount
	for _, m := range target.VolumeMounts {
		if slices.Contains(ourVolumes, m.Name) || m.SubPathExpr != "" {
			continue
		}
		mounts = append(mounts, corev1.VolumeMount{
			Name: m.Name, MountPath: m.MountPath, SubPath: m.SubPath, ReadOnly: true,
		})
	}
	return mounts
}

// shipContainer sends traces to storage as long as the pod exists. It has no readiness probe, since
// mpi-operator may wait for the pod to become ready.
func shipContainer(pod *corev1.PodSpec, target *corev1.Container, role mpiv2beta1.MPIReplicaType, slots int32, options Options) corev1.Container {
	resources := shipResources(pod, slots, options)
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path},
		}}
	}
	env := []corev1.EnvVar{
		field("CAIRN_POD_NAME", "metadata.name"),
		field("CAIRN_POD_UID", "metadata.uid"),
		field("CAIRN_POD_NAMESPACE", "metadata.namespace"),
		field("CAIRN_NODE_NAME", "spec.nodeName"),
		{Name: "CAIRN_POD_ROLE", Value: strings.ToLower(string(role))},
		{Name: "CAIRN_APPLICATION_IMAGE", Value: target.Image},
	}
	env = append(env, container.StorageEnv(options.S3)...)
	env = append(env, container.MemoryEnv(resources)...)
	return corev1.Container{
		Name:            ShipContainer,
		Image:           options.Image,
		ImagePullPolicy: options.PullPolicy,
		Args: []string{"ship", "--spool", spoolPath, "--store", options.StoreURL,
			"--grace", strconv.FormatInt(gracePeriod(pod, options), 10),
			"--spool-limit-bytes", strconv.FormatInt(spoolLimit(options.SpoolSizeLimit), 10)},
		Env:           env,
		RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		VolumeMounts: append([]corev1.VolumeMount{
			{Name: toolsVolume, MountPath: toolsPath, ReadOnly: true},
			{Name: toolsVolume, MountPath: spoolPath, SubPath: spoolSubPath},
		}, container.StorageMounts(options.S3)...),
		Resources:       resources,
		SecurityContext: container.RestrictedAs(ourUser(pod, options)),
	}
}
