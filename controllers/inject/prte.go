package inject

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	mpiv2beta1 "github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
)

// setPRTEEnv gives Open MPI 5 the settings that mpi-operator gives Open MPI 4. Without them mpirun
// starts all ranks in the launcher, and the job still looks successful (kubeflow/mpi-operator#842).
// Variables that the user set stay.
func setPRTEEnv(spec *mpiv2beta1.MPIJobSpec, pod *corev1.PodSpec) {
	if spec.MPIImplementation != "" && spec.MPIImplementation != mpiv2beta1.MPIImplementationOpenMPI {
		return
	}
	// The hostfile is mounted into the first container, whichever one is traced.
	launcher := &pod.Containers[0]
	for _, env := range []corev1.EnvVar{
		{Name: "PRTE_MCA_prte_keep_fqdn_hostnames", Value: "true"},
		{Name: "PRTE_MCA_prte_default_hostfile", Value: "/etc/mpi/hostfile"},
		{Name: "PRTE_MCA_plm_ssh_args", Value: "-o ConnectionAttempts=10"},
		{Name: "PRTE_MCA_prte_set_default_slots", Value: strconv.Itoa(int(ptr.Deref(spec.SlotsPerWorker, 1)))},
	} {
		if !slices.ContainsFunc(launcher.Env, func(e corev1.EnvVar) bool { return e.Name == env.Name }) {
			launcher.Env = append(launcher.Env, env)
		}
	}
}
