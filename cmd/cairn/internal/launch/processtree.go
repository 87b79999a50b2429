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

// Children lists the processes of this machine by parent.
func Children() map[int][]int {
	children := map[int][]int{}
	for parent, processes := range byParent() {
		for _, p := range processes {
			children[parent] = append(children[parent], p.pid)
		}
	}
	return children
}

func byParent() map[int][]treeProcess {
	children := map[int][]treeProcess{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if p, ok := readProcess(e.Name()); ok {
			children[p.parent] = append(children[p.parent], p)
		}
	}
	return children
}

// descendants lists the living processes that pid started, directly or indirectly.
func descendants(pid int) []treeProcess {
	children := byParent()
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

// readProcess parses "pid (name) state parent group …". The name may contain any characters.
func readProcess(name string) (p treeProcess, ok bool) {
	var err error
	if p.pid, err = strconv.Atoi(name); err != nil {
		return p, false
	}
	stat, err := os.ReadFile("/proc/" + name + "/stat")
	if err != nil {
		return p, false // it has ended in the meantime
	}
	var state string
	if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &p.parent, &p.group); err != nil {
		return p, false
	}
	p.zombie, p.stopped = state == "Z", state == "T"
	return p, true
}
