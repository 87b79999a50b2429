package inject

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"

	"github.com/cairn-mpi/cairn/api/v1alpha1"
	"github.com/cairn-mpi/cairn/controllers/container"
)

var update = flag.Bool("update", false, "write the golden files")

func options() Options {
	return Options{
		Image:              "registry.example/cairn:1",
		PullPolicy:         corev1.PullIfNotPresent,
		StoreURL:           "s3://traces/default/job/uid",
		S3:                 &v1alpha1.S3Storage{Endpoint: "http://minio:9000", Bucket: "traces", CredentialsSecretName: "cairn-storage"},
		Labels:             map[string]string{"cairn.dev/job": "job"},
		SpoolSizeLimit:     resource.MustParse("2Gi"),
		GracePeriodSeconds: 120,
		RunAsUser:          ptr.To(container.DefaultUser),
	}
}

func read(t *testing.T, path string) *mpiv2beta1.MPIJobSpec {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	spec := &mpiv2beta1.MPIJobSpec{}
	require.NoError(t, yaml.UnmarshalStrict(raw, spec), path)
	return spec
}

// TestGolden compares testdata/NAME.in.yaml, injected, with testdata/NAME.out.yaml
// (`go test ./controllers/inject -update` writes those).
func TestGolden(t *testing.T) {
	change := map[string]func(*Options){
		"container-name": func(o *Options) { o.ContainerName = "mpi" },
		"replay": func(o *Options) {
			half, limit := int32(50), resource.MustParse("256Mi")
			o.Replay = &v1alpha1.Replay{Trace: "s3://traces/default/job/uid/0/0/trace.cairn", Compute: v1alpha1.ReplaySleep, ComputePercent: &half, MemoryLimit: &limit}
		},
		"replay-empty": func(o *Options) { o.Replay = &v1alpha1.Replay{Trace: "s3://traces/a/trace.cairn"} },
		"storage-options": func(o *Options) {
			yes := true
			o.S3.PathStyle, o.S3.Region, o.S3.CASecretName = &yes, "eu-central-1", "store-ca"
			o.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
		},
	}
	inputs, err := filepath.Glob("testdata/*.in.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, input := range inputs {
		name := strings.TrimSuffix(filepath.Base(input), ".in.yaml")
		t.Run(name, func(t *testing.T) {
			o := options()
			if change[name] != nil {
				change[name](&o)
			}
			spec := read(t, input)
			before := spec.DeepCopy()
			injected, err := MPIJob(spec, o)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(before, spec), "the input was changed")

			again, err := MPIJob(injected, o)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(injected, again), "a second application changed something")

			got, err := yaml.Marshal(injected)
			require.NoError(t, err)
			golden := strings.Replace(input, ".in.", ".out.", 1)
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(string(want), string(got)))
		})
	}
}

// TestNothingOfTheUsersIsLost removes Cairn's part again.
func TestNothingOfTheUsersIsLost(t *testing.T) {
	spec := read(t, "testdata/own-settings.in.yaml")
	injected, err := MPIJob(spec, options())
	require.NoError(t, err)
	for role, replica := range injected.MPIReplicaSpecs {
		removeOurs(&replica.Template.Spec)
		user := spec.MPIReplicaSpecs[role].Template.Spec
		got := replica.Template.Spec
		require.Empty(t, cmp.Diff(user.InitContainers, got.InitContainers, cmpopts.EquateEmpty()))
		require.Empty(t, cmp.Diff(user.Volumes, got.Volumes, cmpopts.EquateEmpty()))
		for i := range user.Containers {
			require.Empty(t, cmp.Diff(user.Containers[i].VolumeMounts, got.Containers[i].VolumeMounts, cmpopts.EquateEmpty()))
			require.Subset(t, got.Containers[i].Env, user.Containers[i].Env)
			got.Containers[i].VolumeMounts, got.Containers[i].Env = user.Containers[i].VolumeMounts, user.Containers[i].Env
			require.Equal(t, user.Containers[i], got.Containers[i])
		}
	}
}

