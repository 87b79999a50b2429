package compressor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// A memory observes the memory of a process and of its memory cgroup.
type memory struct {
	process string // its folder in /proc; "": the process is not visible
	group   string // folder of the cgroup; "": unknown
	files   *memoryFiles
	killed  uint64 // processes of the cgroup that the kernel had killed before
	used    uint64 // most bytes that the process was seen with
}

// memoryFiles are the files of a mount of memory cgroups. The first line of kills that begins with
// "oom_kill " has how many processes of a cgroup the kernel has killed for lack of memory.
type memoryFiles struct{ root, controller, limit, kills string }

// memoryMounts are where memory cgroups may be: of version 1, of version 2, and of version 2 beside
// others of version 1. A process has a line in /proc/PID/cgroup for each: "7:memory:/path" or
// "0::/path".
var memoryMounts = []memoryFiles{
	{"sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.oom_control"},
	{"sys/fs/cgroup", "", "memory.max", "memory.events"},
	{"sys/fs/cgroup/unified", "", "memory.max", "memory.events"},
}

// memoryOf begins to observe the memory of a process; pid is 0 if it is not visible. root is "/"
// except in tests.
func memoryOf(root string, pid int) *memory {
	if pid == 0 {
		return &memory{}
	}
	m := &memory{process: filepath.Join(root, "proc", strconv.Itoa(pid))}
	b, _ := os.ReadFile(filepath.Join(m.process, "cgroup"))
	paths := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 {
			paths[fields[1]] = fields[2]
		}
	}
	for i := range memoryMounts {
		if path, listed := paths[memoryMounts[i].controller]; listed && m.group == "" {
			m.find(root, &memoryMounts[i], path)
		}
	}
	m.killed = m.kills()
	m.see()
	return m
}

// find finds the folder of a cgroup. In a container its own is at the root, whatever its path on
// the host.
func (m *memory) find(root string, files *memoryFiles, path string) {
	at := *files
	at.root = filepath.Join(root, files.root)
	for _, folder := range []string{filepath.Join(at.root, filepath.Join("/", path)), at.root} {
		if _, err := os.Stat(filepath.Join(folder, at.kills)); err == nil {
			m.group, m.files = folder, &at
			return
		}
	}
}

// see notes how much memory the process has now.
func (m *memory) see() {
	if m.process == "" {
		return
	}
	b, _ := os.ReadFile(filepath.Join(m.process, "statm"))
	if fields := bytes.Fields(b); len(fields) > 1 {
		pages, _ := strconv.ParseUint(string(fields[1]), 10, 64)
		m.used = max(m.used, pages*uint64(os.Getpagesize()))
	}
}

// note notes what is known of the memory of a process that has died.
func (m *memory) note(life *spool.Watch) {
	if m.process != "" {
		life.UsedMemory(m.used, m.limit(), m.kills() > m.killed)
	}
}

// kills returns how many processes of the cgroup the kernel has killed for lack of memory.
func (m *memory) kills() uint64 {
	if m.group == "" {
		return 0
	}
	b, _ := os.ReadFile(filepath.Join(m.group, m.files.kills))
	for line := range strings.Lines(string(b)) {
		if number, found := strings.CutPrefix(line, "oom_kill "); found {
			n, _ := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
			return n
		}
	}
	return 0
}

// limit returns the lowest limit of the cgroup and those above it in bytes; 0 if there is none.
// Without one, version 2 has the word "max" and version 1 almost 2^63.
func (m *memory) limit() (lowest uint64) {
	if m.group == "" {
		return 0
	}
	for folder := m.group; len(folder) >= len(m.files.root); folder = filepath.Dir(folder) {
		b, _ := os.ReadFile(filepath.Join(folder, m.files.limit))
		n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
		if err == nil && n > 0 && n < 1<<62 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	return lowest
}
