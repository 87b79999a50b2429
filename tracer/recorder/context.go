package recorder

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/trace"
)

// A Watcher samples what the operating system counts for this process: at its start, then every contextInterval. It
// keeps mostContext samples; when there are as many, every second one goes and the interval doubles, so that a short
// program is seen in detail and a long one costs no more. The samples are in a file of their own beside the segments, so
// that they are there however the process ends; what happened after the last one is not seen.
type Watcher struct {
	path     string
	limit    string // cpu.stat of the cgroup that has a CPU limit, "": none
	interval time.Duration
	samples  []trace.ContextSample
}

const (
	contextFile     = "context"
	contextInterval = time.Second
	mostContext     = 32
	contextFields   = 7
)

// Watch starts to sample for a process directory.
func (s *Spool) Watch() *Watcher {
	w := &Watcher{path: filepath.Join(s.dir, contextFile), limit: findCPUStat("/proc/self/cgroup", "/sys/fs/cgroup"), interval: contextInterval}
	w.Sample()
	return w
}

// Run samples for ever. It is called on a goroutine of its own.
func (w *Watcher) Run() {
	for {
		time.Sleep(w.interval)
		w.Sample()
	}
}

// Sample takes a sample. A file that cannot be written is none: the trace then has no context.
func (w *Watcher) Sample() {
	w.add(readContext(w.limit))
	_ = os.WriteFile(w.path, encodeContext(w.samples), 0o644)
	_ = os.Chmod(w.path, 0o644)
}

func (w *Watcher) add(s trace.ContextSample) {
	if len(w.samples) == mostContext {
		kept := w.samples[:0]
		for i := 0; i < mostContext; i += 2 {
			kept = append(kept, w.samples[i])
		}
		w.samples = kept
		w.interval *= 2
	}
	w.samples = append(w.samples, s)
}

func readContext(limit string) trace.ContextSample {
	s := trace.ContextSample{MonotonicNS: clockNS(unix.CLOCK_MONOTONIC), ThrottledPeriods: -1, ThrottledNS: -1, CPU: -1}
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) == nil {
		s.CPUNS = u.Utime.Nano() + u.Stime.Nano()
		s.VoluntarySwitches, s.InvoluntarySwitches = u.Nvcsw, u.Nivcsw
	}
	if b, err := os.ReadFile("/proc/self/stat"); err == nil {
		s.CPU = lastCPU(b)
	}
	if limit != "" {
		if b, err := os.ReadFile(limit); err == nil {
			s.ThrottledPeriods, s.ThrottledNS = throttling(b)
		}
	}
	return s
}

// lastCPU is field 39 of /proc/self/stat, −1 where there is none. The second field may hold anything.
func lastCPU(stat []byte) int64 {
	const after = 36 // fields between the second one and that of the CPU
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 {
		if fields := bytes.Fields(stat[i+1:]); len(fields) > after {
			if n, err := strconv.ParseInt(string(fields[after]), 10, 64); err == nil {
				return n
			}
		}
	}
	return -1
}

// throttling reads cpu.stat: microseconds in version 2 of cgroups (throttled_usec), nanoseconds in version 1
// (throttled_time).
func throttling(stat []byte) (periods, ns int64) {
	periods, ns = -1, -1
	for line := range strings.Lines(string(stat)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "nr_throttled":
			periods = n
		case "throttled_usec":
			ns = n * 1000
		case "throttled_time":
			ns = n
		}
	}
	return periods, ns
}

// findCPUStat finds the cpu.stat that counts throttling for the cgroup of a process: its own, else that of the nearest
// parent that has one. In a container the mount may begin at the container's own cgroup, whatever path /proc gives.
func findCPUStat(cgroups, mount string) string {
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		roots := []string{mount}
		switch {
		case parts[1] == "":
		case hasController(parts[1], "cpu"):
			roots = []string{filepath.Join(mount, parts[1]), filepath.Join(mount, "cpu")}
		default:
			continue
		}
		for _, root := range roots {
			for dir := filepath.Clean("/" + parts[2]); ; dir = filepath.Dir(dir) {
				path := filepath.Join(root, dir, "cpu.stat")
				if b, err := os.ReadFile(path); err == nil {
					if periods, _ := throttling(b); periods >= 0 {
						return path
					}
				}
				if dir == "/" {
					break
				}
			}
		}
	}
	return ""
}

func hasController(list, name string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == name {
			return true
		}
	}
	return false
}

func contextWords(s *trace.ContextSample) [contextFields]*int64 {
	return [...]*int64{&s.MonotonicNS, &s.CPUNS, &s.VoluntarySwitches, &s.InvoluntarySwitches, &s.ThrottledPeriods, &s.ThrottledNS, &s.CPU}
}

// encodeContext writes samples, and a checksum: a process can be killed while it writes.
func encodeContext(samples []trace.ContextSample) []byte {
	var b []byte
	for i := range samples {
		for _, field := range contextWords(&samples[i]) {
			b = binary.LittleEndian.AppendUint64(b, uint64(*field))
		}
	}
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// decodeContext reads what encodeContext wrote; nil for anything else.
func decodeContext(b []byte) []trace.ContextSample {
	const size = 8 * contextFields
	n := len(b) - 8
	if n < 0 || n%size != 0 || n/size > mostContext || xxhash.Sum64(b[:n]) != binary.LittleEndian.Uint64(b[n:]) {
		return nil
	}
	samples := make([]trace.ContextSample, n/size)
	for i := range samples {
		for k, field := range contextWords(&samples[i]) {
			*field = int64(binary.LittleEndian.Uint64(b[i*size+8*k:]))
		}
	}
	return samples
}
