package inject

import (
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
)

// replayRank is the program that each rank runs instead of the user's. Flags and the trace follow.
var replayRank = []string{replayPath + "/cairn", "replay-rank"}

// injectReplay makes a pod fetch the trace and the programs that execute it, and appends the
// re-execution to the launcher's command. Only the init container has the storage's key; ranks read
// a file.
func injectReplay(pod *corev1.PodSpec, target *corev1.Container, role mpiv2beta1.MPIReplicaType, options Options) {
	pod.InitContainers = append(pod.InitContainers, fetchContainer(pod, options))
	pod.Volumes = append(pod.Volumes, corev1.Volume{
		Name: replayVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	})
	target.VolumeMounts = append(target.VolumeMounts, corev1.VolumeMount{Name: replayVolume, MountPath: replayPath, ReadOnly: true})
	if role != mpiv2beta1.MPIReplicaTypeLauncher {
		return
	}
	if len(target.Command)+len(target.Args) == 0 {
		target.Args = []string{"mpirun"}
	}
	target.Args = slices.Concat(target.Args, replayRank, replayFlags(options.Replay), []string{replayTrace})
}

// replayFlags returns the options of `cairn replay-rank`.
func replayFlags(replay *v1alpha1.Replay) []string {
	var flags []string
	if replay.Compute != "" {
		flags = append(flags, "--compute", strings.ToLower(string(replay.Compute)))
	}
	if percent := replay.ComputePercent; percent != nil && *percent != 100 {
		flags = append(flags, "--compute-scale", strconv.FormatFloat(float64(*percent)/100, 'g', -1, 64))
	}
	if replay.MemoryLimit != nil {
		flags = append(flags, "--memory", strconv.FormatInt(replay.MemoryLimit.Value(), 10))
	}
	return flags
}

// removeReplay removes the re-execution from the end of a command.
func removeReplay(c *corev1.Container) {
	for i := range c.Args {
		if i+len(replayRank) <= len(c.Args) && slices.Equal(c.Args[i:i+len(replayRank)], replayRank) {
			c.Args = c.Args[:i:i]
			break
		}
	}
	if len(c.Command) == 0 && slices.Equal(c.Args, []string{"mpirun"}) {
		c.Args = nil
	}
}

// fetchContainer copies the trace from storage. It fails if that is not possible, since there is
// nothing to run then.
func fetchContainer(pod *corev1.PodSpec, options Options) corev1.Container {
	return corev1.Container{
		Name:            FetchContainer,
		Image:           options.Image,
		ImagePullPolicy: options.PullPolicy,
		Args:            []string{"fetch", "--replayers", options.Replay.Trace, replayTrace},
		Env:             container.StorageEnv(options.S3),
		VolumeMounts: append([]corev1.VolumeMount{{Name: replayVolume, MountPath: replayPath}},
			container.StorageMounts(options.S3)...),
		Resources:                shortResources(pod),
		SecurityContext:          container.RestrictedAs(ourUser(pod, options)),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// shells take a whole command line as one argument, so nothing can be appended.
var shells = []string{"sh", "bash", "dash", "ash", "zsh"}

// noRoomForReplay returns an error for a command to which nothing can be appended.
func noRoomForReplay(launcher *corev1.Container, at *field.Path) field.ErrorList {
	line := slices.Concat(launcher.Command, launcher.Args)
	if len(line) > 1 && slices.Contains(shells, path.Base(line[0])) && slices.Contains(line[1:], "-c") {
		return field.ErrorList{field.Invalid(at.Child("command"), line[0],
			"with spec.replay the launcher's command must be mpirun and its options, without a shell: the re-execution follows it as the program")}
	}
	return nil
}
