// Package budget is the account of a spool: how much all processes that write to
// it may take, and how much they have taken.
//
// The account is a small file in the spool, which the processes of a pod map
// (here, and tracer/shim/spool/budget.c) and the sidecar sets right. A process adds
// what it is about to allocate and subtracts what it has removed; what it leaves
// behind stays on the account until somebody removes that. Without the file
// every process has a limit of its own (spool_limit_bytes of process.json).
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

// File is the name of the account in the spool.
const File = "budget"

// The content of the file is four words: what says that it is one, the limit,
// what is taken, and how many processes found no room to leave a sign.
const (
	magic       = rawlayout.AccountMagic
	wordLimit   = rawlayout.AccountLimitAt / 8
	wordUsed    = rawlayout.AccountUsedAt / 8
	wordRefused = rawlayout.AccountRefusedAt / 8
	words       = rawlayout.AccountBytes / 8
)

// A Budget is the account of a spool, opened. Methods of nil allow everything.
type Budget struct {
	memory  []byte
	limit   *atomic.Int64
	used    *atomic.Int64
	refused *atomic.Int64
}

// Open opens the account of a spool; nil without an error if there is none.
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
		return nil, fmt.Errorf("%s is %w: no account of a spool", f.Name(), plainfile.ErrOdd)
	}
	word := func(n int) *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&memory[8*n])) }
	return &Budget{memory: memory, limit: word(wordLimit), used: word(wordUsed), refused: word(wordRefused)}, nil
}

// Make opens the account of a spool, makes it if there is none, and sets its
// limit. The owner of the spool does it before there are processes. What stands
// in its place and is no account is removed.
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
			return nil, fmt.Errorf("%s has gone as soon as it was there", filepath.Join(root.Name(), File))
		}
	}
	return b, b.guard(func() { b.limit.Store(limit) })
}

// write makes the file: whoever sees it sees all of it, so that no store to it
// is beyond its end.
func write(root *os.Root, limit int64) error {
	content := make([]byte, words*8)
	copy(content, magic)
	*(*int64)(unsafe.Pointer(&content[8*wordLimit])) = limit
	temporary := fmt.Sprintf(".%s-%d", File, os.Getpid())
	_ = root.Remove(temporary) // of a process that was killed here
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() { _ = root.Remove(temporary) }()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o666) // whatever the umask: ranks run as other users
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Link(temporary, File)
}

// Close unmaps the account.
func (b *Budget) Close() error {
	if b == nil {
		return nil
	}
	return unix.Munmap(b.memory)
}

// Take adds bytes to the account, if a process that holds own bytes of it may
// have so many more and reserve bytes would still be left then. A process may
// hold as much as is left to all: so n of them that take what they can get have
// equal parts, n/(n+1) of all together, and one that comes later finds something.
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

// Add adds bytes, of either sign, that are taken or given back in any case.
func (b *Budget) Add(bytes int64) {
	if b != nil {
		b.used.Add(bytes)
	}
}

// Limit is how much may be taken in all.
func (b *Budget) Limit() int64 { return b.limit.Load() }

// Refused is how many processes found no room to leave a sign that they were
// there.
func (b *Budget) Refused() (n int64) {
	if b != nil {
		_ = b.guard(func() { n = b.refused.Load() })
	}
	return n
}

// An Auditor sets an account right from what the spool really holds. Processes
// go on meanwhile, and what one of them takes or gives back while the files are
// counted shows as a difference. So what is missing is added at once, and what
// is too much is only subtracted when it is seen a second time.
type Auditor struct {
	Budget  *Budget
	surplus int64 // that the audit before has seen
}

// Audit compares the account with what measure finds.
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

// Removed subtracts what was removed of a process that has ended.
func (a *Auditor) Removed(bytes int64) error {
	if a.Budget == nil {
		return nil
	}
	return a.Budget.guard(func() { a.Budget.used.Add(-bytes) })
}

// Left is how much may still be taken, and of how much in all.
func (a *Auditor) Left() (left, limit int64, err error) {
	if a.Budget == nil {
		return 0, 0, nil
	}
	err = a.Budget.guard(func() { limit = a.Budget.limit.Load(); left = limit - a.Budget.used.Load() })
	return left, limit, err
}

// guard survives a file that somebody has made shorter, which is a fault of the
// memory.
func (b *Budget) guard(do func()) (err error) {
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the account of the spool is damaged: %v", p)
		}
	}()
	do()
	return nil
}
