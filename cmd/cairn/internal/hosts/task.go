package hosts

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const unknown = -1

// A Task is a process of a job as its launcher describes it.
type Task struct {
	Job   string // a name of this start of the job that no other has; "": unknown
	Rank  int    // or unknown
	Size  int    // number of tasks, or unknown
	Local int    // number of tasks on this host, or unknown
	First bool   // the lowest of its host, or unknown
}

// A launcher is recognized by its name for ranks.
type launcher struct {
	rank, size, local, localRank string
	job                          func() string
}

// launchers, those first that others may start: mpirun uses srun to reach other hosts, and what it
// starts has the variables of both.
var launchers = []launcher{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", openMPIJob},
	{"MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID", hydraJob},
	{"PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID", variables("pals", "PALS_APID")},
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE", "", "FLUX_TASK_LOCAL_ID", variables("flux", "FLUX_JOB_ID")},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "", "SLURM_LOCALID", variables("slurm", "SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_RESTART_COUNT", "SLURM_STEP_ID")},
	{"ALPS_APP_PE", "", "", "", variables("alps", "ALPS_APP_ID")},
	{"PMIX_RANK", "", "", "", variables("pmix", "PMIX_NAMESPACE")},
	{"PMI_RANK", "PMI_SIZE", "", "", variables("pmi", "PMI_JOBID")},
	{"", "", "", "", variables("batch", "PBS_JOBID", "LSB_JOBID", "SLURM_JOB_ID", "JOB_ID")},
}

// ThisTask returns what the launcher of this process says.
func ThisTask() Task {
	for _, l := range launchers {
		if l.rank != "" && os.Getenv(l.rank) == "" {
			continue
		}
		t := Task{Job: l.job(), Rank: number(l.rank), Size: number(l.size), Local: number(l.local), First: number(l.localRank) <= 0}
		if l.rank == "MPI_LOCALRANKID" {
			t.Rank = number("PMI_RANK")
		}
		if l.rank == "SLURM_PROCID" {
			t.Local = slurmTasksHere()
		}
		return t
	}
	panic("the last one needs no variable")
}

// withoutRank returns the environment of a process that is no task.
func withoutRank(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(launchers, func(l launcher) bool { return l.rank == name })
	})
}

func number(variable string) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n >= 0 {
		return n
	}
	return unknown
}

// variables returns a function that names a job by environment variables, if the last one of a
// launcher is set, or any one of a batch system.
func variables(kind string, names ...string) func() string {
	return func() string {
		words := []string{kind}
		for _, name := range names {
			if value := os.Getenv(name); value != "" {
				words = append(words, value)
			}
		}
		if len(words) == 1 {
			return ""
		}
		return strings.Join(words, "-")
	}
}

// openMPIJob names the job by the name space. That repeats where mpirun has a PID namespace of its
// own; so there are Open MPI's random key and, with Open MPI 4, the address of mpirun.
func openMPIJob() string {
	space := os.Getenv("PMIX_NAMESPACE")
	if space == "" {
		return ""
	}
	return "openmpi-" + digest(space, os.Getenv("OMPI_MCA_orte_hnp_uri"), os.Getenv("OMPI_MCA_orte_precondition_transports"))
}

// hydraJob names the job by the address of mpiexec, which Hydra's proxies have on their command
// lines. A task is a child of one, or of a shell that it started.
func hydraJob() string {
	const generations = 8
	pid := os.Getppid()
	for range generations {
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			break
		}
		words := strings.Split(string(arguments), "\x00")
		if port := following(words, "--control-port"); port != "" {
			return "hydra-" + digest(port, following(words, "--pgid"))
		}
		pid = parent(pid)
	}
	return variables("hydra", "PMI_JOBID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")()
}

func following(words []string, option string) string {
	for i, word := range words[:max(len(words)-1, 0)] {
		if word == option {
			return words[i+1]
		}
	}
	return ""
}

func parent(pid int) (found int) {
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, after, _ := strings.Cut(string(stat[strings.LastIndex(string(stat), ")")+1:]), " ")
	var state string
	_, _ = fmt.Sscan(after, &state, &found)
	return found
}

// slurmTasksHere reads Slurm's list of the step's tasks per node, such as 2(x3),1.
func slurmTasksHere() int {
	node := number("SLURM_NODEID")
	for _, group := range strings.Split(os.Getenv("SLURM_STEP_TASKS_PER_NODE"), ",") {
		tasks, repeated, _ := strings.Cut(group, "(x")
		nodes := 1
		if n, err := strconv.Atoi(strings.TrimSuffix(repeated, ")")); err == nil {
			nodes = n
		}
		if node < 0 {
			break
		}
		if node < nodes {
			if n, err := strconv.Atoi(tasks); err == nil {
				return n
			}
			break
		}
		node -= nodes
	}
	return unknown
}

// digest returns a short name of texts.
func digest(texts ...string) string {
	h := fnv.New64a()
	for _, text := range texts {
		_, _ = h.Write([]byte(text + "\x00"))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