func TestConflicts(t *testing.T) {
	const worker = "mpiReplicaSpecs[Worker].template.spec."
	for _, test := range []struct {
		name   string
		change func(*corev1.PodSpec, *Options)
		want   string
	}{
		{"volume", func(p *corev1.PodSpec, _ *Options) {
			p.Volumes = append(p.Volumes, corev1.Volume{Name: "cairn"})
		}, worker + "volumes[0].name"},
		{"credentials volume", func(p *corev1.PodSpec, _ *Options) {
			p.Volumes = append(p.Volumes, corev1.Volume{Name: "cairn-credentials"})
		}, worker + "volumes[0].name"},
		{"init container", func(p *corev1.PodSpec, _ *Options) {
			p.InitContainers = append(p.InitContainers, corev1.Container{Name: "cairn-ship"})
		}, worker + "initContainers[0].name"},
		{"container", func(p *corev1.PodSpec, _ *Options) {
			p.Containers = append(p.Containers, corev1.Container{Name: "cairn-probe"})
		}, worker + "containers[1].name"},
		{"mount of the tracer", func(p *corev1.PodSpec, _ *Options) {
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "x", MountPath: "/x"}, {Name: "cairn", MountPath: "/rw"}}
		}, worker + `containers[0].volumeMounts[1].name: Invalid value: "cairn"`},
		{"mount of the key", func(p *corev1.PodSpec, _ *Options) {
			p.Containers = append(p.Containers, corev1.Container{Name: "other", VolumeMounts: []corev1.VolumeMount{{Name: "cairn-credentials", MountPath: "/stolen"}}})
		}, worker + "containers[1].volumeMounts[0].name"},
		{"mount of the key by an init container", func(p *corev1.PodSpec, _ *Options) {
			p.InitContainers = append(p.InitContainers, corev1.Container{Name: "other", VolumeMounts: []corev1.VolumeMount{{Name: "cairn-credentials", MountPath: "/stolen"}}})
		}, worker + "initContainers[0].volumeMounts[0].name"},
		{"mount of the key by an ephemeral container", func(p *corev1.PodSpec, _ *Options) {
			other := corev1.EphemeralContainer{}
			other.Name, other.VolumeMounts = "other", []corev1.VolumeMount{{Name: "cairn-ca", MountPath: "/stolen"}}
			p.EphemeralContainers = append(p.EphemeralContainers, other)
		}, worker + "ephemeralContainers[0].volumeMounts[0].name"},
		{"volume as device", func(p *corev1.PodSpec, _ *Options) {
			p.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "cairn", DevicePath: "/dev/x"}}
		}, worker + "containers[0].volumeDevices[0].name"},
		{"shared processes, image's user", func(p *corev1.PodSpec, _ *Options) {
			p.ShareProcessNamespace = ptr.To(true)
		}, worker + "shareProcessNamespace: Forbidden: container worker could read the storage's key"},
		{"shared processes, root", func(p *corev1.PodSpec, _ *Options) {
			p.ShareProcessNamespace, p.SecurityContext = ptr.To(true), &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](0)}
		}, "root may become any user"},
		{"shared processes, one container is root", func(p *corev1.PodSpec, _ *Options) {
			p.ShareProcessNamespace, p.SecurityContext = ptr.To(true), &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000)}
			p.InitContainers = []corev1.Container{
				{Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), SecurityContext: &corev1.SecurityContext{RunAsUser: ptr.To[int64](0)}}}
		}, "container side could read"},
		{"shared processes, privileged", func(p *corev1.PodSpec, _ *Options) {
			p.ShareProcessNamespace = ptr.To(true)
			p.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](1000), Privileged: ptr.To(true)}
		}, "it is privileged"},
		{"processes of the node, the cluster's user", func(p *corev1.PodSpec, o *Options) {
			p.HostPID, p.SecurityContext, o.RunAsUser = true, &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1000)}, nil
		}, worker + "hostPID: Forbidden"},
		{"mount of the preload file", func(p *corev1.PodSpec, _ *Options) {
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "x", MountPath: "/etc/ld.so.preload"}}
		}, worker + "containers[0].volumeMounts[0].mountPath"},
		{"mount of /etc", func(p *corev1.PodSpec, _ *Options) {
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "x", MountPath: "/etc/"}}
		}, worker + "containers[0].volumeMounts[0].mountPath"},
		{"mount below /cairn", func(p *corev1.PodSpec, _ *Options) {
			p.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "x", MountPath: "/cairn/data"}}
		}, worker + "containers[0].volumeMounts[0].mountPath"},
		{"unknown container", func(_ *corev1.PodSpec, o *Options) { o.ContainerName = "mpi" }, worker + `containers.name: Unsupported value: "mpi"`},
		{"no container", func(p *corev1.PodSpec, _ *Options) { p.Containers = nil }, worker + "containers: Required"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec, o := read(t, "testdata/plain.in.yaml"), options()
			test.change(&spec.MPIReplicaSpecs["Worker"].Template.Spec, &o)
			_, err := MPIJob(spec, o)
			require.ErrorContains(t, err, test.want)
		})
	}
	t.Run("neighbors are no conflict", func(t *testing.T) {
		spec := read(t, "testdata/plain.in.yaml")
		spec.MPIReplicaSpecs["Worker"].Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{
			{Name: "x", MountPath: "/cairns"}, {Name: "x", MountPath: "/etc/mpi"}, {Name: "x", MountPath: "/etc/ld.so.preload.d"},
		}
		_, err := MPIJob(spec, options())
		require.NoError(t, err)
	})
}

