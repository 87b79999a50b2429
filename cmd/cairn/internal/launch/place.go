package launch

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A CommandLine is that of a launcher, with the places where programs stand in it.
type CommandLine struct {
	words    []string
	launcher int   // index of the launcher
	programs []int // indices of programs
	values   map[string]int
	hosts    []string
}

// wrappers are commands that may stand in front of a launcher.
var wrappers = []string{"env", "timeout", "nice", "ionice", "time", "stdbuf", "numactl", "taskset"}

// Options that have values in the following words, with their number: those of mpirun and mpiexec
// in all their forms, where two that have the same option mean the same, and those of srun and
// flux. They begin with one dash or two.
var (
	mpirunValues = valuesOf(
		// Open MPI 4 and 5
		`am app bind-to c np cf cartofile cpu-list cpu-set cpus-per-proc cpus-per-rank debugger default-hostfile H host hnp
		hostfile launch-agent machinefile map-by max-restarts max-vm-size N n npernode npersocket ompi-server output-filename
		path personality ppr prefix preload-files rank-by report-events report-pid report-uri rf rankfile stdin timeout
		tune wd wdir x xml-file xterm display output runtime-options dvm dvm-uri stream-buffering`,
		// Hydra: MPICH, MVAPICH, Intel MPI
		`genvlist genvexcl f hosts configfile envlist envexcl launcher launcher-exec bootstrap bootstrap-exec rmk topolib
		membind demux iface ppn perhost grr prepend-pattern outfile-pattern errfile-pattern nameserver localhost usize
		order-nodes gpus-per-proc hostlist umask`,
		"mca/2 gmca/2 omca/2 gomca/2 pmixmca/2 gpmixmca/2 prtemca/2 genv/2 env/2",
	)
	stepValues = valuesOf(
		`A account acctg-freq b begin c cpus-per-task C constraint cpu-bind cpu-freq cluster-constraint core-spec d dependency
		D chdir delay-boot e error epilog exclude x export g gid gpus gpus-per-node gpus-per-socket gpus-per-task gpu-bind
		gpu-freq gres G i input J job-name jobid K L licenses m distribution M clusters mem mem-bind mem-per-cpu mem-per-gpu
		mcs-label mpi n ntasks ntasks-per-core ntasks-per-node ntasks-per-socket ntasks-per-gpu N nodes network o output
		open-mode p partition power priority profile prolog propagate q qos r relative reservation S signal slurmd-debug
		sockets-per-node switches t time task-epilog task-prolog thread-spec threads T threads-per-core time-min tmp tres-per-task
		u uid w nodelist W wait wckey hint het-group`,
		"cores-per-task env-file nnodes nslots queue requires setopt setattr tasks-per-core tasks-per-node time-limit",
	)
)

// valuesOf reads lists of options: name or name/number.
func valuesOf(lists ...string) map[string]int {
	found := map[string]int{}
	for _, word := range strings.Fields(strings.Join(lists, " ")) {
		name, number, many := strings.Cut(word, "/")
		found[name] = 1
		if many {
			found[name], _ = strconv.Atoi(number)
		}
	}
	return found
}

// hostLists are the options with hosts, hostFiles those with files that list them.
var (
	hostLists = []string{"H", "host", "hosts", "hostlist", "w", "nodelist"}
	hostFiles = []string{"f", "hostfile", "machinefile", "default-hostfile"}
)

// Parse finds the programs in a launcher's command line. ok is false if it is none, or has none.
func Parse(words []string) (c *CommandLine, ok bool) {
	c = &CommandLine{words: words, launcher: slices.IndexFunc(words, isLauncher)}
	if c.launcher < 0 || c.launcher > 0 && !slices.Contains(wrappers, filepath.Base(words[0])) {
		return nil, false
	}
	next := c.launcher + 1
	c.values = mpirunValues
	switch filepath.Base(words[c.launcher]) {
	case "srun":
		c.values = stepValues
	case "flux":
		c.values = stepValues
		next++ // run, submit
	}
	for next < len(words) {
		at := c.program(next)
		if at >= len(words) {
			break
		}
		c.programs = append(c.programs, at)
		// of several programs, those that follow have a colon before them
		end := slices.Index(words[at:], ":")
		if end < 0 {
			break
		}
		next = at + end + 1
	}
	return c, len(c.programs) > 0
}

