package shipper

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
)

// Heartbeats report changes: immediately when the pod becomes busy or idle, and soon when anything
// else changes. A busy pod also writes one from time to time; an idle one does not
// (merger/collect/wait.go describes what the merge makes of that).

const (
	// minPause is the pause between two heartbeats of a pod that stays busy, or stays idle.
	minPause = 5 * time.Second
	// heartbeatTimeout prevents a heartbeat that hangs from blocking the next one.
	heartbeatTimeout = 5 * time.Second
	// heartbeatPause is the pause after a heartbeat that failed. It does not grow: when the store
	// answers again, the merge relies on receiving a heartbeat soon.
	heartbeatPause = 2 * time.Second
	// reportsWithin is the time, beyond the interval of spool scans, until a change is in the
	// store: one heartbeat hangs, then the pause, then the next one succeeds.
	reportsWithin = heartbeatTimeout + heartbeatPause + 2*time.Second
	// lastTimeout replaces heartbeatTimeout for the last heartbeat, which no other one waits for.
	lastTimeout = 20 * time.Second
	// maxProblems is the maximum number of problems in a heartbeat: what goes wrong with one
	// process goes wrong with most.
	maxProblems = 100
	// spoolProblem is the prefix of the problem that disappears by itself.
	spoolProblem = "the spool cannot be read: "
)

// beat writes heartbeats until ctx is done. Each one scans the spool itself, so that it is accurate
// even during a long upload.
func (s *ship) beat(ctx context.Context) {
	var (
		last    shard.Pod
		written time.Time
		retry   time.Time
	)
	for {
		if now, ok := s.look(); ok && !time.Now().Before(retry) && s.due(&last, &now, written) {
			switch err := s.write(ctx, &now, heartbeatTimeout); {
			case err == nil:
				last, written = now, time.Now()
			case ctx.Err() == nil:
				s.Logf("heartbeat: %v", err)
				retry = time.Now().Add(heartbeatPause)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-time.After(min(s.Scan, s.Heartbeat)):
		}
	}
}

// due reports whether a heartbeat is to be written.
func (s *ship) due(last, now *shard.Pod, written time.Time) bool {
	since := time.Since(written)
	switch {
	case written.IsZero(), last.Idle() != now.Idle():
		return true
	case last.LiveProcesses != now.LiveProcesses, last.Pending != now.Pending, !slices.Equal(last.Problems, now.Problems),
		last.Refused != now.Refused, !slices.Equal(last.Unrecorded, now.Unrecorded):
		return since >= min(minPause, s.Heartbeat)
	}
	return !now.Idle() && since >= s.Heartbeat
}

// requestHeartbeat makes beat scan immediately.
func (s *ship) requestHeartbeat() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// look returns the current state of the pod. It returns false until the heartbeats of earlier
// shippers are known.
func (s *ship) look() (shard.Pod, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := shard.Pod{
		Pod: s.Identity.Pod, PodUID: s.Identity.PodUID, Namespace: s.Identity.Namespace,
		Node: s.Identity.Node, Role: s.Identity.Role, BootID: s.Identity.BootID, Image: s.Identity.Image,
		Worlds: []string{}, LostRanks: []string{}, ReportsWithin: s.Scan + reportsWithin, LookedAt: time.Now(),
	}
	problems := slices.Clone(s.ended)
	processes, err := s.spool.scan()
	if err != nil {
		problems = append(problems, spoolProblem+err.Error())
	}
	pod.LiveProcesses = s.spool.starting
	worlds := byWorld(s.unshipped(processes))
	resolved := s.tables.resolved()
	for _, launchID := range sortedLaunches(worlds) {
		pod.Worlds = append(pod.Worlds, worldID(launchID))
		w := s.worlds[launchID]
		shipped := w != nil && w.shipped == state(worlds[launchID], resolved)
		for _, p := range worlds[launchID] {
			switch {
			case p.alive:
				pod.LiveProcesses++
			case !shipped:
				pod.Pending++
			}
		}
	}
	pod.Unrecorded, pod.Refused = s.unrecorded.lines(), int(s.auditor.account.Budget.Refused())
	s.looked = len(s.ended)
	pod.Problems = limited(append(s.spool.problems(), problems...), s.more)
	return pod, s.restored
}

// limited removes duplicates from a list of problems and limits its length.
func limited(problems []string, more int) []string {
	slices.Sort(problems)
	problems = slices.Compact(problems)
	if over := len(problems) - maxProblems; over > 0 {
		problems, more = problems[:maxProblems:maxProblems], more+over
	}
	if more > 0 {
		problems = append(problems, fmt.Sprintf("and %d more problems of processes", more))
	}
	return problems
}

func (s *ship) write(ctx context.Context, pod *shard.Pod, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.mu.Lock()
	s.sequence++
	pod.Sequence = s.sequence
	looked := s.looked
	s.mu.Unlock()
	err := shard.Write(ctx, s.Store, shard.PodKey(s.Identity.PodUID), pod)
	if err == nil {
		s.mu.Lock()
		s.reported = looked
		s.mu.Unlock()
	}
	return err
}

// lastHeartbeat writes the final heartbeat. It retries until the grace period ends, since there is
// no later one.
func (s *ship) lastHeartbeat(ctx context.Context, begun time.Time, lost []string) {
	ctx, cancel := context.WithDeadline(ctx, begun.Add(s.Grace-s.reserve()/2))
	defer cancel()
	for {
		pod, _ := s.look()
		pod.Final = true
		pod.LostRanks = append(pod.LostRanks, lost...)
		err := s.write(ctx, &pod, lastTimeout)
		if err == nil {
			return
		}
		s.mu.Lock()
		s.storage = err
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			s.Logf("last heartbeat: %v", err)
			return
		case <-time.After(min(s.Scan, time.Second)):
		}
	}
}
