package shipper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// unrecorded are processes that made calls of which none was recorded: what is said of each, by its directory, or by the line
// itself where an earlier shipper has said it. Nothing of them is in any shard, so that only heartbeats tell the merge.
type unrecorded map[string]string

// moreProcesses begins the line that counts the rest.
const moreProcesses = "and at least "

func (u unrecorded) add(name, line string) {
	if _, known := u[name]; !strings.HasPrefix(line, moreProcesses) && (known || len(u) < maxNoted) {
		u[name] = line
	}
}

// lines are what a heartbeat has of them.
func (u unrecorded) lines() []string {
	lines := slices.Sorted(maps.Values(u))
	lines = slices.Compact(lines)
	if over := len(lines) - maxProblems; over > 0 {
		lines = append(lines[:maxProblems:maxProblems], fmt.Sprintf(moreProcesses+"%d more processes", over))
	}
	return lines
}

// noteUnrecorded keeps them for the heartbeat.
func (s *ship) noteUnrecorded(processes map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, line := range processes {
		s.unrecorded.add(name, line)
	}
}