func isLauncher(word string) bool {
	name := filepath.Base(word)
	return slices.ContainsFunc([]string{"mpirun", "mpiexec", "orterun", "prterun"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) ||
		name == "srun" || name == "flux"
}

// program returns the index of the first word that is no option and no value of one.
func (c *CommandLine) program(at int) int {
	for at < len(c.words) && strings.HasPrefix(c.words[at], "-") {
		name, value, joined := strings.Cut(strings.TrimLeft(c.words[at], "-"), "=")
		at++
		if joined {
			c.note(name, value)
			continue
		}
		n, known := c.values[name]
		if !known && at < len(c.words) && isValue(c.words[at]) {
			n = 1
		}
		if n == 1 && at < len(c.words) {
			c.note(name, c.words[at])
		}
		at += n
	}
	return at
}

// isValue reports whether the word after an option that is not known is the option's value: it can
// be no program then.
func isValue(word string) bool {
	if strings.HasPrefix(word, "-") || strings.ContainsRune(word, '/') {
		return false
	}
	_, err := exec.LookPath(word)
	return err != nil
}

// note keeps the hosts that an option names.
func (c *CommandLine) note(option, value string) {
	switch {
	case slices.Contains(hostLists, option):
		for _, host := range strings.Split(value, ",") {
			name, _, _ := strings.Cut(host, ":") // the number of slots
			c.hosts = append(c.hosts, name)
		}
	case slices.Contains(hostFiles, option):
		c.hosts = append(c.hosts, hostsIn(value)...)
	}
}

// hostsIn reads the names in a file of hosts.
func hostsIn(path string) (names []string) {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		words := strings.FieldsFunc(lines.Text(), func(r rune) bool { return strings.ContainsRune(" \t:", r) })
		if len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			names = append(names, words[0])
		}
	}
	return names
}

// LeavesThisHost reports whether the launcher may start programs on other hosts: because of its
// options, of the batch system's allocation, or since it asks a daemon to start them.
func (c *CommandLine) LeavesThisHost() bool {
	if name := filepath.Base(c.words[c.launcher]); name == "srun" || name == "flux" {
		return true
	}
	hosts := c.hosts
	if len(hosts) == 0 {
		for _, variable := range []string{"PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "HYDRA_HOST_FILE", "OMPI_MCA_orte_default_hostfile"} {
			hosts = append(hosts, hostsIn(os.Getenv(variable))...)
		}
		if n, err := strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES")); err == nil && n > 1 {
			return true
		}
	}
	return slices.ContainsFunc(hosts, func(host string) bool { return !isThisHost(host) })
}

func isThisHost(name string) bool {
	own, _ := os.Hostname()
	short, _, _ := strings.Cut(own, ".")
	if name == "" || name == "localhost" || name == own || name == short {
		return true
	}
	address := net.ParseIP(name)
	return address != nil && address.IsLoopback()
}

// Prefixed returns the command line with words in front of each program.
func (c *CommandLine) Prefixed(words ...string) []string {
	return c.change(func(program []string) []string { return append(slices.Clone(words), program...) })
}

// Replaced returns the command line with words in the place of each program and its arguments.
func (c *CommandLine) Replaced(words ...string) []string {
	return c.change(func([]string) []string { return words })
}

func (c *CommandLine) change(f func(program []string) []string) []string {
	var changed []string
	from := 0
	for i, at := range c.programs {
		end := len(c.words)
		if i+1 < len(c.programs) {
			end = at + slices.Index(c.words[at:], ":")
		}
		changed = append(append(changed, c.words[from:at]...), f(c.words[at:end])...)
		from = end
	}
	return append(changed, c.words[from:]...)
}