// TestNewOptionsReplaceOld: what an operator of another version added is replaced.
func TestNewOptionsReplaceOld(t *testing.T) {
	spec := read(t, "testdata/plain.in.yaml")
	old := options()
	old.Image = "registry.example/cairn:0"
	first, err := MPIJob(spec, old)
	require.NoError(t, err)
	second, err := MPIJob(first, options())
	require.NoError(t, err)
	fresh, err := MPIJob(spec, options())
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(fresh, second))
}

// sidecarUsers are the users of the containers that have Cairn's image.
func sidecarUsers(t *testing.T, change func(*corev1.PodSpec, *Options)) (users []*int64) {
	t.Helper()
	spec, o := read(t, "testdata/plain.in.yaml"), options()
	change(&spec.MPIReplicaSpecs["Worker"].Template.Spec, &o)
	injected, err := MPIJob(spec, o)
	require.NoError(t, err)
	for _, c := range injected.MPIReplicaSpecs["Worker"].Template.Spec.InitContainers {
		if c.Name == InstallContainer || c.Name == ShipContainer {
			require.Equal(t, c.SecurityContext.RunAsUser, c.SecurityContext.RunAsGroup)
			require.True(t, *c.SecurityContext.RunAsNonRoot)
			users = append(users, c.SecurityContext.RunAsUser)
		}
	}
	require.Len(t, users, 2)
	require.Equal(t, users[0], users[1], "the sidecar owns the spool that the installation makes")
	return users
}

