package shipper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// What is in the store leaves the spool, which all processes of a pod share during its whole life.
//
// A directory is renamed first: a shipper that is killed while it removes one must not leave a
// process with half of its calls. The owner of the spool may do that, whoever owns the directory.

// removedPrefix is the prefix of directories that are being removed.
const removedPrefix = ".removed-"

// Limits for unusable processes that are kept for a person to look at.
const (
	maxKept      = 8
	maxKeptShare = 8 // as a fraction of the limit: one in maxKeptShare
	maxKeptBytes = 64 << 20
)

// retryRemoval is the pause after a directory could not be removed.
const retryRemoval = time.Minute

// discard removes what is in the store for good, and reports whether there was anything.
func (s *ship) discard(processes []process) bool {
	removed := s.emptyRemoved()
	kept, bytes := 0, int64(0)
	for _, p := range processes {
		switch {
		case p.alive:
		case s.inStore[p.name]:
			removed = s.remove(p) || removed
		case s.kept[p.name]:
			size := usage(p.spool, p.name)
			if kept, bytes = kept+1, bytes+size; kept > maxKept || bytes > s.maxKept() {
				removed = s.remove(p) || removed
			}
		}
	}
	return removed
}

func (s *ship) maxKept() int64 {
	if s.SpoolLimit > 0 {
		return min(maxKeptBytes, s.SpoolLimit/maxKeptShare)
	}
	return maxKeptBytes
}

// remove removes a process's directory. Everything reported about it must have been in a heartbeat:
// it cannot be found out again.
func (s *ship) remove(p process) bool {
	if !s.isReported(p.name) || time.Since(s.refused[p.name]) < retryRemoval {
		return false
	}
	size := usage(p.spool, p.name)
	err := p.spool.Rename(p.name, removedPrefix+p.name)
	if err == nil {
		err = removeRenamed(p.spool, p.name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.refused[p.name] = time.Now()
		s.note([]string{fmt.Sprintf("process %s is in the store and cannot be removed from the spool: %v", p.name, cause(err))})
		return false
	}
	s.mu.Lock()
	delete(s.inStore, p.name)
	delete(s.kept, p.name)
	s.mu.Unlock()
	delete(s.refused, p.name)
	s.auditor.removed(size)
	return true
}

// removeRenamed removes a process's buffers on the tmpfs and its renamed directory.
func removeRenamed(root *os.Root, name string) error {
	if err := spool.RemoveFromTmpfs(root, name); err != nil && !errors.Is(err, plainfile.ErrOdd) {
		return err
	}
	return root.RemoveAll(removedPrefix + name)
}

// emptyRemoved continues removals that an earlier shipper has begun.
func (s *ship) emptyRemoved() (removed bool) {
	root := s.spool.root
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, removedPrefix) || time.Since(s.refused[name]) < retryRemoval {
			continue
		}
		size := usage(root, name)
		if err := removeRenamed(root, strings.TrimPrefix(name, removedPrefix)); err != nil {
			s.refused[name] = time.Now()
			s.note([]string{fmt.Sprintf("%s cannot be removed from the spool: %v", name, cause(err))})
			continue
		}
		s.auditor.removed(size)
		removed = true
	}
	return removed
}

// isReported reports whether the last heartbeat has all problems of a process.
func (s *ship) isReported(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(s.ended[s.reported:], func(problem string) bool { return strings.Contains(problem, name) })
}

// cause returns an error without the paths in it.
func cause(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// usage returns the disk space of a directory. Files that disappear in the meantime count as 0.
func usage(root *os.Root, name string) (bytes int64) {
	_ = fs.WalkDir(root.FS(), name, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				bytes += 512 * stat.Blocks
			}
		}
		return nil
	})
	return bytes
}

// An auditor keeps the budget account of the spool correct.
type auditor struct {
	account budget.Auditor
	why     string // why there is no account, as last reported
}

func (a *auditor) removed(bytes int64) { _ = a.account.Removed(bytes) }

// auditInterval is the pause between two audits unless something was removed.
const auditInterval = 10 * time.Second

// beginAudits creates the account of the spool, if there is to be one. In a pod `cairn install` has
// created it, so that the first rank finds it even if the sidecar starts late.
func (s *ship) beginAudits() {
	if s.SpoolLimit <= 0 {
		return
	}
	root, err := os.OpenRoot(s.Options.Spool)
	if err == nil {
		var account *budget.Budget
		account, err = budget.Make(root, s.SpoolLimit)
		root.Close()
		s.mu.Lock()
		s.auditor.account.Budget = account // heartbeats read it
		s.mu.Unlock()
	}
	why := ""
	if err != nil {
		why = cause(err).Error()
	}
	if why != "" && why != s.auditor.why {
		s.Logf("the spool has no account, so each process has a limit of its own: %s", why)
	}
	s.auditor.why = why
}

// audit compares the account with the spool if that is due.
func (s *ship) audit(now bool) {
	if s.auditor.account.Budget == nil {
		s.beginAudits()
	}
	if s.auditor.account.Budget == nil || !now && time.Since(s.audited) < auditInterval {
		return
	}
	s.audited = time.Now()
	_, err := s.auditor.account.Audit(func() (int64, error) {
		root, err := os.OpenRoot(s.Options.Spool)
		if err != nil {
			return 0, err
		}
		defer root.Close()
		return usage(root, "."), nil
	})
	if err != nil {
		s.Logf("%v", err)
	}
}
