package launch

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	letters  bool // after one dash: a word is letters, of which the last may have a value
	hosts    []string
	// allocated reports that an option names an allocation
	allocated bool
	outputs   map[int]bool // indices of words that say what else is written or started
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
		`A account acctg-freq b B bb bbf bcast-exclude begin c comment container cores-per-socket cpus-per-gpu cpus-per-task C
		constraint cpu-bind cpu-freq cluster-constraint core-spec d deadline dependency extra-node-info gres-flags mail-type
		mail-user mincpus D chdir delay-boot e error epilog exclude x export g gid gpus gpus-per-node gpus-per-socket gpus-per-task gpu-bind
		gpu-freq gres G i input J job-name jobid L licenses m distribution M clusters mem mem-bind mem-per-cpu mem-per-gpu
		mcs-label mpi n ntasks ntasks-per-core ntasks-per-node ntasks-per-socket ntasks-per-gpu N nodes network o output
		open-mode p partition power priority profile prolog q qos r relative reservation S signal slurmd-debug
		sockets-per-node switches t time task-epilog task-prolog thread-spec threads T threads-per-core time-min tmp tres-per-task
		uid w nodelist W wait wckey hint het-group`,
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

// outputs are the options that have something written to files, or started beside the tasks.
var outputs = strings.Fields(`o output e error i input open-mode output-filename outfile-pattern errfile-pattern report-pid
	report-uri report-events xml-file log log-stderr prolog epilog task-prolog task-epilog`)

// hostLists are the options with hosts, hostFiles those with files that list them.
var (
	hostLists = []string{"H", "host", "hosts", "hostlist", "w", "nodelist"}
	hostFiles = []string{"f", "hostfile", "machinefile", "default-hostfile"}
)

// Parse finds the programs in a launcher's command line. ok is false if it is none, or has none.
func Parse(words []string) (c *CommandLine, ok bool) {
	c = &CommandLine{words: words, launcher: slices.IndexFunc(words, isLauncher), outputs: map[int]bool{}}
	if c.launcher < 0 || c.launcher > 0 && !slices.Contains(wrappers, filepath.Base(words[0])) {
		return nil, false
	}
	next := c.launcher + 1
	c.values = mpirunValues
	switch filepath.Base(words[c.launcher]) {
	case "srun":
		c.values, c.letters = stepValues, true
	case "flux":
		// its other commands do not wait for the job, or start something that starts programs
		if next >= len(words) || words[next] != "run" {
			return nil, false
		}
		c.values, c.letters = stepValues, true
		next++
	}
	for next < len(words) {
		at := c.program(next)
		if at >= len(words) {
			break
		}
		if slices.Contains(words[next:at], "--multi-prog") || isHostAndNumber(words[at:]) {
			return nil, false
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

// launcherName is that of a launcher whose options are known, as systems install it. Others have
// similar names and another syntax, such as mpirun_rsh.
var launcherName = regexp.MustCompile(`^((mpirun|mpiexec)(\.(openmpi|mpich|hydra))?|orterun|prterun|srun|flux)$`)

func isLauncher(word string) bool { return launcherName.MatchString(filepath.Base(word)) }

// isHostAndNumber reports whether words are those of another mpirun, which has a host and the
// number of its tasks before a program.
func isHostAndNumber(words []string) bool {
	if len(words) < 3 || isFile(words[0]) || strings.ContainsRune(words[0], '/') {
		return false
	}
	_, err := strconv.Atoi(words[1])
	return err == nil
}

// program returns the index of the first word that is no option and no value of one.
func (c *CommandLine) program(at int) int {
	for at < len(c.words) && strings.HasPrefix(c.words[at], "-") {
		name, value, joined := c.option(c.words[at])
		from := at
		at++
		if !joined {
			at += c.following(name, c.words[at:])
			value = strings.Join(c.words[from+1:min(at, len(c.words))], " ")
		}
		c.note(name, value)
		if slices.Contains(outputs, name) || strings.HasPrefix(value, "orte_output_filename ") {
			for i := from; i < at; i++ {
				c.outputs[i] = true
			}
		}
	}
	return at
}

// option takes an option apart. joined reports that its value is in the same word, or that it can
// have none.
func (c *CommandLine) option(word string) (name, value string, joined bool) {
	letters, short := word[1:], c.letters && !strings.HasPrefix(word, "--")
	for ; short && letters != ""; letters = letters[1:] {
		name, value = letters[:1], letters[1:]
		if c.values[name] > 0 {
			return name, strings.TrimPrefix(value, "="), value != ""
		}
	}
	if short {
		return name, "", true
	}
	return strings.Cut(strings.TrimLeft(word, "-"), "=")
}

// following returns how many of the words after an option are its value.
func (c *CommandLine) following(name string, words []string) int {
	n, known := c.values[name]
	switch {
	case !known && len(words) > 0 && isValue(words[0]):
		return 1
	case n == 2 && len(words) > 0 && strings.Contains(name, "env") && strings.Contains(words[0], "="):
		return 1
	}
	return n
}

// isValue reports whether the word after an option that is not known is the option's value: it can
// be no program then.
func isValue(word string) bool {
	if strings.HasPrefix(word, "-") || strings.ContainsRune(word, '/') || isFile(word) {
		return false
	}
	_, err := exec.LookPath(word)
	return err != nil
}

// isFile reports whether a word names a file in the current folder: launchers look there, too.
func isFile(word string) bool {
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular()
}

// note keeps the hosts that an option names.
func (c *CommandLine) note(option, value string) {
	switch {
	case option == "jobid":
		c.allocated = true
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

// AsksForHosts reports whether each start of the launcher gets hosts of its own: srun, where there
// is no allocation.
func (c *CommandLine) AsksForHosts() bool {
	return filepath.Base(c.words[c.launcher]) == "srun" && os.Getenv("SLURM_JOB_ID") == "" && os.Getenv("SLURM_JOBID") == "" && !c.allocated
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
	return c.change(nil, func(program []string) []string { return append(slices.Clone(words), program...) })
}

// Replaced returns the command line with words in the place of each program and its arguments, and
// without options by which the launcher writes to files: those have the job's output.
func (c *CommandLine) Replaced(words ...string) []string {
	return c.change(c.outputs, func([]string) []string { return words })
}

func (c *CommandLine) change(without map[int]bool, f func(program []string) []string) []string {
	var changed []string
	from := 0
	keep := func(to int) {
		for ; from < to; from++ {
			if !without[from] {
				changed = append(changed, c.words[from])
			}
		}
	}
	for i, at := range c.programs {
		end := len(c.words)
		if i+1 < len(c.programs) {
			end = at + slices.Index(c.words[at:], ":")
		}
		keep(at)
		changed = append(changed, f(c.words[at:end])...)
		from = end
	}
	keep(len(c.words))
	return changed
}
