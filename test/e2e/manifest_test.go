//go:build e2e

package e2e

import (
	"fmt"
	"strings"
)

// stack is one way to run the examples: an image and the MPI in it.
type stack struct {
	name, image, mpi, implementation string
}

var stacks = []stack{
	{"openmpi4", "localhost/cairn-demo:bookworm", "openmpi", "OpenMPI"},
	{"mpich", "localhost/cairn-demo:bookworm", "mpich", "MPICH"},
	{"openmpi5", "localhost/cairn-demo:trixie", "openmpi", "OpenMPI"},
}

// spec is what the tests vary of a TracedMPIJob.
type spec struct {
	name, namespace string
	stack           stack
	program         string
	arguments       []string
	backoffLimit    int
	restartPolicy   string // of the launcher; "" is Never
	extra           string // more of the TracedMPIJob's spec, indented by two
}

// manifest writes a job of 2 workers × 2 slots on two nodes, by anti-affinity, as uid 1000.
func (s spec) manifest() string {
	restart := s.restartPolicy
	if restart == "" {
		restart = "Never"
	}
	command := []string{"mpirun." + s.stack.mpi, "-n", "4"}
	if s.stack.mpi == "openmpi" {
		command = append(command, "--mca", "mpi_yield_when_idle", "1")
	}
	command = append(append(command, "/opt/cairn-examples/"+s.stack.mpi+"/"+s.program), s.arguments...)
	quoted := make([]string, len(command))
	for i, word := range command {
		quoted[i] = fmt.Sprintf("%q", word)
	}
	return fmt.Sprintf(`apiVersion: cairn.dev/v1alpha1
kind: TracedMPIJob
metadata: {name: %[1]s, namespace: %[2]s}
spec:
%[9]s
  mpiJobTemplate:
    spec:
      slotsPerWorker: 2
      mpiImplementation: %[3]s
      sshAuthMountPath: /home/mpiuser/.ssh
      launcherCreationPolicy: WaitForWorkersReady
      runPolicy: {cleanPodPolicy: None, backoffLimit: %[4]d}
      mpiReplicaSpecs:
        Launcher:
          replicas: 1
          restartPolicy: %[5]s
          template:
            spec:
              containers:
              - name: launcher
                image: %[6]s
                imagePullPolicy: IfNotPresent
                securityContext: {runAsUser: 1000}
                args: [%[7]s]
        Worker:
          replicas: 2
          template:
            metadata: {labels: {e2e: %[1]s}}
            spec:
              affinity:
                podAntiAffinity:
                  requiredDuringSchedulingIgnoredDuringExecution:
                  - {labelSelector: {matchLabels: {e2e: %[1]s}}, topologyKey: kubernetes.io/hostname}
              containers:
              - name: worker
                image: %[6]s
                imagePullPolicy: IfNotPresent
                securityContext: {runAsUser: 1000}
                args: [/usr/sbin/sshd, -De, -f, /home/mpiuser/.sshd_config]
                readinessProbe: {tcpSocket: {port: 2222}, periodSeconds: 1}
%[8]s`, s.name, s.namespace, s.stack.implementation, s.backoffLimit, restart, s.stack.image, strings.Join(quoted, ", "), "", s.extra)
}
