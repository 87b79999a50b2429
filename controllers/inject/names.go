package inject

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cairn-mpi/cairn/controllers/container"
)

// Names of the init containers. The operator reads the status of ProbeContainer.
const (
	InstallContainer = "cairn-install"
	ProbeContainer   = "cairn-probe"
	ShipContainer    = "cairn-ship"
	FetchContainer   = "cairn-fetch"
)

// The volume of the tracer, and its mount paths.
const (
	toolsVolume    = "cairn"
	toolsPath      = "/cairn"
	spoolPath      = "/cairn/spool"
	spoolSubPath   = "spool"
	preloadPath    = "/etc/ld.so.preload"
	preloadSubPath = "ld.so.preload"
)

// The volume for record buffers, a tmpfs, and its mount path.
const (
	buffersVolume = "cairn-buffers"
	buffersPath   = "/cairn-buffers"
)

// The volume of the trace that is re-executed, and its mount paths.
const (
	replayVolume = "cairn-replay"
	replayPath   = "/cairn-replay"
	replayTrace  = replayPath + "/trace.cairn"
)

var (
	ourContainers = []string{InstallContainer, ProbeContainer, ShipContainer, FetchContainer}
	ourVolumes    = append([]string{toolsVolume, buffersVolume, replayVolume}, container.Volumes...)
)

// removeOurs removes what an earlier injection added to a pod.
func removeOurs(pod *corev1.PodSpec) {
	pod.InitContainers = slices.DeleteFunc(pod.InitContainers, func(c corev1.Container) bool {
		return slices.Contains(ourContainers, c.Name)
	})
	pod.Volumes = slices.DeleteFunc(pod.Volumes, func(v corev1.Volume) bool {
		return slices.Contains(ourVolumes, v.Name)
	})
	for i := range pod.Containers {
		c := &pod.Containers[i]
		c.VolumeMounts = slices.DeleteFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
			return slices.Contains(ourVolumes, m.Name)
		})
		removeReplay(c)
	}
}

// conflicts returns an error for each object of the user with a name or path that Cairn needs.
func conflicts(pod *corev1.PodSpec, target *corev1.Container, path *field.Path) field.ErrorList {
	const taken = "Cairn needs this name"
	var errs field.ErrorList
	for i, c := range pod.InitContainers {
		if slices.Contains(ourContainers, c.Name) {
			errs = append(errs, field.Invalid(path.Child("initContainers").Index(i).Child("name"), c.Name, taken))
		}
	}
	for i, c := range pod.Containers {
		if slices.Contains(ourContainers, c.Name) {
			errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("name"), c.Name, taken))
		}
	}
	for i, v := range pod.Volumes {
		if slices.Contains(ourVolumes, v.Name) {
			errs = append(errs, field.Invalid(path.Child("volumes").Index(i).Child("name"), v.Name, taken))
		}
	}
	errs = append(errs, foreignMounts(pod, path)...)
	if target == nil {
		return errs
	}
	index := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == target.Name })
	for i, m := range target.VolumeMounts {
		if overlaps(m.MountPath) {
			errs = append(errs, field.Invalid(path.Child("containers").Index(index).Child("volumeMounts").Index(i).Child("mountPath"),
				m.MountPath, "Cairn must mount "+toolsPath+", "+buffersPath+", "+preloadPath+" and, to re-execute a trace, "+replayPath))
		}
	}
	return errs
}

// foreignMounts returns an error for each mount of Cairn's volumes by the user's containers: it
// would expose the storage's key, or make the libraries replaceable that every program of the pod
// loads.
func foreignMounts(pod *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(path *field.Path, mounts []corev1.VolumeMount, devices []corev1.VolumeDevice) {
		for i, m := range mounts {
			if slices.Contains(ourVolumes, m.Name) {
				errs = append(errs, field.Invalid(path.Child("volumeMounts").Index(i).Child("name"), m.Name, "this volume is Cairn's; only its own containers may mount it"))
			}
		}
		for i, d := range devices {
			if slices.Contains(ourVolumes, d.Name) {
				errs = append(errs, field.Invalid(path.Child("volumeDevices").Index(i).Child("name"), d.Name, "this volume is Cairn's"))
			}
		}
	}
	for i, c := range pod.InitContainers {
		check(path.Child("initContainers").Index(i), c.VolumeMounts, c.VolumeDevices)
	}
	for i, c := range pod.Containers {
		check(path.Child("containers").Index(i), c.VolumeMounts, c.VolumeDevices)
	}
	for i, c := range pod.EphemeralContainers {
		check(path.Child("ephemeralContainers").Index(i), c.VolumeMounts, c.VolumeDevices)
	}
	return errs
}

// overlaps reports whether a mount hides one of Cairn's, or would have to contain it.
func overlaps(mountPath string) bool {
	mountPath = strings.TrimRight(mountPath, "/") + "/"
	for _, ours := range []string{toolsPath + "/", buffersPath + "/", preloadPath + "/", replayPath + "/"} {
		if strings.HasPrefix(mountPath, ours) || strings.HasPrefix(ours, mountPath) {
			return true
		}
	}
	return false
}
