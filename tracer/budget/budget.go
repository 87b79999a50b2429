// Package budget limits the bytes that all processes may write to a shared spool.
//
// The budget is a small file in the spool, which has the limit and the bytes in use. The processes
// of a pod map it (here, and tracer/shim/spool/budget.c). A process adds the bytes that it is about
// to allocate and subtracts those that it has removed. The bytes of files that it leaves behind are
// subtracted when somebody removes these. The sidecar corrects the number (Auditor). Without the
// file every process has a limit of its own (spool_limit_bytes of process.json).
package budget

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cairn-mpi/cairn/internal/plainfile"
	"github.com/cairn-mpi/cairn/tracer/rawlayout"
)

// File is the name of the budget file in the spool.
const File = "budget"

// The file has four words: its magic, the limit, the bytes in use, and the number of processes that
// found no room for any file that shows that they ran.
const (
	magic       = rawlayout.BudgetMagic
	wordLimit   = rawlayout.BudgetLimitAt / 8
	wordUsed    = rawlayout.BudgetUsedAt / 8
	wordRefused = rawlayout.BudgetRefusedAt / 8
	words       = rawlayout.BudgetBytes / 8
)

// A Budget is the opened budget file of a spool. The methods of a nil *Budget allow everything.
type Budget struct {
	memory  []byte
	limit   *atomic.Int64
	used    *atomic.Int64
	refused *atomic.Int64
}

// Open opens the budget file of a spool; nil without an error if there is none.
func Open(spool string) (*Budget, error) {
	root, err := os.OpenRoot(spool)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return open(root)
}

func open(root *os.Root) (*Budget, error) {
	f, err := plainfile.OpenWritable(root, File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < words*8 {
		return nil, fmt.Errorf("%s is %w: %d bytes", f.Name(), plainfile.ErrOdd, info.Size())
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, words*8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if string(memory[:len(magic)]) != magic {
		_ = unix.Munmap(memory)
		return nil, fmt.Errorf("%s is %w: not the budget of a spool", f.Name(), plainfile.ErrOdd)
	}
	word := func(n int) *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&memory[8*n])) }
	return &Budget{memory: memory, limit: word(wordLimit), used: word(wordUsed), refused: word(wordRefused)}, nil
}

// Make opens the budget file of a spool, creates it if there is none, and sets the limit in bytes.
// The owner of the spool must call it before the processes start. Make removes anything else that
// is in its place.
func Make(root *os.Root, limit int64) (*Budget, error) {
	b, err := open(root)
	if err != nil {
		if err := root.RemoveAll(File); err != nil {
			return nil, err
		}
	}
	if b == nil {
		if err := write(root, limit); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if b, err = open(root); err != nil {
			return nil, err
		}
		if b == nil {
			return nil, fmt.Errorf("%s was removed while it was being created", filepath.Join(root.Name(), File))
		}
	}
	return b, b.guard(func() { b.limit.Store(limit) })
}

// write creates the file atomically, so that no store to the mapped file is beyond its end.
func write(root *os.Root, limit int64) error {
	content := make([]byte, words*8)
	copy(content, magic)
	*(*int64)(unsafe.Pointer(&content[8*wordLimit])) = limit
	temporary := fmt.Sprintf(".%s-%d", File, os.Getpid())
	_ = root.Remove(temporary) // left by a process that was killed here
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { _ = root.Remove(temporary) }()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o666) // whatever the umask: ranks may run as other users
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Link(temporary, File)
}

// Close unmaps the file.
func (b *Budget) Close() error {
	if b == nil {
		return nil
	}
	return unix.Munmap(b.memory)
}

// Take adds bytes to those in use and reports whether the limit allows it, with reserve bytes left.
// own is what the process already has. A process may use as much as is left for all others. So n
// processes that take what they can get have equal parts, together n/(n+1) of the limit, and a
// later one still finds room.
func (b *Budget) Take(bytes, own, reserve int64) bool {
	if b == nil {
		return true
	}
	left := b.limit.Load() - b.used.Add(bytes)
	if left < reserve || own+bytes > left {
		b.used.Add(-bytes)
		return false
	}
	return true
}

// Add adds bytes to those in use without a check. The number may be negative.
func (b *Budget) Add(bytes int64) {
	if b != nil {
		b.used.Add(bytes)
	}
}

// Limit returns the limit in bytes.
func (b *Budget) Limit() int64 { return b.limit.Load() }

// Refused returns the number of processes that found no room for any file.
func (b *Budget) Refused() (n int64) {
	if b != nil {
		_ = b.guard(func() { n = b.refused.Load() })
	}
	return n
}

// An Auditor corrects the bytes in use to the actual size of the spool. Since processes allocate
// and remove files while the files are counted, there may be a difference that is none. So a
// deficit is corrected at once, and a surplus only when it is seen a second time.
type Auditor struct {
	Budget  *Budget
	surplus int64 // found by the previous audit
}

// Audit compares the bytes in use with the result of measure, corrects them and returns them.
func (a *Auditor) Audit(measure func() (int64, error)) (used int64, err error) {
	if a.Budget == nil {
		return measure()
	}
	b := a.Budget
	var before int64
	if err := b.guard(func() { before = b.used.Load() }); err != nil {
		return 0, err
	}
	used, err = measure()
	if err != nil {
		return 0, err
	}
	surplus := before - used
	correction := -surplus
	if surplus > 0 {
		correction = -min(surplus, a.surplus)
	}
	a.surplus = max(surplus+correction, 0)
	return used, b.guard(func() { b.used.Add(correction) })
}

// Removed subtracts bytes that were removed of a process that has ended.
func (a *Auditor) Removed(bytes int64) error {
	if a.Budget == nil {
		return nil
	}
	return a.Budget.guard(func() { a.Budget.used.Add(-bytes) })
}

// Left returns the bytes that may still be allocated, and the limit.
func (a *Auditor) Left() (left, limit int64, err error) {
	if a.Budget == nil {
		return 0, 0, nil
	}
	err = a.Budget.guard(func() { limit = a.Budget.limit.Load(); left = limit - a.Budget.used.Load() })
	return left, limit, err
}

// guard calls do and returns an error if it faults because somebody has truncated the mapped file.
func (b *Budget) guard(do func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the budget file of the spool is damaged: %v", p)
		}
	}()
	do()
	return nil
}
