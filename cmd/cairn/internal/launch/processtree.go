package launch

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// A treeProcess is a process as /proc/<pid>/stat describes it.
type treeProcess struct {
	pid, parent, group int
	zombie, stopped    bool
}

// descendants lists the living processes that pid has started, and those that they have.
func descendants(pid int) []treeProcess {
	children := map[int][]treeProcess{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if p, ok := readProcess(e.Name()); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	var found []treeProcess
	next := slices.Clone(children[pid])
	for len(next) > 0 {
		p := next[0]
		next = append(next[1:], children[p.pid]...)
		if !p.zombie {
			found = append(found, p)
		}
	}
	return found
}

// readProcess reads "pid (name) state parent group …"; the name may hold anything.
func readProcess(name string) (p treeProcess, ok bool) {
	var err error
	if p.pid, err = strconv.Atoi(name); err != nil {
		return p, false
	}
	stat, err := os.ReadFile("/proc/" + name + "/stat")
	if err != nil {
		return p, false // it has ended meanwhile
	}
	var state string
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &p.parent, &p.group); err != nil {
		return p, false
	}
	p.zombie, p.stopped = state == "Z", state == "T"
	return p, true
}
