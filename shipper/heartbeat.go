package shipper

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-mpi/cairn/shipper/shard"
)

// beat writes heartbeats until ctx is done: at fixed intervals, and at once
// when what they would say has changed. Each looks at the spool itself, so
// that it is true even while a long upload goes on.
func (s *ship) beat(ctx context.Context) {
	var last shard.Pod
	var written time.Time
	for {
		now := s.look()
		if time.Since(written) >= s.Heartbeat || now.LiveProcesses != last.LiveProcesses || now.Pending != last.Pending || len(now.Worlds) != len(last.Worlds) {
			if err := s.write(ctx, &now); err != nil {
				if ctx.Err() == nil {
					s.Logf("heartbeat: %v", err)
				}
			} else {
				last = now
			}
			written = time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-time.After(min(s.Scan, s.Heartbeat)):
		}
	}
}

// ask makes beat look at once.
func (s *ship) ask() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// look says what the pod holds at this moment.
func (s *ship) look() shard.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	pod := shard.Pod{
		Pod: s.Identity.Pod, PodUID: s.Identity.PodUID, Namespace: s.Identity.Namespace,
		Node: s.Identity.Node, Role: s.Identity.Role, BootID: s.Identity.BootID, Image: s.Identity.Image,
		Worlds: []string{}, LostRanks: []string{},
	}
	processes, err := s.spool.scan()
	if err != nil {
		pod.Problems = append(pod.Problems, "the spool cannot be read: "+err.Error())
	}
	worlds := byWorld(processes)
	resolved := s.tables.resolved()
	for _, launchID := range sortedLaunches(worlds) {
		pod.Worlds = append(pod.Worlds, worldID(launchID))
		shipped := s.shipped[launchID] == state(worlds[launchID], resolved)
		for _, p := range worlds[launchID] {
			switch {
			case p.alive:
				pod.LiveProcesses++
			case !shipped:
				pod.Pending++
			}
		}
	}
	pod.Problems = append(append(pod.Problems, s.spool.problems()...), slices.Clone(s.ended)...)
	return pod
}

// heartbeatTimeout keeps one that hangs from blocking the next.
const heartbeatTimeout = 20 * time.Second

func (s *ship) write(ctx context.Context, pod *shard.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	s.mu.Lock()
	s.sequence++
	pod.Sequence = s.sequence
	s.mu.Unlock()
	return shard.Write(ctx, s.Store, shard.PodKey(s.Identity.PodUID), pod)
}

// lastWord is the heartbeat after which nothing comes.
func (s *ship) lastWord(ctx context.Context, lost []string) {
	pod := s.look()
	pod.Final = true
	pod.LostRanks = append(pod.LostRanks, lost...)
	// the grace may be over, but most times this is a matter of milliseconds
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.write(ctx, &pod); err != nil {
		s.Logf("last heartbeat: %v", err)
	}
}
