//go:build e2e

package e2e

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
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

// mpirun is the command line that runs a program of examples/ with n ranks. They may be more than
// this machine has cores, and jobs run side by side: computations sleep.
func (s stack) mpirun(n, program string, arguments ...string) []string {
	command := []string{"mpirun." + s.mpi, "-n", n}
	if s.mpi == "openmpi" {
		command = append(command, "--mca", "mpi_yield_when_idle", "1", "-x", "EXAMPLES_SLEEP=1")
	} else {
		command = append(command, "-genv", "EXAMPLES_SLEEP", "1")
	}
	return append(append(command, "/opt/cairn-examples/"+s.mpi+"/"+program), arguments...)
}

// spec is what the tests vary of a TracedMPIJob.
type spec struct {
	name, namespace string
	stack           stack
	program         string
	arguments       []string
	script          string // what the launcher runs instead of one mpirun, for bash
	backoffLimit    int
	restartPolicy   string // of the launcher; "" is Never
	// changes are made to the object at last: a dotted path below spec and its value.
	changes []change
}

type change struct {
	path  string
	value any
}

// Paths of the two pod templates below spec.
const (
	template         = "mpiJobTemplate.spec."
	launcherTemplate = template + "mpiReplicaSpecs.Launcher.template.spec."
	workerTemplate   = template + "mpiReplicaSpecs.Worker.template.spec."
)

const base = `apiVersion: cairn.dev/v1alpha1
kind: TracedMPIJob
spec:
  mpiJobTemplate:
    spec:
      slotsPerWorker: 2
      sshAuthMountPath: /home/mpiuser/.ssh
      launcherCreationPolicy: WaitForWorkersReady
      runPolicy: {cleanPodPolicy: None}
      mpiReplicaSpecs:
        Launcher:
          replicas: 1
          template:
            spec:
              containers:
              - name: launcher
                imagePullPolicy: IfNotPresent
                securityContext: {runAsUser: 1000}
        Worker:
          replicas: 2
          template:
            spec:
              containers:
              - name: worker
                imagePullPolicy: IfNotPresent
                securityContext: {runAsUser: 1000}
                args: [/usr/sbin/sshd, -De, -f, /home/mpiuser/.sshd_config]
                readinessProbe: {tcpSocket: {port: 2222}, periodSeconds: 1}
`

// object is a job of 2 workers × 2 slots on two nodes, by anti-affinity, as uid 1000.
func (s spec) object() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(base), &o.Object); err != nil {
		panic(err) // a mistake in the constant above
	}
	o.SetName(s.name)
	o.SetNamespace(s.namespace)
	restart := s.restartPolicy
	if restart == "" {
		restart = "Never"
	}
	command := s.stack.mpirun("4", s.program, s.arguments...)
	if s.script != "" {
		command = []string{"bash", "-ec", s.script}
	}
	set(o, template+"mpiImplementation", s.stack.implementation)
	set(o, template+"runPolicy.backoffLimit", int64(s.backoffLimit))
	set(o, template+"mpiReplicaSpecs.Launcher.restartPolicy", restart)
	set(o, launcherTemplate+"containers.0.image", s.stack.image)
	set(o, launcherTemplate+"containers.0.args", words(command))
	set(o, workerTemplate+"containers.0.image", s.stack.image)
	set(o, template+"mpiReplicaSpecs.Worker.template.metadata.labels", map[string]any{"e2e": s.name})
	set(o, workerTemplate+"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution", []any{map[string]any{
		"labelSelector": map[string]any{"matchLabels": map[string]any{"e2e": s.name}}, "topologyKey": "kubernetes.io/hostname"}})
	for _, c := range s.changes {
		set(o, c.path, c.value)
	}
	return o
}

func (s spec) manifest() string {
	raw, err := yaml.Marshal(s.object().Object)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// plain is the MPIJob without Cairn.
func (s spec) plain() string {
	traced := s.object()
	job, _, err := unstructured.NestedMap(traced.Object, "spec", "mpiJobTemplate", "spec")
	if err != nil {
		panic(err)
	}
	raw, err := yaml.Marshal(map[string]any{
		"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob",
		"metadata": map[string]any{"name": s.name, "namespace": s.namespace}, "spec": job,
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func words(of []string) []any {
	list := make([]any, len(of))
	for i, word := range of {
		list[i] = word
	}
	return list
}

// set puts a value at a dotted path below spec; a number is an index into a list that is there.
func set(o *unstructured.Unstructured, path string, value any) {
	var at any = o.Object["spec"]
	steps := strings.Split(path, ".")
	for i, step := range steps {
		last := i == len(steps)-1
		switch of := at.(type) {
		case []any:
			at = of[step[0]-'0']
		case map[string]any:
			if last {
				of[step] = value
				return
			}
			if of[step] == nil {
				of[step] = map[string]any{}
			}
			at = of[step]
		}
	}
}
