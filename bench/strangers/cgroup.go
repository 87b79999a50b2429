package strangers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// groups are cgroups with a controller. Each kernel interface has files of its own.
type groups struct {
	controller string
	v1, v2     groupFiles
	root       string // where cgroups are mounted
}

// groupFiles are the files of a group, and what they have where there is no limit.
type groupFiles struct {
	limit, none string
	usage       string // what the limit is compared with; "": nothing
	counts      string // file with the effect of the limit
	counter     string // name of the line there; "": it is all of the file
	unit        float64
}

const cgroupRoot = "/sys/fs/cgroup"

var (
	cpuGroups = groups{
		controller: "cpu", root: cgroupRoot,
		v1: groupFiles{limit: "cpu.cfs_quota_us", none: "-1", counts: "cpu.stat", counter: "throttled_time", unit: 1e-9},
		v2: groupFiles{limit: "cpu.max", none: "max", counts: "cpu.stat", counter: "throttled_usec", unit: 1e-6},
	}
	memoryGroups = groups{
		controller: "memory", root: cgroupRoot,
		v1: groupFiles{
			limit: "memory.limit_in_bytes", none: "-1", usage: "memory.usage_in_bytes", counts: "memory.failcnt", unit: 1,
		},
		v2: groupFiles{
			limit: "memory.high", none: "max", usage: "memory.current", counts: "memory.events", counter: "high", unit: 1,
		},
	}
)

// files returns the folder of the root group, and the files of groups.
func (g *groups) files() (folder string, files *groupFiles, err error) {
	has := func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(" "+strings.TrimSpace(string(text))+" ", " "+g.controller+" ")
	}
	if has(filepath.Join(g.root, "cgroup.subtree_control")) {
		return g.root, &g.v2, nil
	}
	folder = filepath.Join(g.root, g.controller)
	if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil {
		return "", nil, fmt.Errorf("there is no cgroup controller %s that groups may use", g.controller)
	}
	if g.controller == "memory" && !hasSwap() {
		return "", nil, errors.New("the memory limit of cgroup v1 kills where there is no swap to reclaim to")
	}
	return folder, &g.v1, nil
}

func hasSwap() bool {
	text, err := os.ReadFile("/proc/swaps")
	return err == nil && strings.Count(string(text), "\n") > 1
}

// possible returns why groups cannot be made here.
func (g *groups) possible() error {
	made, err := g.make(1)
	if err == nil {
		made.close()
	}
	return err
}

// prepare makes the groups in which the ranks of a job start.
func (g *groups) prepare(j *Job, ranks int) (end func(), err error) {
	if j.groups, err = g.make(ranks); err != nil {
		return nil, err
	}
	return j.groups.close, nil
}

// rankGroups are the cgroups of a job, one for each rank.
type rankGroups struct {
	prefix string // path of a group without the rank
	ranks  int
	files  *groupFiles
}

var made atomic.Int64 // by this process

// make makes a group for each rank.
func (g *groups) make(ranks int) (*rankGroups, error) {
	folder, files, err := g.files()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("cairn-strangers-%d-%d-", os.Getpid(), made.Add(1))
	r := &rankGroups{prefix: filepath.Join(folder, name), files: files}
	for ; r.ranks < ranks; r.ranks++ {
		if err := os.Mkdir(r.path(r.ranks), 0o755); err != nil {
			r.close()
			return nil, err
		}
	}
	return r, nil
}

func (r *rankGroups) path(rank int) string { return r.prefix + strconv.Itoa(rank) }

// wrapper is a command, in words of a shell, that executes its arguments in the group of its rank:
// a limit of memory is one of what a process takes after that, and cairn reads the counters of the
// group in which it is at the start.
func (r *rankGroups) wrapper() []string {
	return []string{"sh", "-c", `'echo $$ >"$0${OMPI_COMM_WORLD_RANK:-$PMI_RANK}/cgroup.procs" && exec "$@"'`, r.prefix}
}

// close moves what is left in the groups out of them, and removes them.
func (r *rankGroups) close() {
	for rank := range r.ranks {
		left, _ := os.ReadFile(filepath.Join(r.path(rank), "cgroup.procs"))
		for _, pid := range strings.Fields(string(left)) {
			_ = os.WriteFile(filepath.Join(filepath.Dir(r.prefix), "cgroup.procs"), []byte(pid), 0o600)
		}
		_ = os.Remove(r.path(rank))
	}
}

// limit limits some ranks. The returned function ends that, and returns the least effect on one of
// them.
func (r *rankGroups) limit(touched []int, limit func(rank int) string) (end func() float64, err error) {
	set := func(limit func(rank int) string) (err error) {
		for _, rank := range touched {
			path := filepath.Join(r.path(rank), r.files.limit)
			err = errors.Join(err, os.WriteFile(path, []byte(limit(rank)), 0o600))
		}
		return err
	}
	before := r.counted(touched)
	if err := set(limit); err != nil {
		return nil, err
	}
	return func() float64 {
		after, least := r.counted(touched), 0.0
		for i := range touched {
			if effect := after[i] - before[i]; i == 0 || effect < least {
				least = effect
			}
		}
		_ = set(func(int) string { return r.files.none })
		return least
	}, nil
}

// counted returns the counters of some ranks.
func (r *rankGroups) counted(touched []int) (all []float64) {
	for _, rank := range touched {
		text, _ := os.ReadFile(filepath.Join(r.path(rank), r.files.counts))
		all = append(all, r.files.unit*lineOf(string(text), r.files.counter))
	}
	return all
}

// lineOf returns the number in the line with a name, or in the first line if the name is "".
func lineOf(text, name string) float64 {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if name == "" && len(fields) == 1 || len(fields) == 2 && fields[0] == name {
			n, _ := strconv.ParseFloat(fields[len(fields)-1], 64)
			return n
		}
	}
	return 0
}

const quotaPeriodUS = 100_000

// beginQuota limits the CPU time of each rank. At strength 0 there is no limit.
func beginQuota(j *Job, touched []int, strength float64) (func() float64, error) {
	return j.groups.limit(touched, func(int) string {
		if strength == 0 {
			return j.groups.files.none
		}
		// the period of both versions is 100 ms unless it is set
		return strconv.Itoa(int((1 - strength) * quotaPeriodUS))
	})
}

// beginMemory limits the memory of each rank to a part of what it has.
func beginMemory(j *Job, touched []int, strength float64) (func() float64, error) {
	return j.groups.limit(touched, func(rank int) string {
		if strength == 0 {
			return j.groups.files.none
		}
		text, _ := os.ReadFile(filepath.Join(j.groups.path(rank), j.groups.files.usage))
		return strconv.Itoa(int((1 - strength) * lineOf(string(text), "")))
	})
}
