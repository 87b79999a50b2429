package shipper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unrecorded are processes that made calls of which none was recorded: the text for each, by its
// directory, or by the text itself if an earlier shipper reported it. They are in no shard, so the
// merge knows them only from heartbeats.
type unrecorded map[string]string

// moreProcesses is the prefix of the line that counts the rest.
const moreProcesses = "and at least "

func (u unrecorded) add(name, line string) {
	if _, known := u[name]; !strings.HasPrefix(line, moreProcesses) && (known || len(u) < maxNoted) {
		u[name] = line
	}
}

// lines returns the lines for a heartbeat.
func (u unrecorded) lines() []string {
	lines := slices.Sorted(maps.Values(u))
	lines = slices.Compact(lines)
	if over := len(lines) - maxProblems; over > 0 {
		lines = append(lines[:maxProblems:maxProblems], fmt.Sprintf(moreProcesses+"%d more", over))
	}
	return lines
}

// noteUnrecorded adds processes for the heartbeat.
func (s *ship) noteUnrecorded(processes map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, line := range processes {
		s.unrecorded.add(name, line)
	}
}