// TestUserOfSidecar: whatever user the pod has, the sidecar has another.
func TestUserOfSidecar(t *testing.T) {
	pod := func(user int64) *corev1.PodSecurityContext { return &corev1.PodSecurityContext{RunAsUser: &user} }
	for _, test := range []struct {
		name   string
		change func(*corev1.PodSpec, *Options)
		want   *int64
	}{
		{"nothing said", func(*corev1.PodSpec, *Options) {}, ptr.To[int64](65532)},
		{"a user", func(p *corev1.PodSpec, _ *Options) { p.SecurityContext = pod(1000) }, ptr.To[int64](65532)},
		{"root", func(p *corev1.PodSpec, _ *Options) { p.SecurityContext = pod(0) }, ptr.To[int64](65532)},
		{"ours", func(p *corev1.PodSpec, _ *Options) { p.SecurityContext = pod(65532) }, ptr.To[int64](65533)},
		{"ours, and the next one", func(p *corev1.PodSpec, _ *Options) {
			p.SecurityContext = pod(65533)
			p.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](65532)}
		}, ptr.To[int64](65534)},
		{"the cluster's", func(p *corev1.PodSpec, o *Options) { p.SecurityContext, o.RunAsUser = pod(1000), nil }, nil},
		{"the cluster's, root", func(p *corev1.PodSpec, o *Options) { p.SecurityContext, o.RunAsUser = pod(0), nil }, ptr.To[int64](65532)},
		{"shared processes, users of their own", func(p *corev1.PodSpec, _ *Options) {
			p.SecurityContext, p.ShareProcessNamespace = pod(65532), ptr.To(true)
		}, ptr.To[int64](65533)},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, sidecarUsers(t, test.change)[0]) })
	}
}

// TestPullSecrets: Cairn's image may need a pull secret that the job's pods do not have.
func TestPullSecrets(t *testing.T) {
	spec, o := read(t, "testdata/own-settings.in.yaml"), options()
	o.PullSecrets = []corev1.LocalObjectReference{{Name: "ours"}, {Name: "pull"}, {Name: "ours"}}
	injected, err := MPIJob(spec, o)
	require.NoError(t, err)
	require.Equal(t, []corev1.LocalObjectReference{{Name: "pull"}, {Name: "ours"}}, injected.MPIReplicaSpecs["Launcher"].Template.Spec.ImagePullSecrets)
	require.Equal(t, []corev1.LocalObjectReference{{Name: "ours"}, {Name: "pull"}}, injected.MPIReplicaSpecs["Worker"].Template.Spec.ImagePullSecrets)
	again, err := MPIJob(injected, o)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(injected, again))
}

// TestEnvironmentOfProbe: the probe gets the variables that lead to an MPI, no Secrets, and no
// devices.
func TestEnvironmentOfProbe(t *testing.T) {
	env := probeEnv(&corev1.Container{Env: []corev1.EnvVar{
		{Name: "NVIDIA_VISIBLE_DEVICES", Value: "all"}, {Name: "PATH", Value: "/nfs/mpi/bin"}, {Name: "MPI_HOME", Value: "$(ROOT)/mpi"},
		{Name: "LD_LIBRARY_PATH", ValueFrom: &corev1.EnvVarSource{}}, {Name: "OPAL_PREFIX", Value: "/opt/openmpi"}, {Name: "TOKEN", Value: "x"},
	}})
	require.Equal(t, []corev1.EnvVar{
		{Name: "NVIDIA_VISIBLE_DEVICES", Value: "void"}, {Name: "PATH", Value: "/nfs/mpi/bin"}, {Name: "OPAL_PREFIX", Value: "/opt/openmpi"},
	}, env)
}

// A shell's command line is one argument, so nothing can be appended: such a launcher cannot start
// a re-execution.
func TestReplayNeedsABareMpirun(t *testing.T) {
	o := options()
	o.Replay = &v1alpha1.Replay{Trace: "s3://traces/a/trace.cairn"}
	spec := read(t, "testdata/replay.in.yaml")
	launcher := &spec.MPIReplicaSpecs[mpiv2beta1.MPIReplicaTypeLauncher].Template.Spec.Containers[0]
	launcher.Command, launcher.Args = []string{"/bin/sh", "-c"}, []string{"mpirun -np 4"}
	_, err := MPIJob(spec, o)
	require.ErrorContains(t, err, "mpiReplicaSpecs[Launcher].template.spec.containers[launcher].command")
	require.ErrorContains(t, err, "without a shell")

	launcher.Command, launcher.Args = []string{"/usr/local/bin/start.sh"}, nil
	_, err = MPIJob(spec, o)
	require.NoError(t, err, "a script of the user's may pass its arguments on")
}
