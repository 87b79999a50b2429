package strangers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// groups are cgroups with a controller. Each kernel interface has a limit file of its own.
type groups struct {
	controller string
	v1, v2     string // name of the file with the limit; "": this version cannot do it
	root       string // where cgroups are mounted
}

const cgroupRoot = "/sys/fs/cgroup"

var (
	cpuGroups = groups{controller: "cpu", v1: "cpu.cfs_quota_us", v2: "cpu.max", root: cgroupRoot}
	// the limit of v1 kills instead of reclaiming where there is no swap
	memoryGroups = groups{controller: "memory", v2: "memory.high", root: cgroupRoot}
)

// file returns the folder of the root group, and the name of the file with the limit.
func (g groups) file() (folder, name string, err error) {
	has := func(path string) bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Contains(" "+strings.TrimSpace(string(text))+" ", " "+g.controller+" ")
	}
	if has(filepath.Join(g.root, "cgroup.subtree_control")) {
		return g.root, g.v2, nil
	}
	folder = filepath.Join(g.root, g.controller)
	if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil {
		return "", "", fmt.Errorf("there is no cgroup controller %s that groups may use", g.controller)
	}
	if g.v1 == "" {
		return "", "", fmt.Errorf("%s needs cgroup v2, and the controller %s is one of v1", g.v2, g.controller)
	}
	return folder, g.v1, nil
}

func (g groups) possible() error {
	group, _, err := g.make()
	if err != nil {
		return err
	}
	return os.Remove(group)
}

var made atomic.Int64 // groups of this process

// make creates a group, and returns its folder and the path of its limit.
func (g groups) make() (group, limit string, err error) {
	folder, name, err := g.file()
	if err != nil {
		return "", "", err
	}
	group = filepath.Join(folder, fmt.Sprintf("cairn-strangers-%d-%d", os.Getpid(), made.Add(1)))
	if err := os.Mkdir(group, 0o755); err != nil {
		return "", "", err
	}
	return group, filepath.Join(group, name), nil
}

// confine moves processes into a group with a limit. The returned function moves them back, if they
// still run, and removes the group.
func (g groups) confine(pids []int, limit string) (end func(), err error) {
	group, file, err := g.make()
	if err != nil {
		return nil, err
	}
	end = func() {
		g.move(pids, filepath.Dir(group))
		_ = os.Remove(group)
	}
	if err := os.WriteFile(file, []byte(limit), 0o600); err != nil {
		end()
		return nil, err
	}
	g.move(pids, group)
	return end, nil
}

// move moves those processes that still run into a group.
func (g groups) move(pids []int, group string) {
	for _, pid := range pids {
		_ = os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
	}
}

const quotaPeriodUS = 100_000

// beginQuota limits the CPU time of each rank. At strength 0 the limit is none.
func beginQuota(j *Job, touched []int, strength float64) (func(), error) {
	_, name, err := cpuGroups.file()
	if err != nil {
		return nil, err
	}
	limit := "-1"
	if strength > 0 {
		limit = strconv.Itoa(int((1 - strength) * quotaPeriodUS))
	}
	if name == cpuGroups.v2 {
		limit = fmt.Sprintf("%s %d", strings.Replace(limit, "-1", "max", 1), quotaPeriodUS)
	}
	return cpuGroups.confine(j.of(touched), limit)
}

// beginMemory limits the memory of each rank to a part of what it has.
func beginMemory(j *Job, touched []int, strength float64) (func(), error) {
	limit := "max"
	if strength > 0 {
		limit = strconv.Itoa(int((1 - strength) * j.resident(touched)))
	}
	return memoryGroups.confine(j.of(touched), limit)
}
