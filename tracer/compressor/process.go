package compressor

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// A process is a traced process of the spool.
type process struct {
	name      string
	directory *spool.Directory
	ring      *spool.Ring
	memory    atomic.Int64 // bytes of its recorder

	work   sync.Mutex    // held by who works on it; it guards what follows
	writer *spool.Writer // nil: it has not recorded enough so far
	share  int           // memory of its recorder in bytes, from the next checkpoint on
	filled uint64        // bytes of buffers that it had filled when it was worked on last
	cuts   uint64        // number of cuts whose ballots it was told
	failed time.Time     // of the last error
	over   bool          // nothing more can be done
}

// openProcess opens the directory of a process; nil if it is none, or not yet.
func openProcess(root *os.Root, name string) *process {
	d, err := spool.OpenDirectory(root, name)
	if err != nil {
		return nil
	}
	r, err := d.OpenRing()
	if err == nil {
		_, _, err = r.Read()
	}
	if err != nil {
		d.Close()
		return nil
	}
	return &process{name: name, directory: d, ring: r}
}

func (p *process) close() {
	p.over = true
	p.ring.Close()
	p.directory.Close()
}

// isDue reports whether the process has filled so much that it is worth to work on it. The caller
// holds its lock.
func (p *process) isDue() bool {
	if p.over || time.Since(p.failed) < retryInterval {
		return false
	}
	filled, cuts, err := p.ring.Read()
	least := uint64(firstBytes)
	if p.writer != nil {
		least = moreBytes
	}
	return err == nil && (filled >= p.filled+least || cuts != p.cuts)
}

// serve compresses what the process has filled.
func (p *process) serve(account *budget.Budget) (err error) {
	// somebody may make a mapped file shorter
	before := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(before)
	defer func() {
		if failed := recover(); failed != nil {
			p.over = true
			err = fmt.Errorf("the recorder failed: %v", failed)
		}
		if err != nil {
			p.failed = time.Now()
		}
	}()
	if alive, err := p.directory.Alive(); err != nil || !alive {
		p.over = err == nil
		return err
	}
	if p.writer == nil {
		if p.writer, err = p.directory.Compress(account); err != nil {
			p.writer = nil
			return err
		}
	}
	for more := true; more; {
		filled, cuts, err := p.ring.Read()
		if err != nil {
			return err
		}
		p.writer.SetMemory(p.share)
		if more, err = p.writer.Step(cuts); err != nil {
			p.over = errors.Is(err, spool.ErrStopped)
			return err
		}
		p.filled, p.cuts = filled, p.writer.Told()
		p.memory.Store(int64(p.writer.Memory()))
	}
	return nil
}
